"""Undoing HTTP's chunked transfer coding (RFC 9112, 7.1)."""

import re
from enum import Enum

from informers.api.errors import DecodeError

_LINE_LIMIT = 4096
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")


class _Expects(Enum):
    SIZE = "the size of a chunk"
    BREAK = "a line break after a chunk"
    TRAILER = "a trailer, or the empty line that ends the body"


class Dechunker:
    """Takes the framing away, whatever pieces the stream comes in.

    Invariant: what was returned so far, joined, is what the whole chunks and the begun one hold so far.
    """

    __slots__ = ("_between", "_expects", "_left", "_line", "_size", "error", "finished")

    def __init__(self) -> None:
        """Expect the size of the first chunk."""
        self._expects = _Expects.SIZE
        self._left = 0
        self._line = b""
        self._size = 0
        self._between = b""
        """What follows the last chunk where the next has its size, as most of a fast server have."""
        self.error: DecodeError | None = None
        """Why nothing more can be read."""
        self.finished = False
        """Whether the body has ended."""

    def feed(self, data: bytes | bytearray, end: int) -> tuple[bytes, int]:
        """Return what `data[:end]` holds of the body, and how much of it was used: all, or up to the body's end.

        Where the framing is broken it returns what came before, and sets `error`.
        """
        pieces: list[memoryview] = []
        view = memoryview(data)
        at = 0
        while at < end and not self.finished:
            if self._left:
                stop = min(at + self._left, end)
                pieces.append(view[at:stop])
                self._left -= stop - at
                at = stop if self._left else self._alike(data, view, stop, end, pieces)
            else:
                try:
                    at = self._line_at(data, at, end)
                except DecodeError as error:
                    self.error = error
                    break
        return b"".join(pieces), at

    def _alike(self, data: bytes | bytearray, view: memoryview, at: int, end: int, pieces: list[memoryview]) -> int:
        """Take the whole chunks that follow, as long as they have the size of the last one; return where they end."""
        between, size = self._between, self._size
        step = len(between) + size
        while at + step <= end and data.startswith(between, at):
            pieces.append(view[at + step - size : at + step])
            at += step
        return at

    def _line_at(self, data: bytes | bytearray, at: int, end: int) -> int:
        """Take in a line, or as much of it as is there; return where it ends."""
        newline = data.find(b"\n", at, end)
        stop = end if newline < 0 else newline + 1
        self._line += data[at:stop]
        if len(self._line) > _LINE_LIMIT:
            raise DecodeError(f"expected {self._expects.value}, found a line of more than {_LINE_LIMIT} bytes")
        if newline >= 0:
            line, self._line = self._line.removesuffix(b"\n").removesuffix(b"\r"), b""
            self._take(line)
        return stop

    def _take(self, line: bytes) -> None:
        match self._expects:
            case _Expects.SIZE:
                self._begin(line)
            case _Expects.BREAK if not line:
                self._expects = _Expects.SIZE
            case _Expects.BREAK:
                raise DecodeError(f"expected {self._expects.value}, found {line[:40]!r}")
            case _Expects.TRAILER:
                self.finished = not line

    def _begin(self, line: bytes) -> None:
        found = _SIZE.fullmatch(line)
        if found is None:
            raise DecodeError(f"expected {self._expects.value}, found {line[:40]!r}")
        self._left = int(found[1], 16)
        self._expects = _Expects.BREAK if self._left else _Expects.TRAILER
        if self._left:
            self._between, self._size = b"\r\n%b\r\n" % line, self._left
