"""Rate limiters: how long a key waits before it is tried again."""

import math
import random
import time
from collections.abc import Callable, Hashable
from typing import Protocol


class RateLimiter(Protocol):
    """Says how long a key waits, from what happened to it so far."""

    def next(self, key: Hashable) -> float:
        """Count one more failure of the key, and return the seconds it has to wait."""
        ...

    def forget(self, key: Hashable) -> None:
        """Drop what is known of the key: it has succeeded, or will never come again."""
        ...

    def failures(self, key: Hashable) -> int:
        """Return how often `next` was asked for the key since it was last forgotten."""
        ...


_MANY_DOUBLINGS = 512
"""More than any cap needs, fewer than a float can bear."""


class Exponential:
    """Doubles a key's delay with each of its failures; keys do not influence each other.

    The defaults are controller-runtime's: 5 ms, 10 ms, 20 ms … 1000 s. Holds one number a failing key.
    """

    def __init__(
        self,
        *,
        base: float = 0.005,
        cap: float = 1000.0,
        jitter: float = 0.0,
        rng: random.Random | None = None,
    ) -> None:
        """Take the first and the longest delay in seconds.

        `jitter` is the share of each delay, from 0 to 1, that is left to chance: with 0.2 a delay of 10 s becomes one
        between 8 and 10 s.
        """
        if not (0 < base <= cap < math.inf and 0 <= jitter <= 1):
            raise ValueError(
                f"expected 0 < base <= cap < inf and 0 <= jitter <= 1, found base={base}, cap={cap}, jitter={jitter}"
            )
        self._base = base
        self._cap = cap
        self._jitter = jitter
        self._random = (rng or random.Random()).random
        self._failures: dict[Hashable, int] = {}

    def next(self, key: Hashable) -> float:
        """Return base · 2ⁿ seconds, n the key's failures before this one, and no more than the cap."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay = min(math.ldexp(self._base, min(failures, _MANY_DOUBLINGS)), self._cap)
        return delay * (1 - self._jitter * self._random()) if self._jitter else delay

    def forget(self, key: Hashable) -> None:
        """Let the key's next failure be its first."""
        self._failures.pop(key, None)

    def failures(self, key: Hashable) -> int:
        """Return the key's failures since it was last forgotten."""
        return self._failures.get(key, 0)


class TokenBucket:
    """Spreads all keys together: `burst` at once, then `rate` a second. It counts no failures."""

    def __init__(
        self, *, rate: float = 10.0, burst: int = 100, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Take tokens a second and the most that are saved up; the defaults are client-go's. It begins full."""
        if not (0 < rate < math.inf and burst >= 1):
            raise ValueError(f"expected rate > 0 and burst >= 1, found rate={rate}, burst={burst}")
        self._rate = rate
        self._burst = float(burst)
        self._monotonic = monotonic
        self._tokens = self._burst
        self._filled_at = monotonic()

    def next(self, key: Hashable) -> float:
        """Reserve one token, and return the seconds until it is there."""
        now = self._monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._rate) - 1
        self._filled_at = now
        return max(0.0, -self._tokens / self._rate)

    def forget(self, key: Hashable) -> None:
        """Do nothing: tokens belong to no key."""

    def failures(self, key: Hashable) -> int:
        """Return 0: failures are not counted here."""
        return 0


class Slowest:
    """Asks several limiters, and takes the longest of their delays.

    `Slowest(Exponential(), TokenBucket())` is client-go's default for controllers.
    """

    def __init__(self, *limiters: RateLimiter) -> None:
        """Take at least one limiter."""
        if not limiters:
            raise ValueError("expected at least one rate limiter, found none")
        self._limiters = limiters

    def next(self, key: Hashable) -> float:
        """Return the longest delay; every limiter counts the failure."""
        return max([limiter.next(key) for limiter in self._limiters])

    def forget(self, key: Hashable) -> None:
        """Let every limiter forget the key."""
        for limiter in self._limiters:
            limiter.forget(key)

    def failures(self, key: Hashable) -> int:
        """Return the largest count of all limiters."""
        return max(limiter.failures(key) for limiter in self._limiters)
