"""How ours differed from a recording, step by step; what stays as it was is not said again."""

from collections.abc import Sequence
from dataclasses import dataclass, field

EQUAL = "equal"
AS_LISTED = "as listed"
"""The verdict about an answer that differs only in what is listed at an earlier step, or for all steps."""
DIFFERS = "differs"


@dataclass
class Step:
    """One step of a recording, and all that was different from then on."""

    id: str
    verdict: str
    lines: list[str] = field(default_factory=list)
    answer_differs: bool = False
    """Whether the answer itself differs, be it as it did before."""

    def outcome(self, lines: Sequence[str]) -> str:
        """Return the verdict, given the lines that have to be listed at this step."""
        if self.verdict != EQUAL:
            return self.verdict
        return DIFFERS if lines else AS_LISTED if self.answer_differs else EQUAL


class Differences:
    """All steps of a recording that was played."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._said: dict[str, Sequence[str]] = {}

    def begin(self, step: str, verdict: str = EQUAL) -> None:
        """Begin the next step."""
        self.steps.append(Step(step, verdict))

    def say(self, *lines: str) -> None:
        """Say what was different in this step."""
        self.steps[-1].lines.extend(lines)

    def about(self, name: str, lines: Sequence[str], *, answered: bool = False) -> None:
        """Say how an object differs now, in an answer or else, as far as it did not differ in the same way before."""
        new = [line for line in lines if line not in self._said.get(name, ())]
        self._said[name] = lines
        self.steps[-1].answer_differs |= answered and bool(lines)
        self.say(*(f"{name} {line}" for line in new))
