"""Watches: from a stream of chunks to lists of events, one list a chunk."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from informers.api.decoding import Reader, WatchEvent
from informers.api.errors import DecodeError, Disconnected
from informers.api.resources import Collection
from informers.client.addresses import query
from informers.client.answers import opened
from informers.client.transport import Request, Transport
from informers.client.wire import LineSplitter

T = TypeVar("T")


def watch_query(
    collection: Collection[Any], *, rv: str | None, timeout: float, bookmarks: bool, initial_events: bool
) -> str:
    """Return the query of a watch; initial events are asked for as no older than `rv`."""
    return query(
        {
            "watch": True,
            "labelSelector": collection.label_selector,
            "fieldSelector": collection.field_selector,
            "resourceVersion": rv,
            "timeoutSeconds": max(1, int(timeout)),
            "allowWatchBookmarks": bookmarks or None,
            "sendInitialEvents": initial_events or None,
            "resourceVersionMatch": "NotOlderThan" if initial_events else None,
        }
    )


@asynccontextmanager
async def opened_watch(
    transport: Transport, request: Request, reader: Reader[T]
) -> AsyncIterator[AsyncIterator[list[WatchEvent[T]]]]:
    """Send a watch; entering waits for the answer's headers, the block gets the events."""
    async with opened(transport, request) as response:
        yield Batches(response.chunks(), reader)


class Batches(Generic[T]):
    """Iterates over a watch: the events that each chunk completes, as one list, decoded without an await.

    The events, and the error after them, are the same however the stream is cut into chunks. The end comes where the
    server ended the stream between two lines; inside a line it is `Disconnected`, and a line that is no event is
    `DecodeError`.
    """

    def __init__(self, chunks: AsyncIterator[bytes], reader: Reader[T]) -> None:
        """Read lines from the chunks, and events from the lines."""
        self._chunks = chunks
        self._splitter = LineSplitter()
        self._read = reader.events
        self._error: DecodeError | None = None

    def __aiter__(self) -> "Batches[T]":
        return self

    async def __anext__(self) -> list[WatchEvent[T]]:
        while self._error is None:
            try:
                chunk = await anext(self._chunks)
            except StopAsyncIteration:
                self._check_end()
                raise
            events = self._events(chunk)
            if events:
                return events
        raise self._error

    def _events(self, chunk: bytes) -> list[WatchEvent[T]]:
        """Decode what the chunk completes; an error is kept until what came before it has been taken."""
        events: list[WatchEvent[T]] = []
        try:
            self._read(self._splitter.feed(chunk), events)
        except DecodeError as error:
            self._error = error
        return events

    def _check_end(self) -> None:
        tail = self._splitter.tail.strip()
        if tail:
            raise Disconnected(f"expected whole lines from the watch, found its end after {len(tail)} bytes of one")
