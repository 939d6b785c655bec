"""A Manager that has ended leaves nobody waiting."""

import asyncio
from typing import Any

from informers.api.objects import Object
from informers.clock import VirtualClock
from informers.runtime.cluster import Cluster
from informers.runtime.controller import controller
from informers.runtime.manager import Manager
from tests.informers.runtime.memory import MemoryServer
from tests.informers.runtime.objects import TEAMS


async def test_whoever_waits_for_idleness_does_not_wait_for_a_manager_that_has_ended(
    memory: MemoryServer, clock: VirtualClock
) -> None:
    """The cancelled visit leaves its key ready, and nobody will take it any more."""

    @controller(TEAMS)
    async def slow(obj: Object[Any], cluster: Cluster) -> None:
        await clock.sleep(60)

    memory.put("blue")
    manager = Manager(memory.server(), [slow], clock=clock)
    running = asyncio.ensure_future(manager.run(asyncio.Event()))
    await clock.advance(1)
    waiting = asyncio.ensure_future(manager.wait_idle())
    await clock.run_until_idle()
    assert not waiting.done()

    running.cancel()
    await clock.run_until_idle()

    assert waiting.done()
    await waiting
