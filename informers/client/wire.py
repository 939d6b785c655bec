"""Cutting byte streams: lines out of chunks, and bytes out of gzip members."""

import zlib
from collections.abc import AsyncIterator, Iterator

from informers.api.errors import DecodeError, Disconnected

LINE_LIMIT = 32 * 2**20
"""Bytes in one line. An etcd value has at most 1.5 MiB; nothing a server means to send comes near this."""

_WINDOW = 16 * 2**10


class LineSplitter:
    """Cuts a stream behind its lines, whatever its chunks are.

    Invariants: the blocks returned so far, with `tail` behind them, are the bytes fed so far; each byte is looked at
    once and copied at most twice, however long its line grows.
    """

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        """Refuse lines of more than `limit` bytes."""
        self._limit = limit
        self._pieces: list[bytes] = []
        self._held = 0

    def feed(self, chunk: bytes) -> bytes:
        """Return the lines that this chunk completes, each with its newline, as one block; b"" when there are none.

        Raises `DecodeError` when a line is over the limit, complete or not; the stream is of no use after that.
        """
        watchful = self._held + len(chunk) > self._limit
        cut = chunk.rfind(b"\n") + 1
        block = b"".join((*self._pieces, memoryview(chunk)[:cut])) if cut else b""
        if cut:
            self._pieces.clear()
            self._held = 0
        if cut < len(chunk):
            self._pieces.append(chunk[cut:])
            self._held += len(chunk) - cut
        if watchful:
            self._check(max(self._held, *map(len, block.split(b"\n"))))
        return block

    @property
    def tail(self) -> bytes:
        """What came after the last newline."""
        return b"".join(self._pieces)

    def _check(self, longest: int) -> None:
        if longest > self._limit:
            raise DecodeError(f"expected lines of at most {self._limit} bytes, found one of {longest} or more")


class Gunzip:
    """Undoes gzip as it arrives; a stream may be one member or many.

    Servers from 1.37 on close a member at each flush of a streamed list, so that a decoder which stops after the
    first one loses the rest without a word.
    """

    def __init__(self) -> None:
        """Expect the first member."""
        self._member: zlib._Decompress | None = None

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield what this chunk holds, in pieces of bounded size; an exhausted iterator has consumed the chunk.

        Raises `DecodeError` on bytes that are not gzip.
        """
        view = memoryview(chunk)
        at = 0
        while at < len(view):
            if self._member is None:
                at = _skip_padding(view, at)
                if at == len(view):
                    return
                self._member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
            # Windows keep two things small: what a member leaves over is copied, and a piece can be a
            # thousand times its input.
            window = view[at : at + _WINDOW]
            piece = _inflate(self._member, window)
            at += len(window) - len(self._member.unused_data)
            if self._member.eof:
                self._member = None
            if piece:
                yield piece

    def close(self) -> None:
        """Say that nothing follows; raises `Disconnected` inside a member."""
        if self._member is not None:
            raise Disconnected("expected a whole gzip member, found the end of the stream inside it")


class Unzipped:
    """Iterates over what gzipped chunks hold; a plain class, so that leaving it early leaves nothing to finish."""

    __slots__ = ("_chunks", "_gunzip", "_pieces")

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        """Undo gzip in the chunks; raises as `Gunzip` does, and what the chunks raise."""
        self._chunks = chunks
        self._gunzip = Gunzip()
        self._pieces: Iterator[bytes] = iter(())

    def __aiter__(self) -> "Unzipped":
        return self

    async def __anext__(self) -> bytes:
        while True:
            for piece in self._pieces:
                return piece
            try:
                self._pieces = self._gunzip.feed(await anext(self._chunks))
            except StopAsyncIteration:
                self._gunzip.close()
                raise


def _inflate(member: "zlib._Decompress", window: memoryview) -> bytes:
    try:
        return member.decompress(window)
    except zlib.error as error:
        raise DecodeError(
            f"expected gzip as the answer's Content-Encoding says, found something else: {error}"
        ) from error


def _skip_padding(view: memoryview, at: int) -> int:
    """Step over zero bytes between members, which gzip allows."""
    while at < len(view) and view[at] == 0:
        at += 1
    return at
