"""Lists in all forms, piece by piece: as they are, metadata only, tables; as JSON, indented JSON, YAML."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import datetime
from functools import partial as partial_
from time import perf_counter

import msgspec

from kcpctl.apiserver.aside import SMALL, Aside
from kcpctl.apiserver.http import encoding
from kcpctl.apiserver.http.frames import Frame, as_yaml, indented
from kcpctl.apiserver.http.negotiation import YAML, Form
from kcpctl.apiserver.http.tables import Table

_SLICE = 128 * 1024
"""Bytes that are written in one go."""
_TURN = 0.002
"""Seconds after which others may run: making an item, or its cells, may cost much more than its bytes."""
_SLOWER = 2
"""How much longer YAML and indenting take than what sizes are thought to tell."""

Pieces = Iterator[bytes]


class Parts(msgspec.Struct, frozen=True):
    """A list in whatever form, as JSON."""

    head: bytes
    """Everything up to and with the bracket of its items, which come last."""
    items: Iterable[bytes]
    """Each is made when it is asked for."""
    null_when_empty: bool = False
    """Whether the items of an empty list are null."""


def partial(items: Iterable[bytes], metadata: bytes, version: str) -> Parts:
    """Return a PartialObjectMetadataList; an empty one has null items, as in kube-apiserver."""
    head = b'{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/%b","metadata":' % version.encode()
    return Parts(head + metadata + b',"items":[', (encoding.partial(item, version) for item in items), True)


def as_table(table: Table, items: Iterable[bytes], metadata: bytes, now: datetime) -> Parts:
    """Return a table."""
    return Parts(table.head(metadata), table.rows(items, now))


def written(parts: Parts, form: Form, aside: Aside) -> AsyncIterator[bytes]:
    """Yield the list's bytes in slices, letting others run in between."""
    if form.is_json:
        return sliced(_as_json(parts))
    frame = as_yaml if form.media == YAML else indented
    return _framed(frame(parts.head, null_when_empty=parts.null_when_empty), parts.items, aside)


def _as_json(parts: Parts) -> Pieces:
    items = iter(parts.items)
    first = next(items, None)
    if first is None:
        yield parts.head[:-1] + b"null}" if parts.null_when_empty else parts.head + b"]}"
        return
    yield parts.head + first
    for item in items:
        yield b"," + item
    yield b"]}"


async def _framed(frame: Frame, items: Iterable[bytes], aside: Aside) -> AsyncIterator[bytes]:
    """Yield items as the frame writes them, a big one from a thread."""
    before, found, began = frame.before, [], perf_counter()
    for item in items:
        size = len(item) * _SLOWER
        found += [before, frame.item(item) if size <= SMALL else await aside.do(size, partial_(frame.item, item))]
        before = frame.between
        if perf_counter() - began > _TURN:
            yield b"".join(found)
            await asyncio.sleep(0)
            found, began = [], perf_counter()
    yield b"".join(found) + (frame.after if before is frame.between else frame.empty)


def _together(items: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield items together that are quickly made, and not too big."""
    found: list[bytes] = []
    size, began = 0, perf_counter()
    for item in items:
        found.append(item)
        size += len(item)
        if size >= _SLICE or perf_counter() - began > _TURN:
            yield found
            found, size, began = [], 0, perf_counter()
    if found:
        yield found


async def sliced(pieces: Pieces) -> AsyncIterator[bytes]:
    """Yield pieces together in slices, letting others run in between."""
    for several in _together(pieces):
        yield b"".join(several)
        await asyncio.sleep(0)
