"""What a store holds: the newest records in key order, and the state at any revision that history reaches."""

from collections.abc import Callable, Iterable, Sequence
from heapq import merge
from itertools import islice

from sortedcontainers import SortedDict

from kcpctl.apiserver.storage.base import Change, FutureRevision, KeyExists, Mismatch, Record, Slice
from kcpctl.apiserver.storage.feeds import Feeds, MemoryFeed
from kcpctl.apiserver.storage.history import History


class State:
    """The visible state of a store; nothing here waits.

    Invariants: `revision` is that of the last change in history, and `records` is what all changes up to it made;
    what is not durable yet is not here.
    """

    def __init__(self, history: History, records: Iterable[Record] = ()) -> None:
        """Start from records that are as of the history's newest revision."""
        self.history = history
        self.feeds = Feeds(history)
        self._records: SortedDict[str, Record] = SortedDict((record.key, record) for record in records)
        self._listeners: list[tuple[str, Callable[[Change], None]]] = []

    @property
    def revision(self) -> int:
        """The newest visible revision."""
        return self.history.newest

    def get(self, key: str) -> Record | None:
        """Return the newest value of the key."""
        return self._records.get(key)

    def expected(self, key: str, revision: int | None) -> Record | None:
        """Return the value of a key that must be at the revision, or not there (None).

        Raises `KeyExists` for one that is there nevertheless, `Mismatch` for all else.
        """
        current = self._records.get(key)
        if (None if current is None else current.revision) == revision:
            return current
        raise KeyExists(key) if revision is None else Mismatch(current)

    def apply(self, changes: Sequence[Change], now: float) -> None:
        """Make changes visible to reads and watches in one step; their revisions follow `revision` without a gap."""
        for change in changes:
            if change.value is None:
                del self._records[change.key]
            else:
                self._records[change.key] = Record(change.key, change.revision, change.value)
        self.history.extend(changes, now)
        try:
            self._tell(changes)
        finally:  # a listener that raises, which it may not, takes nothing away from those who watch
            self.feeds.offer(changes)

    def listen(self, prefix: str, listener: Callable[[Change], None]) -> None:
        """Call the listener with every later change under the prefix, before feeds get it."""
        self._listeners.append((prefix, listener))

    def watch(self, prefix: str, revision: int) -> MemoryFeed:
        """Start a feed of the changes under `prefix` after `revision`."""
        return self.feeds.open(prefix, revision)

    def range(self, prefix: str, *, start: str = "", limit: int = 0, revision: int = 0) -> Slice:
        """Return records as `Storage.range` says."""
        low, high = max(prefix, start), _end(prefix)
        first = self._records.bisect_left(low)
        last = self._records.bisect_left(high) if high else len(self._records)
        at = revision or self.revision
        changed = self._undone(low, high, at)
        if not changed:
            stop = min(first + limit, last) if limit else last
            keys = self._records.islice(first, stop)
            return Slice([self._records[key] for key in keys], at, max(last - stop, 0))
        total = last - first + sum((record is not None) - (key in self._records) for key, record in changed.items())
        found = self._as_of(changed, first, last, limit)
        return Slice(found, at, total - len(found))

    def _tell(self, changes: Sequence[Change]) -> None:
        for prefix, listener in self._listeners:
            for change in changes:
                if change.key.startswith(prefix):
                    listener(change)

    def _undone(self, low: str, high: str, revision: int) -> dict[str, Record | None]:
        """Return what the keys in [low, high) that changed after `revision` were then, None where they were not."""
        if revision > self.revision:
            raise FutureRevision(self.revision)
        was: dict[str, Record | None] = {}
        for change in self.history.after(revision):
            if low <= change.key and (not high or change.key < high) and change.key not in was:
                was[change.key] = change.previous
        return was

    def _as_of(self, changed: dict[str, Record | None], first: int, last: int, limit: int) -> list[Record]:
        """Return the first records of the past: the unchanged ones between two indexes, merged with those that were."""
        same = (self._records[key] for key in self._records.islice(first, last) if key not in changed)
        then = sorted((record for record in changed.values() if record is not None), key=_key)
        return list(islice(merge(same, then, key=_key), limit or None))


def _key(record: Record) -> str:
    return record.key


def _end(prefix: str) -> str:
    """Return the first text after all that begin with the prefix; "" when nothing is."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1) if prefix else ""
