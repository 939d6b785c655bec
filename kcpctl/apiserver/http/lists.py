"""Lists in other forms than their own, piece by piece: metadata only, tables."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import datetime
from time import perf_counter

from kcpctl.apiserver.http import encoding
from kcpctl.apiserver.http.tables import Table

_SLICE = 128 * 1024
"""Bytes that are written in one go."""
_TURN = 0.004
"""Seconds after which others may run: cells and YAML cost much more than their bytes."""

Pieces = Iterator[bytes]


def partial(items: Iterable[bytes], metadata: bytes, version: str) -> Pieces:
    """Yield the pieces of a PartialObjectMetadataList; an empty one has null items, as in kube-apiserver."""
    head = b'{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/%b","metadata":' % version.encode()
    yield head + metadata + b',"items":'
    pieces = _separated(encoding.partial(item, version) for item in items)
    first = next(pieces, None)
    if first is None:
        yield b"null}"
        return
    yield b"[" + first
    yield from pieces
    yield b"]}"


def as_table(table: Table, items: Iterable[bytes], metadata: bytes, now: datetime) -> Pieces:
    """Yield the pieces of a table."""
    yield table.head(metadata)
    yield from _separated(table.rows(items, now))
    yield b"]}"


def _separated(items: Iterable[bytes]) -> Pieces:
    """Yield items with commas between them."""
    separator = b""
    for item in items:
        yield separator + item
        separator = b","


async def sliced(pieces: Pieces) -> AsyncIterator[bytes]:
    """Yield pieces together in slices, letting others run in between."""
    parts: list[bytes] = []
    size, began = 0, perf_counter()
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        if size >= _SLICE or perf_counter() - began > _TURN:
            yield b"".join(parts)
            await asyncio.sleep(0)
            parts, size, began = [], 0, perf_counter()
    yield b"".join(parts)
