"""Recorded scenarios of a real kcp, played on our shards: each step as listed in `tables`, and nothing is lost."""

import pytest

from tests.golden import golden_dir
from tests.integration.golden.player import Player
from tests.integration.golden.scenarios import SCENARIOS
from tests.integration.golden.stage import stage
from tests.integration.golden.tables import FOLDER, read
from tests.integration.site import Site

NOTHING_GOES = ("b-shard-object-reregistered", "d-replication", "e-faults")
"""Scenarios in which no shard, export or partition goes that a slice is about."""


@pytest.fixture(autouse=True)
def recordings() -> None:
    golden_dir()


@pytest.mark.parametrize("name", SCENARIOS)
async def test_every_step_is_answered_as_listed_and_every_difference_has_its_reason(site: Site, name: str) -> None:
    table = read((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
    async with stage(site) as ours:
        await SCENARIOS[name](ours)

        found = await Player(ours, name).play()

    assert list(table.problems(found.steps)) == []


@pytest.mark.parametrize("name", NOTHING_GOES)
async def test_no_url_goes_at_any_moment_while_all_that_it_is_about_is_there(site: Site, name: str) -> None:
    async with stage(site) as ours:
        await SCENARIOS[name](ours)
        assert site.history

        await Player(ours, name).play()

    assert site.losses() == []
