"""examples/team.py: what the comments of its manifests tell users to do works, and in the end nothing is written."""

from pathlib import Path
from typing import Any

from informers import Client, Resource
from kcpctl.modules import find_controllers
from kcpctl.testing import InProcessServer, Managers

EXAMPLES = Path(__file__).parents[2] / "examples"
TEAMS = Resource("example.com", "v1", "teams", kind="Team")
MEMBERS = Resource("example.com", "v1", "members", kind="Member")
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


async def with_team(apiserver: InProcessServer) -> None:
    """Do what the comments in examples/team say."""
    *_, blue = await apiserver.apply(EXAMPLES / "team")
    await apiserver.apply((EXAMPLES / "team/members.yaml.in").read_text().replace("TEAM_UID", blue.uid))
    await apiserver.client.patch(MEMBERS, "ann", READY, namespace="default", subresource="status")


async def status(client: Client) -> Any:
    """Return the members, those that are ready, and whether all of them are."""
    blue = await client.get(TEAMS, "blue", namespace="default")
    return blue.at("status", "members"), blue.at("status", "readyMembers"), blue.is_true("Ready")


async def test_a_teams_members_are_counted_by_one_write_and_the_steady_state_has_none(
    apiserver: InProcessServer, client: Client, manager: Managers
) -> None:
    await with_team(apiserver)
    controllers = find_controllers([str(EXAMPLES / "team.py")])

    await manager.run_until_quiet(*controllers)
    assert await status(client) == (2, 1, False)
    assert [seen.path for seen in apiserver.writes] == ["/apis/example.com/v1/namespaces/default/teams/blue/status"]

    apiserver.requests.clear()
    async with manager(*controllers) as running:
        await running.wait_quiet()
        for _ in range(3):  # their own echoes, and changes that change nothing here
            await client.patch(MEMBERS, "bob", {"metadata": {"labels": {"seen": "yes"}}}, namespace="default")
            await running.wait_quiet()
    assert apiserver.writes == []


async def test_changes_of_members_are_followed(apiserver: InProcessServer, client: Client, manager: Managers) -> None:
    await with_team(apiserver)
    async with manager(*find_controllers([str(EXAMPLES / "team.py")])) as running:
        await running.wait_quiet()

        await client.patch(MEMBERS, "bob", READY, namespace="default", subresource="status")
        await running.wait_quiet()
        assert await status(client) == (2, 2, True)

        await client.delete(MEMBERS, "ann", namespace="default")
        await running.wait_quiet()
        assert await status(client) == (1, 1, True)
