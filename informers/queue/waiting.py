"""Waiting keys: one heap of times, one timer, no task a key."""

from collections.abc import Callable, Hashable
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Generic, TypeVar

from informers.clock import Clock, Timer

K = TypeVar("K", bound=Hashable)

_LONGEST_TIMER = 86_400.0  # seconds; loops refuse far or infinite times, so a later one is reached in several steps
_FEW = 64


class Waiting(Generic[K]):
    """Keys that become due at a time; each calls `came_due` once, with the loop's timers.

    Invariants: a key has one time, the earliest it was put for since it was last dropped or came due. While keys wait,
    a timer is armed no later than the earliest of their times. The heap may also hold times that no longer count, but
    not more of them than there are keys, plus `_FEW`.
    """

    __slots__ = ("_armed_for", "_came_due", "_clock", "_heap", "_number", "_timer", "times")

    def __init__(self, clock: Clock, came_due: Callable[[K], None]) -> None:
        self._clock = clock
        self._came_due = came_due
        self.times: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._number = count()  # breaks ties: keys need not be comparable
        self._timer: Timer | None = None
        self._armed_for = 0.0

    def __len__(self) -> int:
        """Count the waiting keys."""
        return len(self.times)

    def put(self, key: K, due: float) -> None:
        """Let the key wait until `due` (monotonic seconds), unless it is due earlier already."""
        known = self.times.get(key)
        if known is not None:
            if known <= due:
                return
            del self.times[key]  # so that the dict stays in the order of asking
        self.times[key] = due
        heappush(self._heap, (due, next(self._number), key))
        self._compact()
        self._arm()

    def drop(self, key: K) -> None:
        """Forget the key's time, if it has one."""
        if self.times.pop(key, None) is None:
            return
        if self.times:
            self._compact()
        else:
            self.clear()

    def clear(self) -> None:
        """Forget all keys, and disarm the timer."""
        self.times.clear()
        self._heap.clear()
        self._disarm()

    def _arm(self) -> None:
        """Arm the timer for the earliest time that counts."""
        heap = self._heap
        while heap and self.times.get(heap[0][2]) != heap[0][0]:
            heappop(heap)
        if not heap:
            self._disarm()
            return
        when = min(heap[0][0], self._clock.monotonic() + _LONGEST_TIMER)
        if self._timer is not None and self._armed_for <= when:
            return
        self._disarm()
        self._timer = self._clock.call_at(when, self._fire)
        self._armed_for = when

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self._timer = None
        now = self._clock.monotonic()
        while self._heap and self._heap[0][0] <= now:
            due, _, key = heappop(self._heap)
            if self.times.get(key) == due:
                del self.times[key]
                self._came_due(key)
        self._arm()

    def _compact(self) -> None:
        """Rebuild the heap when most of it no longer counts, so that its size stays in proportion to the keys."""
        if len(self._heap) > 2 * len(self.times) + _FEW:
            self._heap = [(due, next(self._number), key) for key, due in self.times.items()]
            heapify(self._heap)
