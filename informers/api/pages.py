"""Lists read while they arrive, so that neither their whole body nor a long decode is ever there at once."""

import re
from typing import Generic, TypeVar

import msgspec

from informers.api.decoding import Malformed, Page, Reader
from informers.api.objects import Object

T = TypeVar("T")

_ITEMS = re.compile(rb'"items"\s*:\s*\[\s*')
_HEAD_LIMIT = 64 * 2**10
_GUESSES = 8

_decode_any = msgspec.json.Decoder().decode
_decode_array = msgspec.json.Decoder(list[msgspec.Raw]).decode


class PageReader(Generic[T]):
    """Reads one list, whatever its chunks are; the page is the one that `Reader.page` gives for the whole body.

    A cut between two items is guessed by how items begin, and then proven: what was fed up to there, with `]` behind
    it, parses as an array if and only if the cut is right. A list for which no guess comes true (indented, say) is read
    at the end, as one.
    """

    def __init__(self, reader: Reader[T]) -> None:
        """Read objects with `reader`."""
        self._reader = reader
        self._head = b""
        self._between: bytes | None = None
        self._pieces: list[bytes] = []
        self.held = 0
        """Bytes that were fed and not read yet."""
        self._worth_a_try: float = 0
        self._objects: list[Object[T]] = []
        self._malformed: list[Malformed] = []
        self._bytes = 0

    def feed(self, chunk: bytes) -> None:
        """Read the items that this chunk completes."""
        self._pieces.append(chunk)
        self._bytes += len(chunk)
        self.held += len(chunk)
        if self.held < self._worth_a_try:
            return
        rest = b"".join(self._pieces)
        if self._between is None:
            rest = self._behind_head(rest)
        if self._between is not None:
            rest = self._behind_items(rest, self._between)
        self._pieces, self.held = [rest], len(rest)

    def finish(self) -> Page[T]:
        """Return the page; raises `DecodeError` when what was fed is no list."""
        last = self._reader.page(b"".join([self._head, *self._pieces]))
        return msgspec.structs.replace(
            last,
            objects=self._objects + last.objects,
            malformed=self._malformed + last.malformed,
            bytes=self._bytes,
        )

    def _behind_head(self, rest: bytes) -> bytes:
        """Split the head off, up to where the first item begins, once that and the item's first name are there."""
        found = _ITEMS.search(rest, 0, _HEAD_LIMIT)
        name_ends = rest.find(b":", found.end()) if found else -1
        if found and name_ends > 0 and _is_open_array(rest[: found.end()]):
            self._head = rest[: found.end()]
            self._between = b"}," + rest[found.end() : name_ends]
            return rest[found.end() :]
        if len(rest) > _HEAD_LIMIT:
            self._worth_a_try = float("inf")
        return rest

    def _behind_items(self, rest: bytes, between: bytes) -> bytes:
        """Read all items but the last, which may not be there to its end."""
        end = len(rest)
        for _ in range(_GUESSES):
            end = rest.rfind(between, 0, end)
            if end < 0:
                break
            try:
                items = _decode_array(b"[%b]" % rest[: end + 1])
            except msgspec.DecodeError:
                continue
            objects, malformed = self._reader.objects(items)
            self._objects += objects
            self._malformed += malformed
            self._worth_a_try = 0
            return rest[end + 2 :]
        self._worth_a_try = 2 * len(rest)  # so that nothing is looked at often in vain
        return rest


def _is_open_array(head: bytes) -> bool:
    """Say whether the head ends inside an array that is a direct member of the document."""
    try:
        return isinstance(_decode_any(head + b"]}"), dict)
    except msgspec.DecodeError:
        return False
