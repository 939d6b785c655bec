"""A store's next content, built beside the present one, and what changes by it."""

from collections.abc import Iterator
from typing import Generic, TypeAlias, TypeVar

from informers.api.objects import Key, Object
from informers.cache.content import Content
from informers.cache.notices import Evidence, Notice

T = TypeVar("T")

Changes: TypeAlias = Iterator[Notice[T] | None]
"""Notices, and None where whoever goes through them may give others a turn."""

_STRIDE = 256  # objects that are looked at between two offers to give others a turn


class Replacement(Generic[T]):
    """What a list shows, or the initial events of a stream, until it takes the place of the old content.

    Invariant: an object that did not change is the very same one in both contents, so that a re-list costs no second
    copy of it, and identity tells what changed.
    """

    __slots__ = ("_unbroken", "absence", "content", "deleted", "old")

    def __init__(self, old: Content[T], *, unbroken: bool) -> None:
        """Begin empty. `unbroken` says whether equal revisions mean equal objects: whether history went on."""
        self.old = old
        self.content = old.empty_copy()
        self._unbroken = unbroken
        self.deleted: dict[Key, Object[T] | None] = {}
        """What went on evidence, in its last state as far as known."""
        self.absence = Evidence.ABSENT_IN_NEW_HISTORY
        """What it means for the rest that it is not there."""

    def __len__(self) -> int:
        """Count the objects so far."""
        return len(self.content.objects)

    def latest(self, key: Key) -> Object[T] | None:
        """Return the last state that was put or dropped since the beginning."""
        return self.content.objects.get(key) or (self.deleted.get(key) if self.deleted else None)

    def put(self, obj: Object[T]) -> None:
        """Take an object in; raises `IndexerFailed` and then leaves it out."""
        self.content.put(self._known_or_new(obj))

    def put_new(self, objects: list[Object[T]]) -> bool:
        """Take in objects none of which was put or dropped since the beginning; take none, and say so, if one was.

        Nearly always none was, and taking in many at once costs half. Raises as `put` does, and then takes none.
        """
        keys = {obj.key for obj in objects}
        if len(keys) < len(objects) or not (
            self.content.objects.keys().isdisjoint(keys) and self.deleted.keys().isdisjoint(keys)
        ):
            return False
        self.content.put_new([self._known_or_new(obj) for obj in objects] if self.old.objects else objects)
        return True

    def keep(self, key: Key) -> None:
        """Keep what the old content has: the object is there, but what it is now cannot be read or indexed."""
        known = self.old.objects.get(key)
        if known is not None:
            self.content.keep(known)

    def drop(self, key: Key, last: Object[T] | None) -> None:
        """Take an object out, on evidence that it went; `last` is the state it went in, as far as known."""
        self.deleted[key] = last or self.content.objects.get(key) or self.old.objects.get(key)
        self.content.drop(key)

    def _known_or_new(self, obj: Object[T]) -> Object[T]:
        known = self.old.objects.get(obj.key)
        if known is None or known.rv != obj.rv or known.uid != obj.uid:
            return obj
        return known if self._unbroken or known.raw == obj.raw else obj


def take_apart(replacement: Replacement[T], *, initial: bool) -> Changes[T]:
    """Go through what a replacement changed: deletions first, then the rest in the server's order.

    For once its content has taken the place of the old one, which is let go on the way: to free it in one step would
    hold the loop. It yields None now and then, so that whoever goes through it can give others a turn.
    """
    old, new, deleted = replacement.old.objects, replacement.content.objects, replacement.deleted
    for key, last in deleted.items():
        if key not in new:
            old.pop(key, None)
            yield Notice(last, None, key, False, Evidence.DELETED_EVENT)
    absent = []
    for number, key in enumerate(old):
        if key not in new:
            absent.append(key)
        if not number % _STRIDE:
            yield None
    for key in absent:
        yield Notice(old.pop(key), None, key, False, replacement.absence)
    yield from _arrivals(old, new, initial)
    while replacement.old.drop_index():
        yield None


def _arrivals(old: dict[Key, Object[T]], new: dict[Key, Object[T]], initial: bool) -> Changes[T]:
    """Go through what is new or other than before; empties `old`."""
    if not old:
        for key, obj in new.items():
            yield Notice(None, obj, key, initial)
        return
    for number, (key, obj) in enumerate(new.items()):
        known = old.pop(key, None)
        if known is not obj:
            yield Notice(known, obj, key, initial)
        elif not number % _STRIDE:
            yield None
