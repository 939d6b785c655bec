"""Notes of writes: the latest of each object, within bounds."""

import gc
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api.objects import Key, Object
from informers.cache.notices import Notice
from informers.client.records import Write
from informers.runtime.notes import WriteNotes
from tests.informers.runtime.objects import TEAMS, made

A, B, C = Key(name="a"), Key(name="b"), Key(name="c")


def write(name: str, rv: int) -> Write:
    return Write(TEAMS, Key("", "", "", name), str(rv), "", "patch")


def test_only_the_latest_write_of_each_object_counts() -> None:
    notes = WriteNotes()
    notes.keep(A, [write("x", 1), write("y", 2), write("x", 3)])

    assert [note.rv for note in notes.of(A)] == ["2", "3"]


def test_a_later_visit_replaces_what_an_earlier_one_wrote_but_only_if_it_writes() -> None:
    notes = WriteNotes()
    notes.keep(A, [write("x", 1)])
    notes.keep(A, [])
    assert [note.rv for note in notes.of(A)] == ["1"]

    notes.keep(A, [write("y", 2)])
    assert [note.rv for note in notes.of(A)] == ["2"]


def test_memory_is_bounded_and_what_gives_way_is_counted() -> None:
    notes = WriteNotes(keys=2, per_key=2)
    notes.keep(A, [write("x", 1), write("y", 2), write("z", 3)])
    notes.keep(B, [write("x", 4)])
    notes.keep(A, [write("x", 5)])
    notes.keep(C, [write("x", 6)])

    assert notes.of(B) == (), "the key that wrote longest ago gives way"
    assert [note.rv for note in notes.of(A)] == ["5"]
    seen = notes.statistics()
    assert (seen.writes, seen.keys, seen.forgotten) == (6, 2, 2)


def test_thousands_of_notes_leave_a_garbage_collection_nothing_to_walk() -> None:
    notes = WriteNotes()
    notes.keep(A, [write("x", 1), write("y", 2)])

    gc.collect()

    assert not gc.is_tracked(notes.of(A))
    assert not any(map(gc.is_tracked, notes.of(A)))


def state(rv: int, size: int = 0, uid: str = "u") -> Object[Any]:
    return made(metadata={"resourceVersion": str(rv), "uid": uid}, spec={"size": size})


def change(old: Object[Any] | None, new: Object[Any] | None) -> Notice[Any]:
    there = new or old
    assert there is not None
    return Notice(old, new, there.key)


@pytest.mark.parametrize(
    ("notice", "is_own"),
    [
        (change(state(1), state(2, 7)), True),
        (change(state(1), msgspec.structs.replace(state(2, 7), raw=state(2, 7).raw + b"\n")), True),
        (change(state(1), state(2, 8)), False),  # another history, in which that revision was another write
        (change(state(1), state(3, 7)), False),
        (change(state(0), state(2, 7)), False),  # a list that jumped over what somebody else wrote in between
        (change(state(1, uid="v"), state(2, 7)), False),
        (change(None, state(2, 7)), False),
        (change(state(2, 7), None), False),
    ],
)
def test_an_event_is_recognised_only_if_it_is_the_whole_change_and_nothing_but_the_own_write(
    notice: Notice[Any], is_own: bool
) -> None:
    notes = WriteNotes()
    notes.expect(state(1), state(2, 7))

    assert notes.recognises(notice) is is_own
    assert not notes.recognises(change(state(1), state(2, 7))), "it is expected once, and next"


def test_who_visits_an_object_before_the_event_has_come_is_woken_by_it() -> None:
    notes = WriteNotes()
    notes.expect(state(1), state(2, 7))
    notes.expect_nothing(state(1).key)

    assert not notes.recognises(change(state(1), state(2, 7)))


def test_a_write_that_changed_nothing_has_no_event_to_be_expected() -> None:
    notes = WriteNotes()
    notes.expect(state(1), state(1))

    assert not notes.recognises(change(state(1), state(1)))


def test_no_more_events_are_expected_than_keys_are_kept() -> None:
    notes = WriteNotes(keys=1)
    for name in ("a", "b"):
        notes.expect(made(name), made(name, metadata={"resourceVersion": "2"}))

    own = [notes.recognises(change(made(name), made(name, metadata={"resourceVersion": "2"}))) for name in ("a", "b")]
    assert own == [True, False], "the other one costs a visit"


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2), st.booleans(), st.booleans()), max_size=16))
def test_whoever_else_writes_is_heard_of_whatever_is_merged_on_the_way(
    steps: list[tuple[bool, int, bool, bool]],
) -> None:
    """Each step is a write, ours or another's; then the store may learn of all, and handlers of what the store has."""
    notes = WriteNotes()
    told = known = server = state(1)
    foreign = 1
    for rv, (is_ours, size, learns, tells) in enumerate(steps, start=2):
        new = state(rv, size)
        if is_ours and known is server:  # a commit holds for what is known only
            notes.expect(server, new)
        else:
            foreign = rv
        server = new
        known = server if learns else known
        if tells and known is not told:
            is_own = notes.recognises(change(told, known))
            assert not (is_own and int(told.rv) < foreign <= int(known.rv))
            told = known
