"""What observers of a queue are told."""

from typing import Generic, TypeVar

import msgspec

K = TypeVar("K")


class Visited(msgspec.Struct, Generic[K], frozen=True, gc=False):
    """One key was handed out and let go."""

    queue: str
    key: K
    waited: float
    """Seconds from the moment it became ready until it was handed out."""
    took: float
    """Seconds until it was let go."""


class Delayed(msgspec.Struct, Generic[K], frozen=True, gc=False):
    """One key is to be ready later."""

    queue: str
    key: K
    seconds: float
    failures: int
    """As the rate limiter counts them; 0 where the delay was asked for."""


class QueueStatistics(msgspec.Struct, frozen=True):
    """A queue at one moment."""

    ready: int
    waiting: int
    active: int
    adds: int
    """Keys that became ready, each as often as it did; adds of a key that was ready already do not count."""
    delays: int
    """Calls that asked for a key to be ready later."""
    visits: int
    oldest_active: float
    """Seconds that the longest running visit has lasted; 0 without one."""
    unfinished: float
    """Seconds of all running visits together."""
    closed: bool
