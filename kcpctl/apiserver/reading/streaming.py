"""Lists as JSON, piece by piece: no answer stands in memory twice, and no other request waits for a big one."""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from kcpctl.apiserver.reading.listing import Items, ListResult
from kcpctl.apiserver.served import JSON, Served

_PIECE = 128 * 1024
"""Bytes after which a piece is full."""

_STEP = 64
"""Items after which a piece is full, however small they are: making them may cost as much as decoding them."""

_quote = msgspec.json.Encoder().encode


async def stream_list(served: Served, result: ListResult) -> AsyncIterator[bytes]:
    """Yield a list's JSON in pieces of about 128 kB; others may run between two pieces."""
    head = list_head(served, result)
    items = result.items
    position = 0
    while position < len(items):
        piece, position = _piece(items, position)
        last = position == len(items)
        yield b"%b%b%b" % (head, piece, b"]}" if last else b"")
        if last:
            return
        head = b","
        await asyncio.sleep(0)
    yield head + b"]}"


def list_head(served: Served, result: ListResult) -> bytes:
    """Return how a list's JSON begins, up to and with the bracket of its items."""
    metadata: JSON = {"resourceVersion": str(result.revision)}
    if result.continue_ or served.is_custom:
        metadata["continue"] = result.continue_  # custom resources print it even when it is empty
    if result.remaining is not None:
        metadata["remainingItemCount"] = result.remaining
    kind = served.list_kind or f"{served.kind}List"
    return b'{"kind":%b,"apiVersion":%b,"metadata":%b,"items":[' % (
        _quote(kind),
        _quote(served.api_version),
        _quote(metadata),
    )


def _piece(items: Items, start: int) -> tuple[bytes, int]:
    """Return items from `start` on, joined, and the position behind them."""
    found: list[bytes] = []
    size = 0
    for item in items[start : start + _STEP]:
        found.append(item)
        size += len(item)
        if size >= _PIECE:
            break
    return b",".join(found), start + len(found)
