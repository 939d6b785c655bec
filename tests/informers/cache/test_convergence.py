"""Whatever goes wrong, and in whatever order: once it stops, store, handlers and server agree."""

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from informers.cache.policy import Policy
from informers.clock import VirtualClock
from tests.informers.cache.rig import Rig
from tests.informers.cache.scripted import Server
from tests.informers.cache.storm import Storm, steps


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, min_size=12, max_size=60), st.booleans())
def test_a_reflector_converges_after_any_mix_of_faults(storm: list[Any], streaming: bool) -> None:
    """The store equals the server, what handlers were told adds up to the store, and the watch lives."""

    async def scenario() -> None:
        server = Server(VirtualClock(), revision=100_000)
        server.put("a")
        rig = Rig(server, Policy(stream=streaming, slice=0.0))
        async with rig.running(synced=False):
            weather = Storm(server, rig)
            await rig.clock.advance(4.0)
            for what, argument, pause in storm:
                what(weather, argument)
                if pause is not None:
                    await rig.clock.advance(pause)
            await weather.pass_by()

            rig.assert_converged()
            assert rig.informer.live
            assert rig.informer.last_error is None
            assert [key for key in rig.informer.quarantined if key.name] == []
            assert server.most_streams <= 1
            assert len(server.asked) < 6 * len(storm) + rig.clock.monotonic() / 2 + 30
        assert server.open_streams == []

    asyncio.run(scenario())
