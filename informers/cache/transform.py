"""Changing objects before they are kept, such as dropping fields that nobody reads."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeAlias, TypeVar

import msgspec

from informers.api.decoding import Malformed, Page, Reader, WatchEvent
from informers.api.histories import Lineage
from informers.api.objects import Object
from informers.cache.slices import Slices
from informers.cache.source import Batches, Source

T = TypeVar("T")

Transform: TypeAlias = Callable[[bytes], bytes]
"""From an object's JSON to the JSON to keep; name, cluster, uid and resourceVersion must stay.

Runs once for each object that arrives. What it raises quarantines the object.
"""


class Transformed(Generic[T]):
    """A source whose objects go through a transform as soon as they arrive."""

    def __init__(self, source: Source[T], transform: Transform, reader: Reader[T]) -> None:
        """Read what `transform` returns with `reader`."""
        self._source = source
        self._transform = transform
        self._reader = reader

    async def list_page(self, *, limit: int = 0, continue_: str = "", rv: str = "") -> Page[T]:
        """Return one page, its objects transformed in slices."""
        slices = Slices()
        page = await self._source.list_page(limit=limit, continue_=continue_, rv=rv)
        objects: list[Object[T]] = []
        malformed = list(page.malformed)
        for obj in page.objects:
            new = self._change(obj)
            if isinstance(new, Malformed):
                malformed.append(new)
            else:
                objects.append(new)
            if slices.over():
                await slices.turn()
        return msgspec.structs.replace(page, objects=objects, malformed=malformed)

    @property
    def lineage(self) -> Lineage:
        """What the latest good answer said of its store."""
        return self._source.lineage

    async def exact_page(self, *, rv: str, limit: int, continue_: str = "") -> Page[T]:
        """Return one page as it comes: a transform leaves alone what this is asked for."""
        return await self._source.exact_page(rv=rv, limit=limit, continue_=continue_)

    @asynccontextmanager
    async def watch_batches(
        self, *, rv: str, timeout: float, initial_events: bool = False
    ) -> AsyncIterator[Batches[T]]:
        """Watch from a revision; the objects of the events are transformed."""
        async with self._source.watch_batches(rv=rv, timeout=timeout, initial_events=initial_events) as batches:
            yield _Changed(batches, self._change_event)

    def _change_event(self, event: WatchEvent[T]) -> WatchEvent[T]:
        if event.object is None:
            return event
        new = self._change(event.object)
        if isinstance(new, Malformed):
            return WatchEvent(event.type, malformed=new)
        return WatchEvent(event.type, new, event.revision)

    def _change(self, obj: Object[T]) -> Object[T] | Malformed:
        try:
            new = self._reader.object(self._transform(obj.raw))
        except Exception as error:  # noqa: BLE001 — the transform is the user's
            return Malformed(obj.key, f"transform: {type(error).__name__}: {error}", obj.raw)
        if (new.key, new.uid, new.rv) != (obj.key, obj.uid, obj.rv):
            return Malformed(obj.key, f"transform: expected identity and revision to stay, found {new!r}", obj.raw)
        return new


class _Changed(Generic[T]):
    """The batches of a watch, each event changed."""

    def __init__(self, batches: Batches[T], change: Callable[[WatchEvent[T]], WatchEvent[T]]) -> None:
        self._batches = batches
        self._change = change

    def __aiter__(self) -> "_Changed[T]":
        return self

    async def __anext__(self) -> list[WatchEvent[T]]:
        return [self._change(event) for event in await anext(self._batches)]
