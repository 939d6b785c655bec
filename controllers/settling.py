"""Removals that have to settle: what is leaving goes once nothing has spoken against it for a while.

That is, for `seconds` it has not come back; no other shard has an object of that cluster and name; and the collection
is still served: its informer follows a watch, and the server, asked now, answers in the same history.
"""

from asyncio import Event
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from controllers.entries import Entry, Place, State
from controllers.feeding import Feed
from informers.api.errors import InformersError
from informers.api.histories import Lineage
from informers.clock import Clock, Timer

_PAUSE = 2.0
"""Seconds between two questions to a server that does not answer."""


class _Leaving(msgspec.Struct):
    entry: Entry
    due: float
    number: int


class Answered(msgspec.Struct, frozen=True):
    """The collection is served, as it was asked for on behalf of these."""

    feed: Feed
    leaving: tuple[tuple[Entry, int], ...]
    """Each with the history, as its informer counts them, in which the evidence was seen."""
    lineage: Lineage
    revision: str


class Settling:
    """Watches over what is leaving; `settled` is told of each answer, and has the last word."""

    def __init__(
        self,
        seconds: float,
        clock: Clock,
        *,
        has_twin: Callable[[Entry], bool],
        settled: Callable[[Answered], None],
    ) -> None:
        """Begin with nothing."""
        self._seconds = seconds
        self._clock = clock
        self._has_twin = has_twin
        self._settled = settled
        self._leaving: dict[Place, _Leaving] = {}
        self._wake = Event()
        self._timer: Timer | None = None

    def note(self, place: Place, entry: Entry | None, number: int) -> None:
        """Take note of what an entry is now."""
        if entry is None or entry.state is not State.LEAVING:
            self._leaving.pop(place, None)
        else:
            self._leaving[place] = _Leaving(entry, self._clock.monotonic() + self._seconds, number)

    def look(self) -> None:
        """Look again: something has changed that may matter."""
        if self._leaving:
            self._wake.set()

    @property
    def pending(self) -> bool:
        """Whether something will come of what is leaving, without anything else happening."""
        return any(not self._has_twin(one.entry) for one in self._leaving.values())

    async def run(self, feeds: Sequence[Feed]) -> None:
        """Ask for all that is due, until cancelled."""
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                now = self._clock.monotonic()
                for feed in feeds:
                    await self._ask(feed, now)
                self._set_timer(now)
        finally:
            if self._timer is not None:
                self._timer.cancel()

    async def _ask(self, feed: Feed, now: float) -> None:
        found = list(self._due(feed, now))
        if not found:
            return
        if feed.processed and feed.informer.live:
            try:
                lineage, revision = await feed.ask()
            except InformersError:
                pass  # it is not served, or not to us: asked again after the pause
            else:
                self._settled(Answered(feed, tuple((one.entry, one.number) for one in found), lineage, revision))
        self._postpone(found)

    def _due(self, feed: Feed, now: float) -> Iterator[_Leaving]:
        for place, one in self._leaving.items():
            is_of_feed = (place.kind, place.source) == (feed.kind, feed.source)
            if is_of_feed and one.due <= now and not self._has_twin(one.entry):
                yield one

    def _postpone(self, found: Iterable[_Leaving]) -> None:
        """Come back to those that have not gone by the answer."""
        for one in found:
            one.due = self._clock.monotonic() + _PAUSE

    def _set_timer(self, now: float) -> None:
        """Come back to what was not due at that moment, be it since: timers may go off a little early."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if later := [one.due for one in self._leaving.values() if one.due > now]:
            self._timer = self._clock.call_at(min(later), self._wake.set)
