"""The table tells what was reached against what was measured, and the file holds every comparison."""

import json
from pathlib import Path

import pytest

from tests.bench.laboratory import Laboratory
from tests.bench.programs import Figures, Missing
from tests.bench.rows import Baseline, Reach, Row, table, write

REACH = Reach(at_most=10, times=0.2, of="client-go typed")


@pytest.mark.parametrize(
    ("value", "baselines", "missed"),
    [
        (10.0, [], False),
        (10.1, [], True),
        (9.0, [Baseline("client-go typed", 45.0)], False),
        (9.1, [Baseline("client-go typed", 45.0)], True),
        (9.1, [Baseline("client-go dynamic", 45.0)], False),
    ],
)
def test_a_reach_is_missed_by_its_bound_or_by_its_ratio_to_the_named_baseline(
    value: float, baselines: list[Baseline], missed: bool
) -> None:
    assert REACH.missed(Row("sync", value, "µs", REACH, baselines)) is missed


def test_every_baseline_has_a_line_of_the_table_and_an_entry_of_the_file(tmp_path: Path) -> None:
    rows = [Row("sync", 8.0, "µs", REACH, [Baseline("a", 16.0), Baseline("b", 4.0)]), Row("idle", 70.0, "MB")]

    lines = table(rows).splitlines()
    write(rows, tmp_path / "bench.json")

    assert [line.split()[-1] for line in lines[1:]] == ["0.50", "2.00", "MB"]
    assert json.loads((tmp_path / "bench.json").read_text()) == [
        {"name": "sync", "value": 8.0, "unit": "µs", "baseline": "a", "baseline_value": 16.0},
        {"name": "sync", "value": 8.0, "unit": "µs", "baseline": "b", "baseline_value": 4.0},
        {"name": "idle", "value": 70.0, "unit": "MB", "baseline": None, "baseline_value": None},
    ]


def test_what_is_missing_is_tried_and_said_once() -> None:
    said: list[str] = []
    tried: list[int] = []
    lab = Laboratory(3, said.append)

    def measure() -> Figures:
        tried.append(1)
        raise Missing("go is not built")

    for _ in range(2):
        with pytest.raises(Missing, match="not built"):
            lab.once(("client-go",), measure)

    assert len(tried) == 1
    assert said == ["client-go: 1 of 3", "client-go: skipped: go is not built"]


def test_a_figure_is_the_median_of_its_runs() -> None:
    values = iter([5.0, 1.0, 2.0])

    found = Laboratory(3, lambda _: None).once(("ours",), lambda: {"cpu": next(values)})

    assert found == {"cpu": 2.0}
