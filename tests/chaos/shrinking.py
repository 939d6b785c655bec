"""Smaller plans that still fail: steps are dropped for as long as the same promise breaks."""

import re
import shutil

from tests.chaos.invariants import Violation
from tests.chaos.plans import Step
from tests.chaos.runs import Outcome, played
from tests.chaos.site import Beginning


async def shrunk(plan: list[Step], outcome: Outcome, beginning: Beginning, *, silence: float) -> list[Step]:
    """Return a plan without the steps that the failure does not need; each try plays it whole."""
    kind, size = _kind(outcome.violations), max(1, len(plan) // 2)
    while size:
        at = 0
        while at < len(plan):
            fewer = plan[:at] + plan[at + size :]
            tried = await played(fewer, beginning, silence=silence)
            shutil.rmtree(tried.folder)
            if tried.violations and _kind(tried.violations) == kind:
                plan = fewer
            else:
                at += size
        size //= 2
    return plan


def _kind(violations: list[Violation]) -> str:
    """Return what kind of promise broke first: its words, without names and numbers."""
    words = r"\b(?:disappeared|calm|lacks|lists|written|goes|gone|missing|work)\b"
    return " ".join(re.findall(words, violations[0].promise))
