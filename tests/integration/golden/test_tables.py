"""Tables notice every difference that is not listed, and every one that is listed and not met."""

from collections import Counter
from pathlib import Path

import pytest

from tests.integration.golden.differences import Differences
from tests.integration.golden.scenarios import SCENARIOS
from tests.integration.golden.tables import FOLDER, read

DOCUMENT = Path(__file__).parents[3] / "docs" / "kcp.md"
TEXT = """
everywhere: slice * status.selector: missing *  [selector]

create = differs
    slice a/b status.endpoints: missing "amber"  [bindings]
bind = not played [bindings]
get = as listed
"""


def played() -> Differences:
    """Return what was played, just as it is listed."""
    found = Differences()
    found.begin("create")
    found.about("slice a/b", ['status.endpoints: missing "amber"', "status.selector: missing x"], answered=True)
    found.begin("bind", "not played [bindings]")
    found.begin("get")
    found.about("slice a/b", ['status.endpoints: missing "amber"'], answered=True)
    return found


def test_what_is_as_listed_has_no_problems() -> None:
    assert list(read(TEXT).problems(played().steps)) == []


def test_a_difference_that_is_not_listed_is_a_problem_and_changes_the_verdict() -> None:
    found = played()
    found.about("slice a/c", ["is missing"], answered=True)

    assert list(read(TEXT).problems(found.steps)) == [
        "get: not listed: slice a/c is missing",
        "get: expected 'as listed', found 'differs'",
    ]


def test_a_difference_is_told_again_when_it_has_changed() -> None:
    found = played()
    found.about("slice a/b", ['status.endpoints: missing "beryl"'])
    found.about("slice a/b", ['status.endpoints: missing "amber"'])

    assert found.steps[-1].lines == [
        'slice a/b status.endpoints: missing "beryl"',
        'slice a/b status.endpoints: missing "amber"',
    ]


@pytest.mark.parametrize(
    ("without", "problem"),
    [
        ("status.endpoints", 'create: not met any more: slice a/b status.endpoints: missing "amber"'),
        ("status.selector", "met nowhere: slice * status.selector: missing *"),
    ],
)
def test_what_is_listed_and_not_met_any_more_is_a_problem(without: str, problem: str) -> None:
    found = played()
    found.steps[0].lines = [line for line in found.steps[0].lines if without not in line]

    assert problem in list(read(TEXT).problems(found.steps))


def test_a_step_that_is_not_listed_is_a_problem() -> None:
    found = played()
    found.begin("delete")

    assert list(read(TEXT).problems(found.steps)) == [
        "expected the steps ['create', 'bind', 'get'], found ['create', 'bind', 'get', 'delete']"
    ]


def test_a_difference_without_a_reason_cannot_be_listed() -> None:
    with pytest.raises(AssertionError, match="name of its reason"):
        read("create = differs\n    slice a/b is missing\n")


def test_every_reason_is_explained_and_every_explanation_is_needed() -> None:
    given = {reason for name in SCENARIOS for reason in read((FOLDER / f"{name}.txt").read_text("utf-8")).reasons}
    rows = [line.split("|")[1].strip() for line in DOCUMENT.read_text("utf-8").splitlines() if line.startswith("| `")]

    assert sorted(row.strip("`") for row in rows) == sorted(given)


def test_the_document_counts_the_steps_as_the_tables_do() -> None:
    lines = DOCUMENT.read_text("utf-8").splitlines()

    for name in SCENARIOS:
        found = Counter(
            step.outcome.partition(" [")[0] for step in read((FOLDER / f"{name}.txt").read_text("utf-8")).steps
        )
        cells = (name, *(str(found[outcome]) for outcome in ("equal", "as listed", "differs", "not played")))
        assert f"| {' | '.join(cells)} |" in lines
