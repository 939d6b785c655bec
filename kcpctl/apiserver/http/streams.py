"""Streams of chunks: closing them, and compressing what is large."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from typing import Any

GZIP_OVER = 128 * 1024
"""Smaller answers are never compressed."""
_PIECE = 64 * 1024
"""What is compressed in one go, so that nobody waits for longer than about a millisecond."""


async def close(stream: AsyncIterator[Any]) -> None:
    """Close a stream that may or may not need it."""
    aclose = getattr(stream, "aclose", None)
    if aclose is not None:
        await aclose()


async def is_large(stream: AsyncIterator[bytes], seen: list[bytes]) -> bool:
    """Read from the stream into `seen` until it is clear whether it is worth compressing."""
    size = 0
    async for chunk in stream:
        seen.append(chunk)
        size += len(chunk)
        if size > GZIP_OVER:
            return True
    return False


async def chained(seen: list[bytes], stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield what was read already, then the rest."""
    for chunk in seen:
        yield chunk
    async for chunk in stream:
        yield chunk


async def pieces(body: bytes) -> AsyncIterator[bytes]:
    """Yield a body in pieces, letting others run in between."""
    for start in range(0, len(body), _PIECE):
        yield body[start : start + _PIECE]
        await asyncio.sleep(0)


async def gzipped(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the stream compressed, at the fastest level, as kube-apiserver does."""
    compressor = zlib.compressobj(level=1, wbits=31)
    async for chunk in stream:
        for start in range(0, len(chunk), _PIECE):
            packed = compressor.compress(chunk[start : start + _PIECE])
            if packed:
                yield packed
    yield compressor.flush()
