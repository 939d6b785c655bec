"""The latest committed changes, one a revision, and how long they are kept."""

from collections import deque
from collections.abc import Sequence

import msgspec

from kcpctl.apiserver.storage.base import Change, Compacted, FutureRevision

_MARK_EVERY = 1.0
"""Seconds between two notes of which revision was the newest when: how exactly ages are known."""


class Window(msgspec.Struct, frozen=True):
    """How much history is kept: all of the last `age` seconds, unless one of the limits is reached first."""

    age: float = 300.0
    """Seconds; kube-apiserver compacts etcd to what it was five minutes ago. Older history goes with the next write."""
    changes: int = 65_536
    """Most changes; 0 keeps no history at all. Up to a sixteenth more may be there for a while."""
    size: int = 128 << 20
    """Most bytes of values that only history keeps alive (overwritten and deleted ones)."""


FIVE_MINUTES = Window()


class History:
    """Changes in order of revision, without gaps.

    Invariants: the change at index i has revision `oldest + 1 + i`; the last one has revision `newest`; the state at
    any revision from `oldest` to `newest` can be told by undoing what came after it.
    """

    def __init__(self, revision: int, window: Window, changes: Sequence[Change] = ()) -> None:
        """Start at a revision, which is that of the last of the changes, if there are any."""
        self.oldest = revision - len(changes)
        self._window = window
        self._slack = window.changes // 16
        self._changes = list(changes)
        self._size = sum(map(_superseded, changes))
        self._marks: deque[tuple[float, int]] = deque()

    @property
    def newest(self) -> int:
        """The revision of the last change."""
        return self.oldest + len(self._changes)

    def extend(self, changes: Sequence[Change], now: float) -> None:
        """Add the changes that were just committed; `now` in seconds of any clock that never goes back."""
        self._changes.extend(changes)
        self._size += sum(map(_superseded, changes))
        if not self._marks or now - self._marks[-1][0] >= _MARK_EVERY:
            self._marks.append((now, self.newest))
        self._trim(now)

    def after(self, revision: int, limit: int | None = None) -> Sequence[Change]:
        """Return the changes after `revision`, at most `limit`. Raises `Compacted`, `FutureRevision`."""
        if revision < self.oldest:
            raise Compacted(self.oldest)
        if revision > self.newest:
            raise FutureRevision(self.newest)
        start = revision - self.oldest
        return self._changes[start : None if limit is None else start + limit]

    def compact(self, revision: int) -> None:
        """Forget the changes up to `revision`. Raises `FutureRevision`."""
        if revision > self.newest:
            raise FutureRevision(self.newest)
        self._drop(revision - self.oldest)

    def _trim(self, now: float) -> None:
        drop = 0
        while self._marks and now - self._marks[0][0] >= self._window.age:
            drop = self._marks.popleft()[1] - self.oldest
        excess = len(self._changes) - self._window.changes
        if excess > self._slack:
            drop = max(drop, excess)
        if self._size > self._window.size:
            drop = max(drop, self._to_fit(self._window.size - self._window.size // 16))
        self._drop(drop)

    def _to_fit(self, size: int) -> int:
        """Return how many of the oldest changes have to go until the rest fits into `size` bytes."""
        left, count = self._size, 0
        while left > size:
            left -= _superseded(self._changes[count])
            count += 1
        return count

    def _drop(self, count: int) -> None:
        if count > 0:
            self._size -= sum(map(_superseded, self._changes[:count]))
            del self._changes[:count]
            self.oldest += count


def _superseded(change: Change) -> int:
    return 0 if change.previous is None else len(change.previous.value)
