"""Watches of one collection: opening them, following them, and knowing how they ended."""

from collections.abc import Callable
from contextlib import AbstractContextManager, AsyncExitStack
from random import Random
from typing import Generic, NoReturn, TypeVar

from informers.api.decoding import WatchEvent
from informers.api.errors import InformersError, ReadTimeout
from informers.cache.applying import Applier
from informers.cache.interrupt import Interrupt, watchdog
from informers.cache.policy import Policy
from informers.cache.pulse import Pulse
from informers.cache.recovery import Happened, Trouble, trouble_of
from informers.cache.slices import Slices
from informers.cache.source import Source
from informers.cache.states import OpenWatch
from informers.clock import Clock

T = TypeVar("T")

_EARLY = 2.0  # seconds by which an end on time may seem early: the server's clock starts before its answer is here
_MAY_BE_SHORT = frozenset(
    {Trouble.ENDED, Trouble.ENDED_ON_TIME, Trouble.UNEVENTFUL, Trouble.BROKEN, Trouble.SILENT, Trouble.BEHIND}
)


class Follower(Generic[T]):
    """Holds at most one watch, and applies what it brings."""

    def __init__(
        self, source: Source[T], applier: Applier[T], interrupt: Interrupt, *, clock: Clock, rng: Random, policy: Policy
    ) -> None:
        """Watch the source, apply events with the applier; a silent watch is ended through the interrupt."""
        self._source = source
        self._applier = applier
        self._interrupt = interrupt
        self._clock = clock
        self._rng = rng
        self._policy = policy
        self.pulse = Pulse(policy)
        self.watch: OpenWatch[T] | None = None
        """The watch that is open."""
        self._before = 0

    @property
    def brought(self) -> int:
        """How many events of objects the watch that is followed has brought."""
        return self._applier.applied - self._before

    async def open(self, rv: str, *, initial_events: bool = False) -> OpenWatch[T]:
        """Start a watch from the revision."""
        timeout = float(self._rng.randint(*self._policy.watch_timeout))
        closing = AsyncExitStack()
        limit = self._clock.monotonic() + self._policy.opening
        with self.guard(lambda: limit, self._unanswered):
            watch = self._source.watch_batches(rv=rv, timeout=timeout, initial_events=initial_events)
            batches = await closing.enter_async_context(watch)
        now = self.pulse.heard = self._clock.monotonic()
        self.watch = OpenWatch(batches, closing, now, timeout, self._source.lineage)
        return self.watch

    async def close(self) -> None:
        """Give the connection back, if there is one."""
        watch, self.watch = self.watch, None
        self.pulse.closed()
        if watch is not None:
            await watch.closing.aclose()

    async def follow(self, watch: OpenWatch[T]) -> NoReturn:
        """Apply what the watch brings; whatever ends it is raised, a regular end too."""
        self._before = self._applier.applied
        self.pulse.opened(self._clock.monotonic(), watch.opened + watch.timeout)
        try:
            with self.guard(self.pulse.deadline, self._silent):
                eventful = await self._apply_all(watch)
        except InformersError as error:
            ending = error
        else:
            ending = self._end(watch, eventful=eventful)
        lived = self._clock.monotonic() - watch.opened
        if lived < self._policy.short_watch and not self.brought and trouble_of(ending) in _MAY_BE_SHORT:
            raise Happened(Trouble.SHORT, f"expected a watch to last, found its end after {lived:.3f} s") from ending
        raise ending

    def guard(self, deadline: Callable[[], float], error: Callable[[], Exception]) -> AbstractContextManager[None]:
        """Interrupt the block with the error when it is still there at the deadline."""
        return watchdog(self._clock, deadline, lambda: self._interrupt.interrupt(error()))

    async def _apply_all(self, watch: OpenWatch[T]) -> bool:
        """Apply events until the watch ends; say whether there were any, bookmarks among them."""
        slices = Slices(self._policy.slice)
        self._apply_batch(watch.pending)
        eventful = False
        async for batch in watch.batches:
            eventful = True
            self.pulse.heard = self._clock.monotonic()
            self._apply_batch(batch)
            if slices.over():
                await slices.turn()
        return eventful

    def _apply_batch(self, batch: list[WatchEvent[T]]) -> None:
        """Apply events without an await in between."""
        seen = self._applier.seen
        before = seen["BOOKMARK"]
        self._applier.apply(batch)
        if seen["BOOKMARK"] != before:
            self.pulse.bookmark(self._clock.monotonic())

    def _unanswered(self) -> Exception:
        return ReadTimeout(f"expected an answer to a watch, found none in {self._policy.opening:.0f} s")

    def _silent(self) -> Exception:
        silence = self._clock.monotonic() - (self.pulse.heard or 0.0)
        return ReadTimeout(f"expected a watch to bring something or to end, found {silence:.0f} s of silence")

    def _end(self, watch: OpenWatch[T], *, eventful: bool) -> Happened:
        lived = self._clock.monotonic() - watch.opened
        trouble = Trouble.ENDED_ON_TIME if eventful else Trouble.UNEVENTFUL
        if lived < watch.timeout - min(_EARLY, watch.timeout / 10):
            trouble = Trouble.ENDED
        return Happened(trouble, f"the server ended the watch after {lived:.0f} of {watch.timeout:.0f} s")
