"""Kept seeds and plans hold: real processes, real faults; one test, so that they never compete for the machine."""

import asyncio
import shutil
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.chaos.kept import named_plan
from tests.chaos.runs import played, prepared

NAMES = [line for line in Path(__file__).with_name("seeds.txt").read_text().splitlines() if line[:1] not in ("", "#")]
_AT_A_TIME = 2


@pytest.mark.timeout(300)
async def test_nothing_published_is_lost_in_any_kept_seed() -> None:
    folder = Path(mkdtemp(prefix="chaos-"))  # sockets below it want a short path; it stays where a promise was broken
    beginning = await prepared(folder)
    names = iter(NAMES)
    reports: list[str] = []

    async def play() -> None:
        for name in names:
            outcome = await played(named_plan(name), beginning, silence=2.5)
            if outcome.violations:
                reports.append(f"{name}\n{outcome.report}")
            else:
                shutil.rmtree(outcome.folder)

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_A_TIME):
            group.create_task(play())

    assert not reports, "\n".join(reports)
    shutil.rmtree(folder)
