"""Ending from outside what a coroutine waits for, and noticing when it waits too long."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from informers.clock import Clock, Timer


class Interrupt:
    """Lets others end an await inside a block, with an error of their choice.

    Invariants: the error comes out of the block, once; the first interruption of a block counts. Outside a block there
    is nothing to interrupt.
    """

    def __init__(self) -> None:
        self._scope: asyncio.Timeout | None = None
        self._error: Exception | None = None

    @asynccontextmanager
    async def block(self) -> AsyncIterator[None]:
        """Run the block until it ends, or is interrupted at one of its awaits."""
        self._error = None
        try:
            async with asyncio.timeout(None) as self._scope:
                yield
        except TimeoutError:
            if self._error is None:
                raise
            raise self._error from None
        finally:
            self._scope = None

    def interrupt(self, error: Exception) -> None:
        """Raise the error where the block waits."""
        if self._scope is not None and self._error is None:
            self._error = error
            self._scope.reschedule(asyncio.get_running_loop().time())


_LOOKS_EVERY = 10.0  # seconds


@contextmanager
def watchdog(clock: Clock, deadline: Callable[[], float], bark: Callable[[], None]) -> Iterator[None]:
    """Call `bark` once during the block if the time reaches `deadline()`, which may move while the block runs.

    It costs one timer, however often the deadline moves. A deadline that comes closer is noticed within ten seconds.
    """
    dog = _Watchdog(clock, deadline, bark)
    try:
        yield
    finally:
        dog.timer.cancel()


class _Watchdog:
    def __init__(self, clock: Clock, deadline: Callable[[], float], bark: Callable[[], None]) -> None:
        self._clock = clock
        self._deadline = deadline
        self._bark = bark
        self.timer = self._wait()

    def _wait(self) -> Timer:
        return self._clock.call_at(min(self._deadline(), self._clock.monotonic() + _LOOKS_EVERY), self._look)

    def _look(self) -> None:
        if self._clock.monotonic() >= self._deadline():
            self._bark()
        else:
            self.timer = self._wait()
