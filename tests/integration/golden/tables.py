"""The tables of what differs: one line for each step and for each difference, with the name of its reason.

    everywhere: export * spec.identity: missing *  [identity]

    B.export = differs
        slice prov/things status.endpoints: unexpected "…"  [bindings]

A difference stands at the step where it begins. What is met again and again stands at the top, once, with `*` for
anything.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.integration.golden.differences import Step

FOLDER = Path(__file__).with_name("tables")
_EVERYWHERE = "everywhere: "
_WITH_REASON = re.compile(r"(?P<text>.+?) +\[(?P<reason>[a-z-]+)\]")


@dataclass
class Listed:
    """One step as it is listed."""

    id: str
    outcome: str
    differences: dict[str, str] = field(default_factory=dict)
    """The name of the reason by the difference."""


@dataclass
class Table:
    """What is expected of one recording."""

    everywhere: dict[str, str] = field(default_factory=dict)
    """The name of the reason by the pattern."""
    steps: list[Listed] = field(default_factory=list)

    @property
    def reasons(self) -> set[str]:
        """Return the names of all reasons that are given."""
        why = {reason for step in self.steps for reason in step.differences.values()}
        not_played = {found["reason"] for step in self.steps if (found := _WITH_REASON.fullmatch(step.outcome))}
        return why | not_played | set(self.everywhere.values())

    def problems(self, found: Sequence[Step]) -> Iterator[str]:
        """Yield in what a recording that was played is not as listed."""
        unused = dict(self.everywhere)
        here = [listed.id for listed in self.steps]
        there = [step.id for step in found]
        if here != there:
            yield f"expected the steps {here}, found {there}"
        for listed, step in zip(self.steps, found, strict=False):
            lines = []
            for line in dict.fromkeys(step.lines):
                met = [pattern for pattern in self.everywhere if _matches(pattern, line)]
                for pattern in met:
                    unused.pop(pattern, None)
                if not met:
                    lines.append(line)
            yield from (f"{step.id}: not listed: {line}" for line in lines if line not in listed.differences)
            yield from (f"{step.id}: not met any more: {line}" for line in listed.differences if line not in lines)
            outcome = step.outcome(lines)
            if outcome != listed.outcome:
                yield f"{step.id}: expected {listed.outcome!r}, found {outcome!r}"
        yield from (f"met nowhere: {pattern}" for pattern in unused)


def read(text: str) -> Table:
    """Return the table that a text holds."""
    table = Table()
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith((_EVERYWHERE, " ")):
            found = _WITH_REASON.fullmatch(line.removeprefix(_EVERYWHERE).strip())
            assert found, f"expected a difference with the name of its reason in brackets, found {line!r}"
            listed = table.everywhere if line.startswith(_EVERYWHERE) else table.steps[-1].differences
            listed[found["text"]] = found["reason"]
        else:
            step, _, outcome = line.rpartition(" = ")
            table.steps.append(Listed(step, outcome))
    return table


def _matches(pattern: str, line: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), line) is not None
