"""By what right, and until when, a process has a shard's segment of the cache."""

import msgspec

from controllers.entries import Origin
from controllers.holding import GIVEN_UP_AFTER, UNPROVEN_FOR, Finder, Holder
from controllers.legacy import Legacy
from informers.clock import Clock


class Tenure:
    """One process' hold of one segment, by its own monotonic clock."""

    def __init__(self, process: str, clock: Clock, last: Origin) -> None:
        """Begin without it; `last` says of which original the copy of the Shard was that was seen last, if any."""
        self.process = process
        self.holder: Holder | None = None
        """What this process wrote last; None before it has ever held the segment."""
        self._clock = clock
        self._last = last
        self._until = self._unproven_until = clock.monotonic()
        self._is_proven = False

    @property
    def held(self) -> bool:
        """Whether this process may write into the segment at this moment."""
        return self._clock.monotonic() < self._until

    def is_by_right(self, finder: Finder) -> bool:
        """Say whether it was this process' own for long enough, or that of an earlier one over the same store."""
        store, uid = finder.lineage.store, finder.uid
        is_last = bool(store and store == self._last.store) or bool(uid and uid == self._last.uid)
        return self._is_proven or is_last

    def begin(self, finder: Finder) -> None:
        """Have found it empty: unless it was ours before, that proves nothing yet."""
        now = self._clock.monotonic()
        self._unproven_until = now if self.is_by_right(finder) else now + UNPROVEN_FOR

    def next(self, finder: Finder, legacy: Legacy) -> Holder:
        """Return what to write now."""
        return Holder(
            finder.moment,
            self.process,
            self._clock.now(),
            inherited=legacy.since,
            uid=finder.uid,
            unproven=self._clock.monotonic() < self._unproven_until,
        )

    def written(self, holder: Holder) -> None:
        """Have it written that this process holds the segment."""
        self.holder = holder
        self._is_proven |= not holder.unproven

    def extend(self, began: float) -> None:
        """Hold it as of the moment at which the write began that says so."""
        self._until = began + GIVEN_UP_AFTER

    def end(self) -> None:
        """Hold it no more."""
        self._until = self._clock.monotonic()

    def released(self, finder: Finder, legacy: Legacy) -> Holder:
        """Return what to write when it is let go."""
        return msgspec.structs.replace(self.next(finder, legacy), released=True)
