"""The examples run, against the real API server in this process."""

import runpy
from typing import Any

import pytest

from informers import Manager
from kcpctl.modules import find_controllers
from tests.informers.runtime.apiserver import EXAMPLES, MEMBERS, TEAMS, Serving, manifests, serving


async def with_team(served: Serving) -> None:
    """Do what the comments of the manifests tell users to do."""
    [blue] = manifests("team/team.yaml")
    made = await served.client.create(TEAMS, blue, namespace="default")
    for member in manifests("team/members.yaml.in", TEAM_UID=made.uid):
        await served.client.create(MEMBERS, member, namespace="default")
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    await served.client.patch(MEMBERS, "ann", ready, namespace="default", subresource="status")


async def status(served: Serving) -> Any:
    return (await served.client.get(TEAMS, "blue", namespace="default")).at("status")


async def test_a_teams_members_are_counted_and_the_steady_state_writes_nothing() -> None:
    async with serving() as served:
        await with_team(served)
        controllers = find_controllers([str(EXAMPLES / "team.py")])
        before = len(served.writes)

        for _ in range(2):
            async with served.server() as server, Manager(server, controllers) as manager:
                await manager.wait_synced()
                await manager.wait_idle()

        assert await status(served) == {"members": 2, "readyMembers": 1}
        assert served.writes[before:] == [
            ("PATCH", "/apis/example.com/v1/namespaces/default/teams/blue/status", 200)
        ], "a second run finds nothing to do"


async def test_a_program_with_a_manager_in_it_ends_by_itself() -> None:
    async with serving() as served:
        await with_team(served)

        program = runpy.run_path(str(EXAMPLES / "embed.py"))["program"]
        assert await program(served.server()) == ["blue"]

        greeted = await served.client.get(TEAMS, "blue", namespace="default")
        assert greeted.annotations["example.com/greeting"] == "Hello, blue!"


@pytest.mark.parametrize("name", ["team.py", "embed.py"])
def test_examples_are_short(name: str) -> None:
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) < 40
