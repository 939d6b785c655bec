"""Getting a whole state into a store's next content, object by object."""

from typing import Generic, TypeVar

from informers.api.decoding import Malformed, Page, WatchEvent
from informers.api.errors import api_error
from informers.api.objects import Key, Object
from informers.cache.applying import named
from informers.cache.index import IndexerFailed
from informers.cache.replacement import Replacement
from informers.cache.revisions import is_older
from informers.cache.slices import Slices

T = TypeVar("T")

_STRIDE = 64  # objects that are taken in at once


class Filling(Generic[T]):
    """Fills a replacement from pages or from the events of a stream.

    Invariant: an object that cannot be read or indexed is set aside with its error, and its last good state, if there
    is one, is kept: it is neither new nor absent.
    """

    __slots__ = ("_slices", "errors", "events", "replacement")

    def __init__(self, replacement: Replacement[T], slices: Slices) -> None:
        """Start with an empty replacement."""
        self.replacement = replacement
        self._slices = slices
        self.errors: dict[Key, str] = {}
        self.events = 0
        """How many events of a stream were taken."""

    async def take(self, page: Page[T]) -> None:
        """Take in one page, in slices."""
        for start in range(0, len(page.objects), _STRIDE):
            self._put_all(page.objects[start : start + _STRIDE])
            if self._slices.over():
                await self._slices.turn()
        for malformed in page.malformed:
            self._set_aside(malformed.key, malformed.error)

    async def take_events(self, batch: list[WatchEvent[T]]) -> str | None:
        """Take in events of a stream; return the revision of the state once the server has marked its end.

        Leaves the events after that mark in the batch: they belong to the watch. Raises `ApiError` for an ERROR event,
        `DecodeError` for a deletion of nobody knows what.
        """
        added = [event.object for event in batch if event.object is not None and event.type == "ADDED"]
        if len(added) == len(batch) and self._put_new(added):
            self.events += len(added)
        else:
            for position, event in enumerate(batch):
                if event.initial_events_end:
                    del batch[: position + 1]
                    return event.revision
                self._apply(event)
        if self._slices.over():
            await self._slices.turn()
        return None

    def _apply(self, event: WatchEvent[T]) -> None:
        if event.object is not None:
            self.events += 1
            self._apply_object(event.type, event.object)
        else:
            self._apply_without_object(event)

    def _apply_without_object(self, event: WatchEvent[T]) -> None:
        if event.status is not None:
            raise api_error(event.status)
        if event.malformed is not None:
            self._apply_malformed(event.type, event.malformed)

    def _apply_object(self, kind: str, obj: Object[T]) -> None:
        latest = self.replacement.latest(obj.key)
        if latest is not None and is_older(obj.rv, latest.rv):
            return  # a repeat of something that this stream has told already
        if kind == "DELETED":
            self.errors.pop(obj.key, None)
            self.replacement.drop(obj.key, obj)
        elif kind in ("ADDED", "MODIFIED"):
            self._put(obj)

    def _apply_malformed(self, kind: str, malformed: Malformed) -> None:
        if kind == "DELETED":
            key = named(malformed)
            self.errors.pop(key, None)
            self.replacement.drop(key, None)
        else:
            self._set_aside(malformed.key, malformed.error)

    def _put_all(self, objects: list[Object[T]]) -> None:
        if not self._put_new(objects):
            for obj in objects:
                self._put(obj)

    def _put_new(self, objects: list[Object[T]]) -> bool:
        """Take in what is told for the first time, if all of it is that and can be indexed; say whether it did."""
        if self.errors and not self.errors.keys().isdisjoint([obj.key for obj in objects]):
            return False
        try:
            return self.replacement.put_new(objects)
        except IndexerFailed:
            return False

    def _put(self, obj: Object[T]) -> None:
        try:
            self.replacement.put(obj)
        except IndexerFailed as failure:
            self._set_aside(obj.key, str(failure))
        else:
            if self.errors:
                self.errors.pop(obj.key, None)

    def _set_aside(self, key: Key, error: str) -> None:
        self.errors[key] = error
        if self.replacement.latest(key) is None:
            self.replacement.keep(key)
