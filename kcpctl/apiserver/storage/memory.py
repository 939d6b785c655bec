"""The engine that keeps nothing: a store that lives and dies with its process."""

import uuid
from collections.abc import Callable

from informers.clock import Clock, SystemClock
from kcpctl.apiserver.storage.base import Change, KeyExists, Mismatch, Record, Slice, Term, Unavailable
from kcpctl.apiserver.storage.feeds import MemoryFeed
from kcpctl.apiserver.storage.history import FIVE_MINUTES, History, Window
from kcpctl.apiserver.storage.revisions import first_revision, new_term
from kcpctl.apiserver.storage.state import State

_SYSTEM_CLOCK = SystemClock()


class MemoryStorage:
    """A `Storage` without a disk: a write is visible when the call returns, and no method waits."""

    def __init__(
        self,
        *,
        revision: int | None = None,
        window: Window = FIVE_MINUTES,
        clock: Clock = _SYSTEM_CLOCK,
    ) -> None:
        """Start empty, at a revision that no earlier store has reached (see `first_revision`) or at the given one."""
        start = first_revision(clock.now()) if revision is None else revision
        self._state = State(History(start, window))
        self._clock = clock
        self._identity = str(uuid.uuid4())
        self._terms = (new_term(start),)
        self._closed = False

    @property
    def identity(self) -> str:
        """A UUID made when the store was created."""
        return self._identity

    @property
    def terms(self) -> tuple[Term, ...]:
        """The one term that such a store has."""
        return self._terms

    @property
    def revision(self) -> int:
        """The newest revision."""
        return self._state.revision

    @property
    def oldest(self) -> int:
        """The oldest revision that `range` and `watch` can still start from."""
        return self._state.history.oldest

    async def get(self, key: str) -> Record | None:
        """Return the newest value of the key."""
        return self._state.get(key)

    async def range(self, prefix: str, *, start: str = "", limit: int = 0, revision: int = 0) -> Slice:
        """Return records under the prefix, from `start` on, in key order. Raises `Compacted`, `FutureRevision`."""
        return self._state.range(prefix, start=start, limit=limit, revision=revision)

    async def create(self, key: str, value: bytes) -> int:
        """Store a new key and return its revision. Raises `KeyExists`, `Unavailable`."""
        if self._state.get(key) is not None:
            raise KeyExists(key)
        return self._commit(key, value, None)

    async def update(self, key: str, value: bytes, *, expect: int) -> int:
        """Replace the value of a key that is at revision `expect`. Raises `Mismatch`, `Unavailable`."""
        return self._commit(key, value, self._expected(key, expect))

    async def delete(self, key: str, *, expect: int) -> int:
        """Remove a key that is at revision `expect`. Raises `Mismatch`, `Unavailable`."""
        return self._commit(key, None, self._expected(key, expect))

    def watch(self, prefix: str, revision: int) -> MemoryFeed:
        """Start a feed of the changes under the prefix after `revision`."""
        return self._state.watch(prefix, revision)

    def listen(self, prefix: str, listener: Callable[[Change], None]) -> None:
        """Call the listener with every later change under the prefix, before feeds and writers hear of it."""
        self._state.listen(prefix, listener)

    async def compact(self, revision: int) -> None:
        """Forget history before `revision`. Raises `FutureRevision`."""
        self._state.history.compact(revision)

    async def aclose(self) -> None:
        """End all feeds; later writes raise `Unavailable`."""
        self._closed = True
        self._state.feeds.close()

    def _expected(self, key: str, revision: int) -> Record:
        current = self._state.get(key)
        if current is None or current.revision != revision:
            raise Mismatch(current)
        return current

    def _commit(self, key: str, value: bytes | None, previous: Record | None) -> int:
        if self._closed:
            raise Unavailable("the store is closed")
        change = Change(key, self._state.revision + 1, value, previous)
        self._state.apply((change,), self._clock.monotonic())
        return change.revision
