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

    __slots__ = ("_expects", "_left", "_line", "_usual", "_usual_size", "finished")

    def __init__(self) -> None:
        """Expect the size of the first chunk."""
        self._expects = _Expects.SIZE
        self._left = 0
        self._line = b""
        self._usual = b"\r\n\r\n"
        """The bytes between the last two chunks: servers write many of one size, which are recognised at one glance."""
        self._usual_size = 0
        self.finished = False
        """Whether the body has ended."""

    def feed(self, data: bytes | bytearray, end: int) -> tuple[bytes, int]:
        """Return what `data[:end]` holds of the body, and how much of it was used: all, or up to the body's end.

        Raises `DecodeError` where the framing is broken.
        """
        pieces: list[memoryview] = []
        at = 0
        with memoryview(data) as view:
            while at < end and not self.finished:
                if self._left:
                    stop = min(at + self._left, end)
                    pieces.append(view[at:stop])
                    self._left -= stop - at
                    at = stop
                elif self._expects is _Expects.BREAK and data.startswith(self._usual, at, end):
                    at += len(self._usual)
                    self._left = self._usual_size
                else:
                    at = self._line_at(data, at, end)
            body = b"".join(pieces)
            for piece in pieces:
                piece.release()
        return body, at

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
            self._usual, self._usual_size = b"\r\n%b\r\n" % line, self._left
