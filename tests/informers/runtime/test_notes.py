"""Notes of writes: the latest of each object, within bounds."""

import gc

from informers.api.objects import Key
from informers.client.records import Write
from informers.runtime.notes import WriteNotes
from tests.informers.runtime.objects import TEAMS

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
