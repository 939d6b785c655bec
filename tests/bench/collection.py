"""The replayed collection: bodies of lists and streams, as bytes that are made once."""

from array import array
from collections.abc import Iterable, Iterator

from tests.bench.objects import FIRST_REVISION, Labels, Pieces, pieces, render

BLOCK = 1 << 16
"""Bytes that a stream hands over at a time, at least."""
_STRIDE = 7919
"""Prime, so that events visit all objects before one comes again, and neighbours are not neighbours in the store."""


class Collection:
    """20,000 objects, say, at one revision; `advance` modifies them and says what a watch shows of it.

    Invariant: what a list shows is what a watch has told, at every revision that a list ever showed.
    """

    def __init__(self, kind: str, api_version: str, count: int, labels: Labels) -> None:
        """Make the objects; the same arguments make the same bytes."""
        self._kind = kind
        self._api_version = api_version
        self._pieces = [pieces(index, labels) for index in range(count)]
        self._generations = array("L", [1]) * count
        self._revisions = array("L", range(FIRST_REVISION, FIRST_REVISION + count))
        self.revision = FIRST_REVISION + count
        self._pages: dict[tuple[int, int], list[bytes]] = {}
        self._added: list[bytes] = []

    def __len__(self) -> int:
        return len(self._pieces)

    def page(self, start: int, limit: int) -> list[bytes]:
        """Return the list's page with the objects from `start`, as blocks; a limit of 0 is all of them."""
        limit = limit or len(self)
        if (start, limit) not in self._pages:
            self._pages[start, limit] = self._page(start, min(start + limit, len(self)))
        return self._pages[start, limit]

    def _page(self, start: int, end: int) -> list[bytes]:
        rest = len(self) - end
        more = b'"continue":"%d.%d","remainingItemCount":%d,' % (self.revision, end, rest) if rest else b""
        opening = b'{"apiVersion":"%b","kind":"%bList","metadata":{%b"resourceVersion":"%d"},"items":[' % (
            self._api_version.encode(),
            self._kind.encode(),
            more,
            self.revision,
        )
        items = (render(*self._state(index)) + b"," for index in range(start, end))
        blocks = list(gather(items))
        if blocks:
            blocks[-1] = blocks[-1][:-1]  # the last comma
        return [opening, *blocks, b"]}\n"]

    def _state(self, index: int) -> tuple[Pieces, int, int]:
        return self._pieces[index], self._generations[index], self._revisions[index]

    def added(self) -> list[bytes]:
        """Return an ADDED line for every object, in the list's order, as blocks."""
        if not self._added:
            lines = (b'{"type":"ADDED","object":%b}\n' % render(*self._state(index)) for index in range(len(self)))
            self._added = list(gather(lines))
        return self._added

    def bookmark(self, *, initial_events_end: bool = False) -> bytes:
        """Return a BOOKMARK line at this revision; the one that ends a streamed list says so."""
        annotations = b'"annotations":{"k8s.io/initial-events-end":"true"},' if initial_events_end else b""
        return (
            b'{"type":"BOOKMARK","object":{"apiVersion":"%b","kind":"%b","metadata":{"creationTimestamp":null,'
            b'%b"resourceVersion":"%d"}}}\n'
            % (self._api_version.encode(), self._kind.encode(), annotations, self.revision)
        )

    def advance(self, events: int) -> list[tuple[int, int, int]]:
        """Modify that many times, all objects in turn; returns (index, generation, revision) of each change."""
        changes = []
        for number in range(events):
            index = number * _STRIDE % len(self)
            self._generations[index] += 1
            self.revision += 1
            self._revisions[index] = self.revision
            changes.append((index, self._generations[index], self.revision))
        self._pages.clear()
        self._added = []
        return changes

    def modified(self, changes: Iterable[tuple[int, int, int]]) -> Iterator[bytes]:
        """Return a MODIFIED line for each of the changes, as blocks made when asked for."""
        return gather(
            b'{"type":"MODIFIED","object":%b}\n' % render(self._pieces[index], generation, revision)
            for index, generation, revision in changes
        )


def gather(parts: Iterable[bytes], size: int = BLOCK) -> Iterator[bytes]:
    """Join the parts to blocks of at least that size, the last one excepted."""
    block: list[bytes] = []
    length = 0
    for part in parts:
        block.append(part)
        length += len(part)
        if length >= size:
            yield b"".join(block)
            block, length = [], 0
    if block:
        yield b"".join(block)


def chunked(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Frame the blocks as HTTP chunks of that size, which cut lines anywhere."""
    head = b"%x\r\n" % size
    for block in blocks:
        whole = len(block) - len(block) % size
        parts = [part for start in range(0, whole, size) for part in (head, block[start : start + size], b"\r\n")]
        if whole < len(block):
            parts += [b"%x\r\n" % (len(block) - whole), block[whole:], b"\r\n"]
        yield b"".join(parts)
