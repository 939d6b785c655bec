"""The property: whenever it is quiet, no controller writes until somebody else has written."""

import asyncio
from contextlib import suppress

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from informers import NotFound, Object
from informers.tasks import background
from kcpctl.testing import InProcessServer, Managers, serving
from tests.kcpctl.testing.witness import Witness
from tests.kcpctl.testing.worlds import CRDS, MEMBERS, counting, member, status, team

operations = st.lists(
    st.tuples(st.sampled_from(["apply", "ready", "delete", "turn", "quiet"]), st.integers(0, 2)), max_size=12
)


@given(operations)
@settings(max_examples=30, deadline=None)
def test_when_it_is_quiet_no_controller_writes_before_somebody_else_has(operations: list[tuple[str, int]]) -> None:
    asyncio.run(_witnessed(operations))


async def _witnessed(operations: list[tuple[str, int]]) -> None:
    async with serving() as served:
        _, _, blue = await served.apply([*yaml.safe_load_all(CRDS.read_text()), team()])
        async with Managers(served)(counting) as running:
            witness = Witness(running, served)
            async with background(witness.run()):
                for operation, number in operations:
                    with witness.writing():
                        await perform(served, blue, operation, number)
                    if operation == "quiet":
                        await running.wait_quiet()
                await running.wait_quiet()
                for _ in range(20):
                    await asyncio.sleep(0)

        members = await served.client.list(MEMBERS)
        assert witness.violations == []
        assert witness.quiet_moments
        assert await status(served.client) == {
            "members": len(members),
            "readyMembers": sum(one.is_true("Ready") for one in members),
        }


async def perform(served: InProcessServer, blue: Object, operation: str, number: int) -> None:
    match operation:
        case "apply" | "ready":
            await served.apply(member(f"m{number}", blue, ready=operation == "ready"))
        case "delete":
            with suppress(NotFound):
                await served.client.delete(MEMBERS, f"m{number}", namespace="default")
        case "turn":
            for _ in range(number):
                await asyncio.sleep(0)
