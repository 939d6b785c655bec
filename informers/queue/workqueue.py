"""The WorkQueue: one entry a key, one visit at a time, nothing lost."""

# ruff: noqa: SLF001 - the blocks at the end are the queue's other half: what they do has no name outside

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from types import TracebackType
from typing import Any, Generic, TypeVar, cast

import msgspec

from informers.api.errors import InformersError
from informers.clock import Clock
from informers.queue.facts import Delayed, QueueStatistics, Visited
from informers.queue.order import Fifo, Order
from informers.queue.ratelimit import Exponential, RateLimiter
from informers.queue.waiters import Waiters
from informers.queue.waiting import Waiting

K = TypeVar("K")
T = TypeVar("T")


class QueueClosed(InformersError):
    """The queue was closed, and what it had to hand out is gone."""


class QueueEmpty(InformersError):
    """No key is ready at this moment."""


class WorkQueue(Generic[K]):
    """Hands out keys to visit; the semantics are client-go's, with one entry a key for ready and delayed ones alike.

    A key's entry says that it wants a visit: *dirty* (now) or *waiting* (at a time). Independently of its entry a key
    is *active* while somebody visits it. Dirty and not active is *ready*.

    Invariants, after every call:
     1. A key has at most one entry: it is never dirty and waiting at once.
     2. The order holds exactly the ready keys, each once; `len(queue)` counts them.
     3. An active key is not handed out again before it is let go: no two visits of one key overlap.
     4. An entry leaves by being handed out, or by `close`; never by a visit's end, `forget` or a cancellation.
        So whatever was added before or during a visit is followed by exactly one more visit.
     5. A waiting key waits until the earliest time asked for since its last visit began; an immediate add ends that.
     6. A ready key and a taker that waits for one do not coexist beyond one turn of the loop.

    Not thread-safe: all calls come from the event loop's thread.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        limiter: RateLimiter | None = None,
        order: Order[K] | None = None,
        name: str = "",
        observer: Callable[[Visited[K] | Delayed[K]], None] | None = None,
    ) -> None:
        """Make an empty queue: exponential backoff for each key and first come, first served, unless told otherwise."""
        self.name = name
        self.limiter = limiter if limiter is not None else Exponential()
        self._order: Order[K] = order if order is not None else Fifo()
        self._monotonic = clock.monotonic
        self._observer = observer
        self.forget = self.limiter.forget
        """Let the limiter forget a key's failures; its entry stays. Bare, since a frame around it shows."""
        self.take: Callable[[], Visit[K]] = partial(Visit, self)
        """Return a block around one visit: `async with queue.take() as key`.

        Entering waits until a key is ready, and raises `QueueClosed` when none will come any more. It may be cancelled
        at any moment without losing a key. Leaving lets the key go, however it is left; a block that was cancelled has
        not done its work, so its key is ready again at once."""
        self._dirty: dict[K, float] = {}  # since when
        self._active: dict[K, tuple[float, float]] = {}  # since when, and the seconds it was ready before
        self._waiting: Waiting[K] = Waiting(clock, self.add)
        self._takers = Waiters()
        self._idlers = Waiters()
        self._closed = False
        self._adds = 0
        self._delays = 0
        self._visits = 0

    # What wants a visit

    def add(self, key: K) -> None:
        """Ask for a visit now; one is enough however often it is asked for. Ignored once the queue is closed."""
        if key in self._dirty or self._closed:
            return
        if self._waiting.times:
            self._waiting.drop(key)
        self._adds += 1
        self._dirty[key] = self._monotonic()
        if key not in self._active:
            self._order.push(key)
            if self._takers.futures:
                self._takers.wake_one()

    def add_after(self, key: K, seconds: float) -> None:
        """Ask for a visit in so many seconds, unless an earlier one is due; at or below 0 that is now."""
        self._delay(key, seconds, 0)

    def add_rate_limited(self, key: K) -> float:
        """Ask for a visit after the delay that the limiter says, and return the delay in seconds."""
        seconds = self.limiter.next(key)
        self._delay(key, seconds, self.limiter.failures(key))
        return seconds

    def _delay(self, key: K, seconds: float, failures: int) -> None:
        if self._closed:
            return
        self._delays += 1
        if not seconds > 0:
            self.add(key)
        elif key not in self._dirty:
            self._waiting.put(key, self._monotonic() + seconds)
        if self._observer is not None:
            self._observer(Delayed(self.name, key, seconds, failures))

    # Visits

    def take_nowait(self) -> "ReadyVisit[K]":
        """Return a block around one visit that does not wait: `with queue.take_nowait() as key`.

        Entering raises `QueueEmpty` when no key is ready, `QueueClosed` when none will come any more.
        """
        return ReadyVisit(self)

    def _check_open(self) -> None:
        """Raise `QueueClosed` once nothing is left that could be handed out."""
        if self._closed and not self._dirty:
            raise QueueClosed(f"the queue {self.name!r} is closed" if self.name else "the queue is closed")

    async def _wait_ready(self) -> None:
        """Wait until a key is ready; raises `QueueClosed`."""
        while not self._order:
            self._check_open()
            await self._takers.wait()

    # The end

    def close(self, *, drain: bool = True) -> None:
        """Take no more keys, and forget the waiting ones; takers get `QueueClosed` when there is nothing left for them.

        With `drain` the ready keys, and active ones that want another visit, are still handed out; without, no more.
        """
        self._closed = True
        self._waiting.clear()
        if not drain:
            self._dirty.clear()
            while self._order:
                self._order.pop()
        if not self._dirty:
            self._takers.wake_all()
        if self.idle:
            self._idlers.wake_all()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    @property
    def idle(self) -> bool:
        """Whether no key is ready or active; keys may be waiting."""
        return not self._dirty and not self._active

    async def wait_idle(self) -> None:
        """Wait until no key is ready or active."""
        await self._wait_until(lambda: self.idle)

    async def wait_drained(self) -> None:
        """Wait until the queue is closed, everything is handed out, and everything is let go."""
        await self._wait_until(lambda: self._closed and self.idle)

    async def _wait_until(self, reached: Callable[[], bool]) -> None:
        while not reached():
            await self._idlers.wait()

    # What can be seen

    def __len__(self) -> int:
        """Count the ready keys."""
        return len(self._order)

    def active(self) -> list[K]:
        """Return the keys that are being visited, the longest running first."""
        return list(self._active)

    def statistics(self) -> QueueStatistics:
        """Return the queue's figures at this moment."""
        now = self._monotonic()
        ages = [now - since for since, _ in self._active.values()]
        return QueueStatistics(
            ready=len(self._order),
            waiting=len(self._waiting),
            active=len(self._active),
            adds=self._adds,
            delays=self._delays,
            visits=self._visits,
            oldest_active=max(ages, default=0.0),
            unfinished=sum(ages),
            closed=self._closed,
        )


class Visit(msgspec.Struct, Generic[K], gc=False):
    """The block around one visit of one key; see `WorkQueue.take`. Good for one use."""

    _queue: WorkQueue[K]
    _key: Any = None

    async def __aenter__(self) -> K:
        """Wait for a key, and make it active in one step with its leaving the order. There is no await after that."""
        queue = self._queue
        dirty, active = queue._dirty, queue._active
        if len(dirty) <= len(active):  # else one that is dirty is not active: it is ready
            await queue._wait_ready()
        key = self._key = queue._order.pop()
        now = queue._monotonic()
        active[key] = (now, now - dirty.pop(key))
        if queue._closed and not dirty:
            queue._takers.wake_all()
        return key

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the key go; it is ready again if the block was cancelled. There is no await."""
        queue, key = self._queue, self._key
        dirty, active = queue._dirty, queue._active
        since, waited = active.pop(key)
        queue._visits += 1
        if key in dirty:
            queue._order.push(key)
            queue._takers.wake_one()
        elif kind is not None and issubclass(kind, asyncio.CancelledError):
            queue.add(key)
        if queue._idlers.futures and queue.idle:
            queue._idlers.wake_all()
        if queue._observer is not None:
            queue._observer(Visited(queue.name, key, waited, queue._monotonic() - since))


class ReadyVisit(Generic[K]):
    """The block around one visit of a key that is ready already; see `WorkQueue.take_nowait`. Good for one use."""

    def __init__(self, queue: WorkQueue[K]) -> None:
        """Visit the queue's next key."""
        self._queue = queue
        self._visit = queue.take()

    def __enter__(self) -> K:
        """Make the next ready key active."""
        if not self._queue._order:
            self._queue._check_open()
            raise QueueEmpty("no key is ready")
        return _at_once(self._visit.__aenter__())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the key go; it is ready again if the block was cancelled."""
        _at_once(self._visit.__aexit__(kind, error, trace))


def _at_once(steps: Coroutine[Any, None, T]) -> T:
    """Run what has nothing to wait for."""
    try:
        steps.send(None)
    except StopIteration as end:
        return cast("T", end.value)
    raise AssertionError("expected a visit of a ready key to wait for nothing")
