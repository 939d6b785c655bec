"""Conditions move their time, order and fields by kcp's rules, and by metav1's where those are asked for."""

from datetime import UTC, datetime

from informers.api.conditions import (
    Condition,
    is_false,
    is_true,
    is_unknown,
    mark_false,
    mark_true,
    mark_unknown,
    set_condition,
    set_metav1,
    to_json,
)

NOON = datetime(2026, 1, 1, 12, 0, 0, 999999, tzinfo=UTC)
LATER = datetime(2026, 1, 1, 12, 0, 5, tzinfo=UTC)


def test_a_new_condition_gets_the_time_in_whole_seconds() -> None:
    found = set_condition([], mark_true("Good"), now=NOON)

    assert to_json(found) == [{"type": "Good", "status": "True", "lastTransitionTime": "2026-01-01T12:00:00Z"}]


def test_an_equal_condition_keeps_its_time() -> None:
    before = set_condition([], mark_false("Good", "Why", "because"), now=NOON)

    assert set_condition(before, mark_false("Good", "Why", "because"), now=LATER) == before


def test_a_changed_message_alone_moves_kcps_time() -> None:
    before = set_condition([], mark_false("Good", "Why", "because"), now=NOON)

    after = set_condition(before, mark_false("Good", "Why", "50% sure"), now=LATER)

    assert after[0].last_transition_time == "2026-01-01T12:00:05Z"
    assert after[0].message == "50% sure"


def test_a_changed_message_alone_leaves_metav1s_time() -> None:
    before = set_metav1([], Condition("Good", "False", reason="Why", message="a"), now=NOON)

    after = set_metav1(before, Condition("Good", "False", reason="Why", message="b"), now=LATER)

    assert after[0].last_transition_time == before[0].last_transition_time
    assert after[0].message == "b"


def test_ready_comes_first_and_the_others_by_type() -> None:
    found: list[Condition] = []
    for kind in ("b", "Zeta", "Ready", "Alpha"):
        found = set_condition(found, mark_true(kind), now=NOON)

    assert [c.type for c in found] == ["Ready", "Alpha", "Zeta", "b"]


def test_metav1_keeps_the_order_of_arrival() -> None:
    found: list[Condition] = []
    for kind in ("b", "a", "b"):
        found = set_metav1(found, mark_true(kind), now=NOON)

    assert [c.type for c in found] == ["b", "a"]


def test_absent_is_unknown_and_neither_true_nor_false() -> None:
    assert is_unknown([], "Good")
    assert not is_true([], "Good")
    assert not is_false([], "Good")
    assert is_unknown([mark_unknown("Good", "Why")], "Good")


def test_false_carries_a_severity_and_unknown_does_not() -> None:
    assert to_json([mark_false("A", "R"), mark_unknown("B", "R", "m")]) == [
        {"type": "A", "status": "False", "severity": "Error", "reason": "R"},
        {"type": "B", "status": "Unknown", "reason": "R", "message": "m"},
    ]
