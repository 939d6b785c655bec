"""Streams of chunks: beginning and closing them, and compressing what is large."""

import asyncio
import zlib
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from kcpctl.apiserver.exchange import Answer

GZIP_OVER = 128 * 1024
"""Smaller answers are never compressed."""
_PIECE = 64 * 1024
"""What is compressed in one go, so that nobody waits for longer than about a millisecond."""


async def close(stream: AsyncIterator[Any]) -> None:
    """Close a stream that may or may not need it."""
    aclose = getattr(stream, "aclose", None)
    if aclose is not None:
        await aclose()


async def begun(answer: Answer) -> Answer:
    """Return the answer read so far that it is whole, or larger than `GZIP_OVER`; a live one as it is.

    What fails until then is raised here, while the client can still be told.
    """
    if answer.live or isinstance(answer.body, bytes):
        return answer
    stream, seen, size = answer.body, list[bytes](), 0
    try:
        while size <= GZIP_OVER:
            if (chunk := await anext(stream, None)) is None:
                await close(stream)
                return msgspec.structs.replace(answer, body=b"".join(seen))
            seen.append(chunk)
            size += len(chunk)
    except BaseException:
        await close(stream)
        raise
    return msgspec.structs.replace(answer, body=_Begun(seen, stream))


class _Begun:
    """A stream of which some was read already."""

    def __init__(self, seen: list[bytes], rest: AsyncIterator[bytes]) -> None:
        self._seen = deque(seen)
        self._rest = rest

    def __aiter__(self) -> "_Begun":
        return self

    async def __anext__(self) -> bytes:
        return self._seen.popleft() if self._seen else await anext(self._rest)

    async def aclose(self) -> None:
        """Close the stream."""
        await close(self._rest)


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
