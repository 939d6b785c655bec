"""How the shard view begins: when all that was known has been looked for, and when controllers may start."""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from controllers.entries import Place
from controllers.evidence import Missing
from controllers.feeding import Feed
from informers.api.errors import NotSynced
from informers.cache.gate import Gate
from informers.cache.slices import Slices
from informers.clock import Clock
from informers.tasks import first


class Beginning:
    """The first state of all feeds, until it is known; then it has nothing to do any more."""

    def __init__(
        self, known: Iterable[Place], clock: Clock, patience: float, *, is_complete: Callable[[], bool]
    ) -> None:
        """Look for these places, which are known from an earlier life; wait for the cache for `patience` seconds.

        The wait ends when the first contact with the cache fails. Nothing is waited for that `is_complete` already.
        """
        self.ready = Gate()
        """Opens once controllers may begin."""
        self._unconfirmed = {place for place in known if not place.former}
        self._clock = clock
        self._patience = patience
        self._is_complete = is_complete
        self._slices = Slices()
        self._is_hurried = False

    def confirm(self, place: Place) -> None:
        """Learn that a place has been heard of in this life."""
        self._unconfirmed.discard(place)

    def jobs(
        self, feeds: Sequence[Feed], *, hear: Callable[[Missing], None], tell: Callable[[Feed], None]
    ) -> Iterator[Coroutine[Any, Any, None]]:
        """Yield what has to run: each feed is told of once all is heard of that its first state does not show."""
        yield self._hurry(feeds)
        for feed in feeds:
            yield self._await_first_state(feed, hear, tell)

    async def _await_first_state(
        self, feed: Feed, hear: Callable[[Missing], None], tell: Callable[[Feed], None]
    ) -> None:
        assert feed.registration is not None  # a feed is registered where it is made
        with suppress(NotSynced):  # a stop comes together with the cancellation, and of the two the error would win
            await feed.registration.wait_synced()
            for place in [one for one in self._unconfirmed if (one.kind, one.source) == (feed.kind, feed.source)]:
                if place in self._unconfirmed and (missing := feed.missing(place)) is not None:
                    hear(missing)
                self._unconfirmed.discard(place)
                if self._slices.over():
                    await self._slices.turn()
            tell(feed)

    async def _hurry(self, feeds: Sequence[Feed]) -> None:
        """Let controllers begin without the cache once it has been waited for."""
        failures = (feed.failed.wait() for feed in feeds if feed.source == "cache")
        await first(self._clock.sleep(self._patience), *failures)
        self._is_hurried = True
        self.open_when_ready(feeds)

    def open_when_ready(self, feeds: Sequence[Feed]) -> None:
        """Let controllers begin if the local store is known, and either everything or nothing to wait for is."""
        is_local_known = all(feed.processed for feed in feeds if feed.source == "local")
        if is_local_known and (self._is_complete() or self._is_hurried):
            self.ready.open()
