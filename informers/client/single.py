"""One run at a time of something slow that many ask for, its outcome shared by all who waited."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Generic, TypeVar

from informers.api.errors import InformersError

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Runs a coroutine function for many callers.

    Invariants: at most one run at a time; whoever arrives during a run gets that run's value or error and starts none;
    a run that is cancelled has no outcome, and the next one waiting runs again.
    """

    def __init__(self, run: Callable[[], Awaitable[T]]) -> None:
        """Take what to run; the errors it shares are `InformersError`s."""
        self._run = run
        self._lock = asyncio.Lock()
        self._outcome: T | InformersError
        self._trace: TracebackType | None = None
        self._finished = 0

    async def __call__(self) -> T:
        """Return the outcome of the run under way, or of a new one."""
        seen = self._finished
        async with self._lock:
            if self._finished == seen:
                try:
                    self._outcome = await self._run()
                except InformersError as error:
                    self._outcome, self._trace = error, error.__traceback__
                self._finished += 1
            if isinstance(self._outcome, InformersError):
                raise self._outcome.with_traceback(self._trace)  # else it would grow with each who hears of it
            return self._outcome
