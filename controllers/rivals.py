"""Another process that has a shard's segment, or had it just now: watched for whether it is still there."""

from collections.abc import Callable
from typing import Any

import msgspec

from controllers.holding import SILENT_AFTER, Holder, holder_of
from informers.api.errors import ConfigurationError
from informers.api.objects import Object
from informers.clock import Clock


class Waiting(msgspec.Struct, frozen=True):
    """Told when another process is watched from now on, before anything is written into the segment."""

    shard: str
    seconds: float
    """For how long, if it shows no life."""
    has_stopped: bool
    """Whether it has said so, or may be there still."""
    url: str = ""
    """Where it is, or was, as the copy of its Shard says."""


class Watched:
    """Another's segment, watched for whether somebody is there; only uninterrupted sight of it counts."""

    def __init__(self, holder: Holder | None, now: float) -> None:
        """Begin with what it showed first, by the watcher's monotonic clock."""
        self._holder = holder
        self._since: float | None = now

    def shows_life(self, holder: Holder | None) -> bool:
        """Say whether what it shows now was written since."""
        return holder is not None and holder != self._holder

    def silence(self, now: float) -> float:
        """Return for how many seconds nothing has happened, up to now, when it is in sight."""
        if self._since is None:
            self._since = now
        return now - self._since

    def remaining(self, now: float) -> float:
        """Return for how many seconds it has still to be in sight, and do nothing."""
        return SILENT_AFTER if self._since is None else max(0.0, SILENT_AFTER - (now - self._since))

    def lose_sight(self) -> None:
        """Count from anew: it could not be seen, nor perhaps written to."""
        self._since = None


class Rivals:
    """Whoever else there may be of one shard's name.

    Whether it stopped in order makes no difference: it may be about to start again, and has the name until it does not.
    """

    def __init__(self, shard: str, clock: Clock, observe: Callable[[Any], None]) -> None:
        """Begin without any; `observe` is told of each that turns up."""
        self._shard = shard
        self._clock = clock
        self._observe = observe
        self._watched: Watched | None = None

    @property
    def are_watched(self) -> bool:
        """Whether one is watched now."""
        return self._watched is not None

    def is_silent(self, copy: Object[Any]) -> bool:
        """Say whether the holder of the segment with this copy of the Shard was watched for long enough.

        Raises `ConfigurationError` when it turns out to be there.
        """
        now, holder = self._clock.monotonic(), holder_of(copy)
        where = str(copy.at("spec", "baseURL", default="an unknown URL"))
        if self._watched is None:
            self._watched = Watched(holder, now)
            self._observe(Waiting(self._shard, SILENT_AFTER, holder is not None and holder.released, where))
        elif self._watched.shows_life(holder):
            raise ConfigurationError(
                f"expected to be the only shard named {self._shard!r}, found another one at {where} in the cache; "
                "give this one a name of its own with --shard-name"
            )
        return self._watched.silence(now) >= SILENT_AFTER

    @property
    def remaining(self) -> float | None:
        """For how many seconds one has still to be silent, in sight; None where none is watched."""
        return None if self._watched is None else self._watched.remaining(self._clock.monotonic())

    def may_return(self) -> bool:
        """Say whether one that was watched may come back first to a segment that is empty now."""
        return self._watched is not None and self._watched.silence(self._clock.monotonic()) < SILENT_AFTER

    def lose_sight(self) -> None:
        """Learn that the segment cannot be seen."""
        if self._watched is not None:
            self._watched.lose_sight()

    def forget(self) -> None:
        """Watch nobody: the segment is this process' own."""
        self._watched = None
