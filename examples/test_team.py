"""How to test a controller: `pip install -e '.[testing]'`, then `python -m pytest examples`."""

from pathlib import Path

import pytest
from team import MEMBERS, TEAMS, team

from informers import Client
from kcpctl.testing import InProcessServer, Managers

MANIFESTS = Path(__file__).parent / "team"
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


@pytest.mark.asyncio
async def test_a_team_counts_its_members(apiserver: InProcessServer, client: Client, manager: Managers) -> None:
    *_, blue = await apiserver.apply(MANIFESTS)  # a folder; its definitions are served when this returns
    await apiserver.apply((MANIFESTS / "members.yaml.in").read_text().replace("TEAM_UID", blue.uid))

    async with manager(team) as running:
        await running.wait_quiet()  # nothing is left to be done: no sleeps, no polling

        blue = await client.get(TEAMS, "blue", namespace="default")
        assert (blue.at("status", "members"), blue.at("status", "readyMembers")) == (2, 0)

        apiserver.requests.clear()
        await client.patch(MEMBERS, "ann", READY, namespace="default", subresource="status")
        await running.wait_quiet()

        blue = await client.get(TEAMS, "blue", namespace="default")
        assert (blue.at("status", "members"), blue.at("status", "readyMembers")) == (2, 1)
        assert not blue.is_true("Ready")
        assert [write.path.rpartition("/teams/")[2] for write in apiserver.writes] == ["blue/status"]


@pytest.mark.asyncio
async def test_what_is_right_already_is_not_written(apiserver: InProcessServer, manager: Managers) -> None:
    await apiserver.apply(MANIFESTS)
    await manager.run_until_quiet(team)
    apiserver.requests.clear()

    [visit] = await manager.run_until_quiet(team)

    assert visit.outcome == "success"
    assert apiserver.writes == []
