"""How long to wait before the next attempt, when attempts keep failing."""

from random import Random

from informers.clock import Clock


class Backoff:
    """Doubles its delays up to a cap, and starts over after a time without failures.

    The defaults are client-go's reflector's: 0.8 s, 1.6 s … 30 s, each multiplied by a random number in [1, 2), so that
    the steady state is 30 to 60 s; back to the start when it was not asked for two minutes.
    """

    def __init__(
        self,
        clock: Clock,
        rng: Random,
        *,
        base: float = 0.8,
        cap: float = 30.0,
        reset_after: float = 120.0,
    ) -> None:
        """Take the first and the longest delay before chance is added, in seconds."""
        self._clock = clock
        self._rng = rng
        self._base = base
        self._cap = cap
        self._reset_after = reset_after
        self._delay = base
        self._asked = clock.monotonic()

    def next(self) -> float:
        """Return the seconds to wait now."""
        now = self._clock.monotonic()
        if now - self._asked > self._reset_after:
            self._delay = self._base
        self._asked = now
        delay, self._delay = self._delay, min(self._delay * 2, self._cap)
        return delay * (1 + self._rng.random())

    def reset(self) -> None:
        """Start over: an attempt has succeeded."""
        self._delay = self._base
