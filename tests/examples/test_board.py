"""examples/board.py: each Team has its board, owned by it, whatever somebody does to that."""

from pathlib import Path

from informers import Client, Resource
from kcpctl.modules import find_controllers
from kcpctl.testing import InProcessServer, Managers

EXAMPLES = Path(__file__).parents[2] / "examples"
BOARDS = Resource("", "v1", "configmaps")


async def test_a_board_that_is_missing_is_made_and_made_again(
    apiserver: InProcessServer, client: Client, manager: Managers
) -> None:
    *_, blue = await apiserver.apply(EXAMPLES / "team")
    apiserver.requests.clear()
    async with manager(*find_controllers([str(EXAMPLES / "board.py")])) as running:
        await running.wait_quiet()
        first = await client.get(BOARDS, "blue-board", namespace="default")
        assert len(apiserver.writes) == 1

        await client.delete(BOARDS, "blue-board", namespace="default")
        await running.wait_quiet()
        second = await client.get(BOARDS, "blue-board", namespace="default")

    [owner] = second.owners
    assert (owner.kind, owner.name, owner.uid, owner.controller) == ("Team", "blue", blue.uid, True)
    assert first.uid != second.uid
