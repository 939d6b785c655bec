"""The engine that keeps nothing: a store that lives and dies with its process."""

import uuid

from informers.clock import Clock, SystemClock
from kcpctl.apiserver.storage.base import Change, Unavailable
from kcpctl.apiserver.storage.engine import Engine
from kcpctl.apiserver.storage.history import FIVE_MINUTES, History, Window
from kcpctl.apiserver.storage.revisions import first_revision, new_term
from kcpctl.apiserver.storage.state import State

_SYSTEM_CLOCK = SystemClock()


class MemoryStorage(Engine):
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
        super().__init__(State(History(start, window)), str(uuid.uuid4()), (new_term(start),), clock)
        self._closed = False

    async def compact(self, revision: int) -> None:
        """Forget history before `revision`. Raises `FutureRevision`."""
        self._state.history.compact(revision)

    async def aclose(self) -> None:
        """End all feeds; later writes raise `Unavailable`."""
        self._closed = True
        self._state.feeds.close()

    async def _write(self, key: str, value: bytes | None, expect: int | None) -> int:
        previous = self._state.expected(key, expect)
        if self._closed:
            raise Unavailable("the store is closed")
        change = Change(key, self._state.revision + 1, value, previous)
        self._state.apply((change,), self._clock.monotonic())
        return change.revision
