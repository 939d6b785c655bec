"""Kept seeds hold: real processes, real faults; one test, so that they never compete for the machine."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.plans import parse, plan_of
from tests.chaos.runs import played, prepared

SEEDS = [int(step.verb) for step in parse(Path(__file__).with_name("seeds.txt").read_text())]
_AT_A_TIME = 2


@pytest.mark.timeout(300)
async def test_nothing_published_is_lost_in_any_kept_seed(tmp_path: Path) -> None:
    beginning = await prepared(tmp_path)
    seeds = iter(SEEDS)
    reports: list[str] = []

    async def play() -> None:
        for seed in seeds:
            outcome = await played(plan_of(seed), beginning, silence=2.5)
            if outcome.violations:
                reports.append(f"seed {seed}\n{outcome.report}")

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_A_TIME):
            group.create_task(play())

    assert not reports, "\n".join(reports)
