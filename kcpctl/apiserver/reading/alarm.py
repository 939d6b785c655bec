"""When a watch has something to do although nothing happens: bookmarks, and its end."""

from collections.abc import Callable
from math import inf

from informers.clock import Clock, Timer

BOOKMARK_EVERY = 60.0
"""Seconds between bookmarks."""

BOOKMARK_BEFORE_END = 2.0
"""Seconds before its end at which a watch gets one more bookmark, so that its client can go on from there."""


class Alarm:
    """The times that one watch waits for; one timer runs, for the nearest of them."""

    def __init__(self, clock: Clock, seconds: float, *, bookmarks: bool, ring: Callable[[], None]) -> None:
        """Start now: have `ring` called when a time has come; the next one is arranged for by `bookmark_due`."""
        self._clock = clock
        self._ring = ring
        self._end = clock.monotonic() + seconds
        self._bookmark = self._next_bookmark() if bookmarks else inf
        self._timer = self._set()

    @property
    def is_over(self) -> bool:
        """Whether the watch has lasted long enough."""
        return self._clock.monotonic() >= self._end

    def bookmark_due(self) -> bool:
        """Say whether it is time for a bookmark; if so, the next one is arranged for."""
        if self._clock.monotonic() < self._bookmark:
            return False
        self._bookmark = self._next_bookmark()
        self._timer.cancel()
        self._timer = self._set()
        return True

    def stop(self) -> None:
        """Ring no more."""
        self._timer.cancel()

    def _next_bookmark(self) -> float:
        now = self._clock.monotonic()
        last = self._end - BOOKMARK_BEFORE_END
        return min(now + BOOKMARK_EVERY, last) if now < last else inf

    def _set(self) -> Timer:
        return self._clock.call_at(min(self._bookmark, self._end), self._ring)
