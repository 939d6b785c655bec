"""Promises of applying events that a whole server would be too much for."""

from typing import Any

import pytest

from informers.api.errors import ApiError, DecodeError
from informers.api.objects import Object
from informers.api.resources import Collection, Resource
from informers.cache.applying import Applier
from informers.cache.facts import Origin
from informers.cache.handlers import Handlers
from informers.cache.notices import Notice
from informers.cache.quarantine import Quarantine
from informers.cache.store import Store
from tests.informers.cache.making import READER, body, key
from tests.informers.cache.scripted import bookmark_line, event_line, status_line


def by_size(obj: Object[Any]) -> tuple[str, ...]:
    """Index by a size; raises for one that is no text."""
    size = obj.at("spec", "size", default="")
    return (size + "",)


class World:
    """A store with an index, and what was told of it."""

    def __init__(self, revision: str) -> None:
        self.store: Store[Any] = Store({"size": by_size})
        self.store.revision = revision
        self.notices: list[Notice[Any]] = []
        self.quarantine = Quarantine(lambda _key, _error: None, lambda _key: None)
        origin = Origin("", Collection(Resource("", "v1", "things")))
        self.handlers: Handlers[Any] = Handlers(self.store, origin, lambda _fact: None)
        self.handlers.add(self.notices.append)
        self.applier: Applier[Any] = Applier(self.store, self.quarantine, self.handlers)

    def apply(self, *lines: bytes) -> None:
        """Apply what came in one piece."""
        self.applier.apply([READER.event(line) for line in lines])

    @property
    def names(self) -> list[str]:
        return sorted(obj.name for obj in self.store)


def test_a_watch_from_nowhere_begins_with_the_state_in_no_order() -> None:
    """It has no revision until something changes: what is older than what came first is no repeat."""
    world = World(revision="")
    world.apply(*(event_line("ADDED", body(name, rv=rv)) for name, rv in (("a", 9), ("b", 3), ("c", 7))))
    assert world.names == ["a", "b", "c"]
    assert world.store.revision == ""

    world.apply(event_line("MODIFIED", body("b", rv=12)))

    assert world.store.revision == "12"


def test_objects_of_a_server_without_revisions_are_applied_as_they_come() -> None:
    world = World(revision="")
    world.apply(*(event_line("MODIFIED", body("a", rv="", spec={"size": size})) for size in "12"))

    found = world.store.get(key("a"))
    assert found is not None
    assert found.at("spec", "size") == "2"


def test_revisions_that_are_no_numbers_are_taken_in_the_order_they_come() -> None:
    world = World(revision="opaque-b")
    world.apply(event_line("MODIFIED", body("a", rv="opaque-a")), bookmark_line(7))

    assert world.names == ["a"]
    assert world.store.revision == "7"


def test_a_deletion_that_an_older_state_of_its_object_follows_stays() -> None:
    """Also when the server names no revision of the deletion itself."""
    world = World(revision="5")
    world.apply(
        event_line("ADDED", body("a", rv=6)),
        event_line("DELETED", body("a", rv=6)),
        event_line("MODIFIED", body("a", rv=6)),
    )

    assert world.names == []


def test_a_deletion_of_an_object_that_was_made_anew_is_a_repeat() -> None:
    world = World(revision="5")
    world.apply(
        event_line("DELETED", body("a", rv=6, uid="first")),
        event_line("ADDED", body("a", rv=7, uid="second")),
        event_line("DELETED", body("a", rv=6, uid="first")),
    )

    assert world.names == ["a"]
    assert world.applier.repeats == 1


def test_what_left_the_selection_and_came_back_does_not_leave_by_a_repeat() -> None:
    """The same object goes out of a selector and into it again: the uid does not tell, the revision does."""
    world = World(revision="5")
    world.apply(
        event_line("ADDED", body("a", rv=6)),
        event_line("DELETED", body("a", rv=7)),
        event_line("ADDED", body("a", rv=8)),
        event_line("DELETED", body("a", rv=7)),
    )

    assert world.names == ["a"]


def test_a_repeat_of_a_malformed_object_does_not_set_the_healthy_one_aside() -> None:
    world = World(revision="5")
    malformed = b'{"metadata":{"name":"a","labels":5,"resourceVersion":"6"}}'
    world.apply(event_line("ADDED", malformed), event_line("MODIFIED", body("a", rv=7)))
    assert world.quarantine.errors == {}

    world.apply(event_line("ADDED", malformed), event_line("DELETED", malformed))

    assert world.names == ["a"]
    assert world.quarantine.errors == {}


def test_a_deletion_that_names_nobody_is_refused() -> None:
    with pytest.raises(DecodeError, match="expected a DELETED event to name its object"):
        World(revision="5").apply(event_line("DELETED", b'{"metadata":{}}'))


# What comes in one piece


def test_an_object_that_cannot_be_indexed_costs_none_that_came_with_it() -> None:
    """It is set aside until it can be, and the store has reached its revision all the same."""
    world = World(revision="5")
    broken = event_line("ADDED", body("b", rv=7, spec={"size": 7}))
    world.apply(event_line("ADDED", body("a", rv=6)), broken, event_line("ADDED", body("c", rv=8)), broken)

    assert world.names == [notice.key.name for notice in world.notices] == ["a", "c"]
    assert list(world.quarantine.errors) == [key("b")]
    assert (world.store.revision, world.applier.repeats) == ("8", 1)

    world.apply(broken.replace(b'"7"', b'"9"'))

    assert world.store.revision == "9"


def test_an_object_that_is_whole_again_within_the_piece_that_broke_it_is_not_set_aside() -> None:
    world = World(revision="5")
    world.apply(*(event_line("MODIFIED", body("a", rv=rv, spec={"size": size})) for rv, size in ((6, 6), (7, "7"))))

    assert world.quarantine.errors == {}
    assert [obj.rv for obj in world.store.by_index("size", "7")] == ["7"]


def test_who_comes_in_the_middle_of_a_piece_hears_the_rest_of_it_and_who_goes_does_not() -> None:
    world = World(revision="5")
    told: list[str] = []

    def first(notice: Notice[Any]) -> None:
        told.append(f"first {notice.key.name}")
        if notice.key.name == "a":
            world.handlers.add(lambda notice: told.append(f"second {notice.key.name}"))
        if notice.key.name == "c":
            registration.remove()

    [alone] = world.handlers
    alone.remove()
    registration = world.handlers.add(first)
    world.apply(*(event_line("ADDED", body(name, rv=rv)) for rv, name in enumerate("abcd", 6)))

    assert told == ["first a", "first b", "second b", "first c", "second c", "second d"]


def test_a_handler_that_raises_for_one_is_told_of_the_others_that_came_with_it() -> None:
    world = World(revision="5")
    told: list[str] = []

    def picky(notice: Notice[Any]) -> None:
        if notice.key.name == "b":
            raise ValueError(notice.key.name)
        told.append(notice.key.name)

    [alone] = world.handlers
    alone.remove()
    registration = world.handlers.add(picky)
    world.apply(*(event_line("ADDED", body(name, rv=rv)) for rv, name in enumerate("abc", 6)))

    assert told == ["a", "c"]
    assert world.names == ["a", "b", "c"]
    assert list(registration.quarantined) == [key("b")]


def test_what_came_before_an_error_is_applied_and_what_came_after_it_is_not() -> None:
    world = World(revision="5")
    lines = (event_line("ADDED", body("a", rv=6)), status_line(410), event_line("ADDED", body("b", rv=7)))

    with pytest.raises(ApiError):
        world.apply(*lines)

    assert world.names == ["a"]
    assert world.store.revision == "6"
