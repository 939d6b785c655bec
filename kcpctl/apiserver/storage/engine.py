"""What engines that keep their state in memory have in common: everything but how a write becomes durable."""

from abc import ABC, abstractmethod
from collections.abc import Callable

from informers.clock import Clock
from kcpctl.apiserver.storage.base import Change, Record, Slice, Term
from kcpctl.apiserver.storage.feeds import MemoryFeed
from kcpctl.apiserver.storage.state import State


class Engine(ABC):
    """A `Storage` whose reads and watches are those of its `State`, and never wait."""

    def __init__(self, state: State, identity: str, terms: tuple[Term, ...], clock: Clock) -> None:
        """Begin with this state."""
        self._state = state
        self._identity = identity
        self._terms = terms
        self._clock = clock

    @property
    def identity(self) -> str:
        """A UUID made when the store was created."""
        return self._identity

    @property
    def terms(self) -> tuple[Term, ...]:
        """The latest terms, oldest first; making or opening this store began the last one."""
        return self._terms

    @property
    def revision(self) -> int:
        """The newest revision that is durable and visible."""
        return self._state.revision

    @property
    def oldest(self) -> int:
        """The oldest revision that `range` and `watch` can still start from."""
        return self._state.history.oldest

    async def get(self, key: str) -> Record | None:
        """Return the newest durable value of the key."""
        return self._state.get(key)

    async def range(self, prefix: str, *, start: str = "", limit: int = 0, revision: int = 0) -> Slice:
        """Return records under the prefix, from `start` on, in key order. Raises `Compacted`, `FutureRevision`."""
        return self._state.range(prefix, start=start, limit=limit, revision=revision)

    async def create(self, key: str, value: bytes) -> int:
        """Store a new key and return its revision. Raises `KeyExists`, `Unavailable`."""
        return await self._write(key, value, None)

    async def update(self, key: str, value: bytes, *, expect: int) -> int:
        """Replace the value of a key that is at revision `expect`. Raises `Mismatch`, `Unavailable`."""
        return await self._write(key, value, expect)

    async def delete(self, key: str, *, expect: int) -> int:
        """Remove a key that is at revision `expect`. Raises `Mismatch`, `Unavailable`."""
        return await self._write(key, None, expect)

    def watch(self, prefix: str, revision: int) -> MemoryFeed:
        """Start a feed of the changes under the prefix after `revision`."""
        return self._state.watch(prefix, revision)

    def listen(self, prefix: str, listener: Callable[[Change], None]) -> None:
        """Call the listener with every later change under the prefix, before feeds and writers hear of it."""
        self._state.listen(prefix, listener)

    @abstractmethod
    async def _write(self, key: str, value: bytes | None, expect: int | None) -> int:
        """Make one write durable and visible, and return its revision.

        `value` is None for a deletion, `expect` for a creation. Raises `KeyExists`, `Mismatch`, `Unavailable`.
        """
