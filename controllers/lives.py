"""Which shards live, as far as the leases of their segments show to somebody who watches them."""

from datetime import datetime
from enum import Enum
from typing import Any

import msgspec

from controllers.holding import RENEWED_EVERY, SILENT_AFTER, Holder, holder_of
from controllers.kinds import Shard
from controllers.names import ROOT
from informers.cache import facts
from informers.cache.informer import SharedInformer
from informers.cache.notices import Notice
from informers.clock import Clock, SystemClock

_SYSTEM = SystemClock()
_PULSE = 2 * RENEWED_EVERY + 1.0
"""Seconds within which our own renewals come back from a cache server that works."""


class Sign(Enum):
    """What the lease of a shard's segment shows."""

    SELF = "self"
    """It is this process' own."""
    ALIVE = "alive"
    """It was renewed just now."""
    SILENT = "silent"
    """It has been watched for long enough, and was not renewed."""
    STOPPED = "stopped"
    """It was released, by a stop in order."""
    UNSURE = "unsure"
    """It has not been watched for long enough."""
    NONE = "no lease"
    """Nobody holds one, nor has anybody been seen to."""


class Life(msgspec.Struct, frozen=True):
    """What can be said of one shard at one moment."""

    sign: Sign
    seen: datetime | None = None
    """When it was seen to live last; None where that was before anybody watched."""
    watched: float = 0.0
    """For how many seconds nothing has been seen of it, by our own clock."""


class _Seen(msgspec.Struct):
    """The lease of one segment."""

    holder: Holder | None
    changed: float | None = None
    """When it was seen to change last, by our monotonic clock; None where it never was."""
    last: datetime | None = None
    """The same moment, for people."""


class Lives:
    """Watches the leases of all segments; an observer, to know while they cannot be seen.

    Only uninterrupted sight counts: a shard that cannot reach the cache either is not silent of its own. A process that
    renews a lease itself sees by that whether the cache works: one that is frozen breaks no connection for a minute.
    """

    def __init__(self, home: str, clock: Clock = _SYSTEM, *, renews: bool = True) -> None:
        """Begin without any; `home` is the shard that this process is, and `renews` whether it holds a lease."""
        self._home = home
        self._renews = renews
        self._own: float | None = None
        self._clock = clock
        self._informer: SharedInformer[Shard] | None = None
        self._seen: dict[str, _Seen] = {}
        self._sight: float | None = None

    def feed(self, copies: SharedInformer[Shard]) -> None:
        """Watch the leases on these copies; they must not be followed yet."""
        self._informer = copies
        copies.add_handler(self._hear, name="lives")

    def of(self, shard: str) -> Life:
        """Say whether the holder of a shard's segment lives.

        A segment that holds no copy of its Shard is one that nobody renews, as soon as that was seen for long enough.
        """
        if shard == self._home:
            return Life(Sign.SELF, self._clock.now())
        seen = self._seen.get(shard)
        if seen is not None and seen.holder is None:
            return Life(Sign.NONE, seen.last)
        last = seen.last if seen is not None else None
        if seen is not None and seen.holder is not None and seen.holder.released:
            return Life(Sign.STOPPED, last)
        watched = self._watched(seen)
        if watched >= SILENT_AFTER:
            return Life(Sign.SILENT, last, watched)
        return Life(Sign.ALIVE if self._is_recent(seen) else Sign.UNSURE, last, watched)

    def _watched(self, seen: _Seen | None) -> float:
        """Return for how many seconds nothing has been seen of it, in uninterrupted sight up to now."""
        if not self._is_in_sight or self._sight is None:
            return 0.0
        since = self._sight if seen is None or seen.changed is None else max(self._sight, seen.changed)
        return self._clock.monotonic() - since

    @property
    def _is_in_sight(self) -> bool:
        if self._informer is None or not self._informer.live:
            return False
        return not self._renews or (self._own is not None and self._clock.monotonic() - self._own < _PULSE)

    def _is_recent(self, seen: _Seen | None) -> bool:
        if seen is None or seen.changed is None:
            return False
        return self._clock.monotonic() - seen.changed < SILENT_AFTER

    # What it sees

    def _hear(self, notice: Notice[Any]) -> None:
        key, copy = notice.key, notice.new
        if (key.cluster, key.name) != (ROOT, key.shard) or copy is None:
            return  # of a copy that went it is still known when its shard was seen to live
        if key.shard == self._home:
            self._feel_pulse()
        holder, seen = holder_of(copy), self._seen.get(key.shard)
        if seen is None:
            self._seen[key.shard] = _Seen(holder)
        elif holder != seen.holder:
            self._seen[key.shard] = _Seen(holder, self._clock.monotonic(), self._clock.now())

    def _feel_pulse(self) -> None:
        """Note that our own renewal came through; what was not seen for longer than that takes begins anew."""
        now = self._clock.monotonic()
        if self._own is None or now - self._own >= _PULSE:
            self._sight = now
        self._own = now

    def notice(self, fact: Any) -> None:
        """Note since when the copies are in sight."""
        if self._informer is None or getattr(fact, "origin", None) != self._informer.origin:
            return
        if isinstance(fact, facts.Backed):
            self._sight = None
        elif isinstance(fact, facts.WatchStarted) and self._sight is None:
            self._sight = self._clock.monotonic()
