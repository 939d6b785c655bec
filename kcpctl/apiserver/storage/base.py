"""The storage protocol: keys, values, one global revision, history.

Keys are text such as `/registry/{group}/{plural}/{cluster}/{namespace}/{name}` and sort by code point. Values are the
JSON of one object without its resourceVersion. Every committed write gets the next revision; revisions are never
reused in the life of a store. A write is neither answered nor visible to reads and watches before it is durable.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, Self

import msgspec


class Record(msgspec.Struct, frozen=True, gc=False):
    """One stored value; `revision` is that of its last write."""

    key: str
    revision: int
    value: bytes


class Change(msgspec.Struct, frozen=True, gc=False):
    """One committed write: `value` is None for a deletion, `previous` None for a creation."""

    key: str
    revision: int
    value: bytes | None
    previous: Record | None


class Term(msgspec.Struct, frozen=True):
    """A time in which one process had the store for itself: another opening is another term, also of a copy."""

    name: str
    """Random."""
    since: int
    """The store's revision when it began."""


class Slice(msgspec.Struct, frozen=True):
    """One answer to `range`: `records` in key order at `revision`; `remaining` counts what follows under the prefix."""

    records: Sequence[Record]
    revision: int
    remaining: int = 0


class Batch(msgspec.Struct, frozen=True):
    """What a feed yields: the changes since the last batch (maybe none), complete up to `revision`."""

    changes: Sequence[Change]
    revision: int


class StorageError(Exception):
    """The root of what a storage says no with."""


class KeyExists(StorageError):
    """Create: the key is taken."""


class Mismatch(StorageError):
    """Update or delete: the key is not at the expected revision; `current` is what is there, or None."""

    def __init__(self, current: Record | None) -> None:
        """Keep what is there now."""
        super().__init__("the key is not at the expected revision")
        self.current = current


class Compacted(StorageError):
    """That revision is older than the kept history; `oldest` is the oldest one that can be asked for."""

    def __init__(self, oldest: int) -> None:
        """Keep the oldest revision that is still served."""
        super().__init__(f"history before revision {oldest} is gone")
        self.oldest = oldest


class FutureRevision(StorageError):
    """That revision has not been reached; `current` is the newest one."""

    def __init__(self, current: int) -> None:
        """Keep the newest revision."""
        super().__init__(f"revision is ahead of {current}")
        self.current = current


class Unavailable(StorageError):
    """The storage cannot take writes now (disk full, closed, lost its file); the message says why."""


class Unwritable(Unavailable):
    """One record cannot be written, whatever becomes of the others; the message says why."""


class Feed(Protocol):
    """One running watch: an async iterator of batches that only its owner ends.

    A cancelled iteration loses nothing: the next one goes on where the last batch ended.
    """

    def __aiter__(self) -> Self:
        """Return itself."""

    async def __anext__(self) -> Batch:
        """Wait for the next batch. Raises `Compacted` when the history that it needs is gone."""

    def nudge(self) -> None:
        """Make the running (or the next) iteration return at once, if need be with an empty batch."""

    async def aclose(self) -> None:
        """End the watch and let go of what it holds."""


class Storage(Protocol):
    """A keyed store with history. All methods may wait for the disk or the network."""

    @property
    def identity(self) -> str:
        """A UUID made when the store was created: another identity means another history."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """The latest terms, oldest first; the last one goes on.

        Of a store that was restored from a copy they tell which of the earlier revisions are in its history: those of a
        term up to where the next one began.
        """

    @property
    def revision(self) -> int:
        """The newest revision that is durable and visible."""

    @property
    def oldest(self) -> int:
        """The oldest revision that `range` and `watch` can still start from."""

    async def get(self, key: str) -> Record | None:
        """Return the newest value of the key."""

    async def range(self, prefix: str, *, start: str = "", limit: int = 0, revision: int = 0) -> Slice:
        """Return records under the prefix, from `start` on (a whole key, inclusive), in key order.

        Limit 0 means all; revision 0 means the newest. Raises `Compacted`, `FutureRevision`.
        """

    async def create(self, key: str, value: bytes) -> int:
        """Store a new key and return its revision. Raises `KeyExists`, `Unavailable`."""

    async def update(self, key: str, value: bytes, *, expect: int) -> int:
        """Replace the value of a key that is at revision `expect` and return the new revision.

        Raises `Mismatch`, `Unavailable`.
        """

    async def delete(self, key: str, *, expect: int) -> int:
        """Remove a key that is at revision `expect` and return the deletion's own revision.

        Raises `Mismatch`, `Unavailable`.
        """

    def watch(self, prefix: str, revision: int) -> Feed:
        """Yield every change under the prefix after `revision`, in order, each exactly once, as it commits.

        The first batch comes at once (it may be empty) and says how far the replay got. A batch without changes may
        come whenever the store's revision moved on. Iterating raises `Compacted` when `revision` is too old or the
        consumer falls behind the kept history; a revision in the future waits. Close the feed when done.
        """

    def listen(self, prefix: str, listener: Callable[[Change], None]) -> None:
        """Call the listener with every later change under the prefix, at the moment when it becomes visible.

        It hears before any feed and before the writer, so what it keeps is never behind what clients can see. It must
        be quick and may not raise.
        """

    async def compact(self, revision: int) -> None:
        """Forget history before `revision`; what is older already stays forgotten. Raises `FutureRevision`."""

    async def aclose(self) -> None:
        """Make everything durable and release the store; later writes raise `Unavailable`."""
