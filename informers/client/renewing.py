"""Values that must be had anew from time to time: tokens, certificates, what files hold."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Generic, TypeVar

import msgspec

from informers.api.errors import ConfigurationError, TransportError
from informers.client.single import SingleFlight
from informers.clock import Clock, SystemClock

T = TypeVar("T")

RETRY_AFTER = 2.0
"""Seconds to the next attempt after one that failed while the old value is still good."""
SYSTEM_CLOCK = SystemClock()


class Renewal(msgspec.Struct, Generic[T], frozen=True):
    """A value as it was had."""

    value: T
    renew_in: float = float("inf")
    """Seconds after which to have it anew."""
    expires_at: datetime | None = None
    """When it stops being good; None where that is not known."""


class Renewing(Generic[T]):
    """Has a value when it is first asked for, and anew when that is due.

    Invariants: at most one renewal runs at a time, whoever asks meanwhile shares its outcome; while none is due, `get`
    returns the same value without waiting; a renewal that fails goes unnoticed only as long as the old value has
    neither expired nor been refused; a value whose renewal began before it was refused is had once more. A renewal goes
    on when those who wait for it are cancelled; `aclose` ends it.
    """

    def __init__(self, renew: Callable[[], Awaitable[Renewal[T]]], clock: Clock = SYSTEM_CLOCK) -> None:
        """Take what has the value; it raises `ConfigurationError` or `TransportError`."""
        self._renew = renew
        self._clock = clock
        self._current: Renewal[T] | None = None
        self._due_at = float("-inf")
        self._refused = False
        self._refusals = 0
        self._flight = SingleFlight(self._renewed)

    @property
    def expires_at(self) -> datetime | None:
        """When the value at hand stops being good."""
        return self._current.expires_at if self._current else None

    async def get(self) -> T:
        """Return the value; may wait for its renewal, and raises what that raises."""
        if self._current is None or self._refused or self._is_due() or self._has_expired(self._current):
            renewal = await self._flight()
            if self._refused:  # while that renewal ran: what it brings may be what was refused
                renewal = await self._flight()
            return renewal.value
        return self._current.value

    def invalidate(self) -> None:
        """Note that the value was refused: the next `get` has it anew."""
        self._refused = True
        self._refusals += 1

    async def aclose(self) -> None:
        """End the renewal under way."""
        await self._flight.aclose()

    async def _renewed(self) -> Renewal[T]:
        old, refused, refusals = self._current, self._refused, self._refusals
        try:
            new = await self._renew()
        except (ConfigurationError, TransportError):
            if old is None or refused or self._has_expired(old):
                raise
            self._due_at = self._clock.monotonic() + RETRY_AFTER
            return old
        self._current = new
        self._refused = self._refusals != refusals
        self._due_at = self._clock.monotonic() + new.renew_in
        return new

    def _is_due(self) -> bool:
        return self._clock.monotonic() >= self._due_at

    def _has_expired(self, renewal: Renewal[T]) -> bool:
        return renewal.expires_at is not None and self._clock.now() >= renewal.expires_at


def before(expires_at: datetime, now: datetime, *, ahead: float = 30.0) -> float:
    """Return in how many seconds to renew what expires then: `ahead` seconds early, at most a fifth of what is left."""
    left = (expires_at - now).total_seconds()
    return left - min(ahead, left / 5)
