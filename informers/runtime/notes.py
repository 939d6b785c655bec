"""Notes of writes: what the latest visits of each key wrote, and the events that they are about to cause."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import msgspec

from informers.api.objects import Key, Object
from informers.cache.notices import Notice
from informers.client.records import Write


class NotesStatistics(msgspec.Struct, frozen=True):
    """What is noted, and what had to be let go."""

    writes: int
    """All writes that were ever noted."""
    keys: int
    """Keys that notes are kept of."""
    forgotten: int
    """Notes that gave way to newer ones; their writes cannot be waited for."""


class WriteNotes:
    """Remembers for each key what its last writing visit wrote: how far the cache has to be to show it.

    Invariants: of one object only the latest write is kept; no more than `per_key` writes of a key, and no more than
    `keys` keys, the oldest giving way.
    """

    def __init__(self, *, keys: int = 10_000, per_key: int = 64) -> None:
        """Take the bounds."""
        self._most_keys = keys
        self._most_per_key = per_key
        self._notes: OrderedDict[Key, tuple[Write, ...]] = OrderedDict()
        self._expected: dict[Key, tuple[str, bytes]] = {}
        """What an object's next event shows if nobody else writes: the revision before, and the bytes behind."""
        self._writes = 0
        self._forgotten = 0

    def keep(self, key: Key, writes: Sequence[Write]) -> None:
        """Note what a visit wrote, in its order; what earlier visits of the key wrote is dropped."""
        if not writes:
            return
        self._writes += len(writes)
        latest = _latest(writes) if len(writes) > 1 else writes
        kept = tuple(latest[-self._most_per_key :])
        self._forgotten += len(latest) - len(kept)
        self._notes.pop(key, None)
        self._notes[key] = kept
        if len(self._notes) > self._most_keys:
            self._forgotten += len(self._notes.popitem(last=False)[1])

    def expect(self, old: Object[Any], written: Object[Any]) -> None:
        """Expect the event of a write that held for `old` only, and was answered with the object as `written`."""
        if written.rv != old.rv and len(self._expected) < self._most_keys:
            self._expected[written.key.shardless()] = old.rv, written.raw.rstrip()

    def expect_nothing(self, key: Key) -> None:
        """Recognise nothing of a key any more: who visits it now does not know yet what was written."""
        self._expected.pop(key, None)

    def recognises(self, notice: Notice[Any]) -> bool:
        """Say whether a change is an expected one and nothing else: from that very revision, to the byte.

        Whatever it is, the object's next change is no expected one.
        """
        expected = self._expected.pop(notice.key.shardless(), None) if self._expected else None
        if expected is None or notice.old is None or notice.new is None:
            return False
        return expected == (notice.old.rv, notice.new.raw.rstrip()) and notice.old.uid == notice.new.uid

    def of(self, key: Key) -> tuple[Write, ...]:
        """Return the latest writes for a key, the oldest first."""
        return self._notes.get(key, ())

    def statistics(self) -> NotesStatistics:
        """Return the figures at this moment."""
        return NotesStatistics(self._writes, len(self._notes), self._forgotten)


def _latest(writes: Sequence[Write]) -> list[Write]:
    """Return the last write of each object, in the order of these."""
    found: dict[tuple[str, Key], Write] = {}
    for write in writes:
        place = (str(write.resource), write.key)
        found.pop(place, None)
        found[place] = write
    return list(found.values())
