"""What the benchmark says: rows with reaches and baselines, as one table and as one JSON file."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Baseline:
    """Somebody else's value for the same work in the same run."""

    name: str
    value: float


@dataclass(frozen=True)
class Reach:
    """What a row's value should reach."""

    at_most: float | None = None
    at_least: float | None = None
    times: float | None = None
    """At most so many times the value of the baseline `of`."""
    of: str = ""

    def __str__(self) -> str:
        parts = [f"≤ {self.at_most:g}"] if self.at_most is not None else []
        parts += [f"≥ {self.at_least:,.0f}"] if self.at_least is not None else []
        parts += [f"≤ {self.times:g} × {self.of}"] if self.times is not None else []
        return ", ".join(parts)

    def missed(self, row: "Row") -> bool:
        """Say whether the row falls short; a baseline that was not measured proves nothing."""
        other = next((baseline.value for baseline in row.baselines if baseline.name == self.of), None)
        return (
            (self.at_most is not None and row.value > self.at_most)
            or (self.at_least is not None and row.value < self.at_least)
            or (self.times is not None and other is not None and row.value > self.times * other)
        )


@dataclass(frozen=True)
class Row:
    """One measured figure of ours."""

    name: str
    value: float
    unit: str
    reach: Reach = Reach()
    baselines: Sequence[Baseline] = ()


_HEADINGS = ("name", "value", "unit", "reach", "", "baseline", "its value", "ratio")
_NUMBERS = (1, 6, 7)


def table(rows: Iterable[Row]) -> str:
    """Lay the rows out: one line for each, and one more for each further baseline."""
    lines = [_HEADINGS, *(line for row in rows for line in _lines(row))]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in _NUMBERS else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _lines(row: Row) -> Iterator[tuple[str, ...]]:
    reach = str(row.reach)
    verdict = ("missed" if row.reach.missed(row) else "reached") if reach else ""
    opening: tuple[str, ...] = (row.name, _number(row.value), row.unit, reach, verdict)
    for baseline in row.baselines or (None,):
        other = ("", "", "")
        if baseline is not None:
            ratio = f"{row.value / baseline.value:.2f}" if baseline.value else "-"
            other = (baseline.name, _number(baseline.value), ratio)
        yield (*opening, *other)
        opening = ("",) * len(opening)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" if value < 10 else f"{value:.1f}"


def write(rows: Iterable[Row], path: Path) -> None:
    """Write the rows as JSON, one entry for each baseline; null where there is none."""
    entries = [
        {"name": row.name, "value": row.value, "unit": row.unit}
        | {"baseline": baseline and baseline.name, "baseline_value": baseline and baseline.value}
        for row in rows
        for baseline in (row.baselines or (None,))
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(entries, indent=1) + "\n")
