"""A store's next content, built beside the present one, and what changes by it."""

from collections.abc import Iterator
from typing import Generic, TypeVar

from informers.api.objects import Key, Object
from informers.cache.content import Content
from informers.cache.notices import Evidence, Notice

T = TypeVar("T")


class Replacement(Generic[T]):
    """What a list shows, or the initial events of a stream, until it takes the place of the old content.

    Invariant: an object that did not change is the very same one in both contents, so that a re-list costs no second
    copy of it, and identity tells what changed.
    """

    __slots__ = ("_deleted", "_unbroken", "content", "old")

    def __init__(self, old: Content[T], *, unbroken: bool) -> None:
        """Begin empty. `unbroken` says whether equal revisions mean equal objects: whether history went on."""
        self.old = old
        self.content = old.empty_copy()
        self._unbroken = unbroken
        self._deleted: dict[Key, Object[T] | None] = {}

    def __len__(self) -> int:
        """Count the objects so far."""
        return len(self.content.objects)

    def latest(self, key: Key) -> Object[T] | None:
        """Return the last state that was put or dropped since the beginning."""
        return self.content.objects.get(key) or self._deleted.get(key)

    def put(self, obj: Object[T]) -> None:
        """Take an object in; raises `IndexerFailed` and then leaves it out."""
        known = self.old.objects.get(obj.key)
        self.content.put(known if known is not None and self._is_same(known, obj) else obj)

    def keep(self, key: Key) -> None:
        """Keep what the old content has: the object is there, but what it is now cannot be read or indexed."""
        known = self.old.objects.get(key)
        if known is not None:
            self.content.keep(known)

    def drop(self, key: Key, last: Object[T] | None) -> None:
        """Take an object out, on evidence that it went; `last` is the state it went in, as far as known."""
        self._deleted[key] = last or self.content.objects.get(key) or self.old.objects.get(key)
        self.content.drop(key)

    def changes(self, *, initial: bool) -> Iterator[Notice[T]]:
        """Go through what is different from the old content: deletions first, then the rest in the server's order."""
        old, new = self.old.objects, self.content.objects
        for key, last in self._deleted.items():
            if key not in new:
                yield Notice(last, None, key, False, Evidence.DELETED_EVENT)
        for key, last in old.items():
            if key not in new and key not in self._deleted:
                yield Notice(last, None, key, False, Evidence.ABSENT_FROM_LIST)
        for key, obj in new.items():
            known = old.get(key)
            if known is not obj:
                yield Notice(known, obj, key, initial)

    def _is_same(self, known: Object[T], obj: Object[T]) -> bool:
        return known.rv == obj.rv and known.uid == obj.uid and (self._unbroken or known.raw == obj.raw)
