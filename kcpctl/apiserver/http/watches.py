"""Watches as streams: each batch of events becomes one chunk, in the form that the client wants."""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime

from kcpctl.apiserver.http import encoding
from kcpctl.apiserver.http.streams import close
from kcpctl.apiserver.http.tables import Table
from kcpctl.apiserver.world import Event, event

Encode = Callable[[Sequence[Event]], bytes]
"""From one batch to its lines."""


class Watch:
    """A stream of lines. Closing it closes the events behind it, also when nothing was read yet."""

    def __init__(self, batches: AsyncIterator[Sequence[Event]], encode: Encode) -> None:
        """Read batches and write their lines with `encode`."""
        self._batches = batches
        self._encode = encode

    def __aiter__(self) -> "Watch":
        """Iterate over chunks."""
        return self

    async def __anext__(self) -> bytes:
        """Wait for the next batch."""
        return self._encode(await anext(self._batches))

    async def aclose(self) -> None:
        """End the watch."""
        await close(self._batches)


def plain(batch: Sequence[Event]) -> bytes:
    """Return lines as they were encoded once for everybody."""
    return b"".join([event.line for event in batch])


def partial(version: str) -> Encode:
    """Return how to write lines whose objects are PartialObjectMetadata."""

    def encode(batch: Sequence[Event]) -> bytes:
        return b"".join([_line(each, encoding.partial(each.body, version)) for each in batch])

    return encode


def as_tables(table: Table, now: Callable[[], datetime]) -> Encode:
    """Return how to write lines whose objects are tables of one row; only the first one says what the columns are."""
    first = True

    def encode(batch: Sequence[Event]) -> bytes:
        nonlocal first
        lines = []
        for each in batch:
            if each.type == "ERROR":
                lines.append(each.line)
            else:
                lines.append(_line(each, _table_of(each, table, now(), definitions=first)))
                first = False
        return b"".join(lines)

    return encode


def _line(each: Event, body: bytes) -> bytes:
    """An ERROR holds a Status, which has no other form."""
    return each.line if each.type == "ERROR" else event(each.type, body, each.revision).line


def _table_of(each: Event, table: Table, now: datetime, *, definitions: bool) -> bytes:
    metadata = encoding.list_metadata(str(each.revision))
    if each.type == "BOOKMARK":
        return table.bookmark(each.body, metadata, definitions=definitions)
    return table.whole([each.body], metadata, now, definitions=definitions)
