"""Time as a value that is passed in: the system's, or a virtual one that tests move by hand."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count
from typing import Any, Protocol, TypeVar, cast

from informers.tasks import background

T = TypeVar("T")

_MOST_TURNS = 1_000_000
_BLIND_TURNS = 100  # loops other than asyncio's own do not say whether something is ready to run


class Timer(Protocol):
    """A call that was arranged for later."""

    def cancel(self) -> None:
        """Call it off; no effect when it has run or was called off already."""
        ...


class Clock(Protocol):
    """Where everything that waits gets its time from."""

    def monotonic(self) -> float:
        """Return seconds that never go back; only differences mean something."""
        ...

    def now(self) -> datetime:
        """Return the wall time, aware, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds; 0 or less gives other tasks one turn."""
        ...

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Call back from the loop once `monotonic()` has reached `when`."""
        ...


class SystemClock:
    """The time of the machine, and the timers of the running loop."""

    __slots__ = ()

    monotonic = staticmethod(time.monotonic)  # bare: a Python frame around it shows in the queue's cycles

    def now(self) -> datetime:
        """Return the wall time in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds."""
        await asyncio.sleep(seconds)

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Call back from the running loop at `when`, or in its next turn when that has passed."""
        return asyncio.get_running_loop().call_later(max(0.0, when - time.monotonic()), callback)


class _VirtualTimer:
    __slots__ = ("callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class VirtualClock:
    """A time that stands still until `advance` moves it, so that tests of hours take no time and are exact.

    Invariants: whoever is due wakes in the order of due times, then in the order of asking; before the time moves on,
    and when `advance` returns, every task waits for something other than its turn. Sockets, threads and the loop's own
    timers are outside its view.
    """

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        """Begin at this wall time, and at monotonic 0."""
        self._start = start
        self._elapsed = 0.0
        self._timers: list[tuple[float, int, _VirtualTimer]] = []
        self._number = count()

    def monotonic(self) -> float:
        """Return the seconds advanced so far."""
        return self._elapsed

    def now(self) -> datetime:
        """Return the wall time at the start plus the seconds advanced."""
        return self._start + timedelta(seconds=self._elapsed)

    async def sleep(self, seconds: float) -> None:
        """Return once the time was advanced that far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        timer = self.call_at(self._elapsed + seconds, lambda: None if woken.done() else woken.set_result(None))
        try:
            await woken
        finally:
            timer.cancel()

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Call back while the time advances to `when` or beyond."""
        timer = _VirtualTimer(callback)
        heappush(self._timers, (when, next(self._number), timer))
        return timer

    async def advance(self, seconds: float) -> None:
        """Let that much time pass: wake what comes due, one after the other, and let its consequences happen."""
        target = self._elapsed + seconds
        await self.run_until_idle()
        while self._fire_next(target):
            await self.run_until_idle()
        self._elapsed = target

    async def run(self, job: Coroutine[Any, Any, T], *, limit: float = 86_400.0) -> T:
        """Return what the coroutine returns, letting as much time pass as it waits for.

        Raises what it raises; `TimeoutError` when it has not ended within `limit` virtual seconds, or waits for
        something that no time brings.
        """
        deadline = self._elapsed + limit
        async with background(job) as [task]:
            await self.run_until_idle()
            while not task.done() and self._fire_next(deadline):
                await self.run_until_idle()
            if not task.done():
                raise TimeoutError(f"expected an end within {limit} virtual seconds, found it still waiting")
        return cast("T", task.result())

    async def run_until_idle(self) -> None:
        """Let all tasks run until each waits for something other than its turn; the time stands still."""
        ready = getattr(asyncio.get_running_loop(), "_ready", None)
        for _ in range(_BLIND_TURNS if ready is None else _MOST_TURNS):
            await asyncio.sleep(0)
            if ready is not None and not ready:
                return
        if ready is not None:
            raise RuntimeError(f"expected the loop to come to rest, but after {_MOST_TURNS} turns something still runs")

    def _fire_next(self, until: float) -> bool:
        """Move to the next due time not after `until`, and make its call; False when there is none."""
        while self._timers and self._timers[0][0] <= until:
            when, _, timer = heappop(self._timers)
            if timer.callback is not None:
                self._elapsed = max(self._elapsed, when)
                callback, timer.callback = timer.callback, None
                callback()
                return True
        return False
