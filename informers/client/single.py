"""One run at a time of something slow that many ask for, its outcome shared by all who waited."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Generic, TypeVar

from informers.api.errors import ConnectError, InformersError
from informers.tasks import apart, ended

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Runs a coroutine function for many callers.

    Invariants: at most one run at a time; whoever arrives during a run gets that run's value or error and starts none.
    The run belongs to no caller: it goes on when one of them, or the last, is cancelled (a login that somebody is busy
    with, a refresh token that the issuer has taken already), and ends with itself or with `aclose`.
    """

    def __init__(self, run: Callable[[], Awaitable[T]]) -> None:
        """Take what to run; the errors it shares are `InformersError`s."""
        self._run = run
        self._flight: asyncio.Task[T | _Failure] | None = None

    async def __call__(self) -> T:
        """Return the outcome of the run under way, or of a new one; raises `ConnectError` when `aclose` ends it."""
        flight = self._flight
        if flight is None or flight.done():
            flight = self._flight = apart(self._landed())
        await asyncio.wait((flight,))  # unlike awaiting the task, this leaves it alone when we are cancelled
        if flight.cancelled():
            raise ConnectError("expected credentials, found that they were closed while they were being renewed")
        outcome = flight.result()
        if isinstance(outcome, _Failure):
            raise outcome.error.with_traceback(outcome.trace)  # else it would grow with each who hears of it
        return outcome

    async def aclose(self) -> None:
        """End the run under way, and wait until it has ended."""
        if self._flight is not None:
            await ended(self._flight)

    async def _landed(self) -> "T | _Failure":
        """Return the outcome as a value: a failure that nobody waits for any more is no cause for alarm."""
        try:
            return await self._run()
        except InformersError as error:
            return _Failure(error)


class _Failure:
    __slots__ = ("error", "trace")

    def __init__(self, error: InformersError) -> None:
        self.error = error
        self.trace: TracebackType | None = error.__traceback__
