"""One run of one plan: its processes, its end, and what is said of it when a promise was broken."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import aiohttp

from tests.chaos import operators
from tests.chaos.api import Refused
from tests.chaos.invariants import Violation
from tests.chaos.plans import Plan, Step
from tests.chaos.processes import Died
from tests.chaos.recorder import Seen
from tests.chaos.site import Beginning, Site, running
from tests.chaos.stage import Stage

_AROUND = 6
"""How many states of a slice's history are shown on either side."""


class Outcome(NamedTuple):
    """What became of a plan."""

    violations: list[Violation]
    report: str
    """The plan with times, the first violation, and the slice's history around it; "" when all went well."""
    seconds: float
    folder: Path
    """Where the processes' logs and data are; whoever asked removes them."""


async def prepared(folder: Path) -> Beginning:
    """Make in that folder what plans begin with: shards with exports and slices, all calm."""
    async with running(folder / "first") as site:
        stage = Stage(site, {})
        found = await stage.begin()
        assert not found, f"expected a beginning without faults to go well, found {found}"
        return await site.leave(folder)


async def played(plan: Plan, beginning: Beginning, *, silence: float) -> Outcome:
    """Play a plan, and judge it; `silence` is for how many seconds nobody may write at the end."""
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    times: list[tuple[float, Step]] = []
    async with running(folder, beginning) as site:
        stage = Stage(site, await operators.built())
        try:
            found = await _judged(stage, plan, times, silence)
        finally:
            await stage.aclose()
    report = "\n".join(_report(site, plan, times, found, folder)) if found else ""
    return Outcome(found, report, time.monotonic() - began, folder)


async def _judged(stage: Stage, plan: Plan, times: list[tuple[float, Step]], silence: float) -> list[Violation]:
    try:
        if found := await stage.settle():
            return found
        for step in plan:
            times.append((time.monotonic(), step))
            if found := await stage.play(step):
                return found
        times.append((time.monotonic(), Step("calm")))
        return await stage.settle() or await stage.be_silent(silence)
    except (Refused, Died, aiohttp.ClientError, TimeoutError) as error:
        return [Violation(time.monotonic(), f"what should be possible was not: {type(error).__name__} {error}")]


def _report(
    site: Site, plan: Plan, times: list[tuple[float, Step]], found: list[Violation], folder: Path
) -> Iterator[str]:
    start = times[0][0] if times else found[0].at
    yield "plan:"
    yield from (f"  {step}  # at {at - start:.3f}" for at, step in times)
    yield from (f"  {step}  # not reached" for step in plan[len(times) :])
    first, *others = found
    yield f"broken at {first.at - start:.3f}: {first.promise}"
    if first.place is not None:
        yield f"history of {first.home}:{'|'.join(first.place)}:"
        yield from _history(site.recorders[first.home].histories[first.place], first.at, start)
    yield from (f"and at {one.at - start:.3f}: {one.promise}" for one in others[:20])
    yield f"logs and data of the processes: {folder}"


def _history(history: list[Seen], at: float, start: float) -> Iterator[str]:
    middle = next((i for i, seen in enumerate(history) if seen.at >= at), len(history))
    for seen in history[max(0, middle - _AROUND) : middle + _AROUND]:
        mark = ">" if seen.at == at else " "
        yield f" {mark} {seen.at - start:9.3f} {seen.how} {seen.revision} {', '.join(sorted(seen.urls)) or 'nothing'}"
