"""When controllers are told of what has changed: at once, but of mere losses only once they have stood for a while.

A cache that comes back empty is filled again within seconds. To write into every slice that its endpoints are held, and
to take that back, would be two writes a slice for nothing, at the moment when everybody has most to do.
"""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from controllers.entries import Entry, Place, Reference, State
from controllers.publishing import SeenShard, Shards
from controllers.sightings import references
from informers.clock import Clock, Timer

Tell = Callable[[bool, frozenset[Reference]], None]
"""Whether Shards have changed, and what slices may reference exports by of which something has."""


class Telling:
    """Decides when to tell. A loss is an entry that was present, and is held as it was; nothing else waits."""

    def __init__(
        self,
        seconds: float,
        clock: Clock,
        *,
        tell: Tell,
        known: Callable[[Place], Entry | None],
        waited: Callable[[], None],
    ) -> None:
        """Tell of losses that stand for so many seconds; `known` gives what is known of a place then.

        `waited` is called after such a time, whatever came of it.
        """
        self._seconds = seconds
        self._clock = clock
        self._tell = tell
        self._known = known
        self._waited = waited
        self._told: Shards | None = None
        self._shards: Shards | None = None
        self._lost: set[Place] = set()
        self._timer: Timer | None = None

    @property
    def pending(self) -> bool:
        """Whether there are losses that nobody was told of yet."""
        return self._timer is not None

    def changed(
        self, before: Mapping[Place, Entry | None], after: Mapping[Place, Entry | None], extra: Iterable[Reference]
    ) -> None:
        """Tell of exports, by the entries before and after a change, and what else references them; losses wait."""
        lost = {place for place, entry in after.items() if _is_lost(before[place], entry)}
        pairs = {
            pair for place in after.keys() - lost for one in (before[place], after[place]) for pair in references(one)
        }
        pairs.update(extra)
        self._lost = (self._lost - after.keys()) | lost
        if pairs:
            self._tell(False, frozenset(pairs))
        if lost:
            self._wait()

    def shards(self, now: Shards, *, is_new: bool) -> None:
        """Tell of Shards as they are now; `is_new`: something else that concerns all of them has changed as well."""
        told, self._shards = self._told, now
        if not is_new and told is not None and _differ_by_losses(told.seen, now.seen):
            self._wait()
        elif is_new or told is None or told.seen != now.seen:
            self._told = now
            self._tell(True, frozenset())

    def stop(self) -> None:
        """Tell nothing more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self._clock.call_at(self._clock.monotonic() + self._seconds, self._due)

    def _due(self) -> None:
        self._timer = None
        lost = [entry for place in self._lost if (entry := self._known(place)) and entry.state is State.HELD]
        self._lost.clear()
        has_changed = self._shards is not None and self._told is not None and self._shards.seen != self._told.seen
        self._told = self._shards
        pairs = frozenset(pair for entry in lost for pair in references(entry))
        self._tell(has_changed, pairs)
        self._waited()


def _is_lost(before: Entry | None, after: Entry | None) -> bool:
    if before is None or after is None or (before.state, after.state) != (State.PRESENT, State.HELD):
        return False
    return before.what == after.what


def _differ_by_losses(told: tuple[SeenShard, ...], now: tuple[SeenShard, ...]) -> bool:
    """Say whether some that were there are held as they were, and nothing else is different."""
    pairs = zip(told, now, strict=False)
    return told != now and len(told) == len(now) and all(one in (other, _there(other, one)) for one, other in pairs)


def _there(shard: SeenShard, before: SeenShard) -> SeenShard:
    return (
        msgspec.structs.replace(shard, held_since=before.held_since, why=before.why) if not before.held_since else shard
    )
