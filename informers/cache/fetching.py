"""The whole state of a collection, fetched as a stream of events or as a list."""

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from informers.api.decoding import Page
from informers.api.errors import DecodeError
from informers.api.histories import Lineage
from informers.api.objects import Key
from informers.cache.filling import Filling
from informers.cache.following import Follower
from informers.cache.histories import Continuity, compare
from informers.cache.policy import Policy
from informers.cache.recovery import Happened, Phase, Trouble
from informers.cache.replacement import Replacement
from informers.cache.slices import Slices
from informers.cache.source import Source
from informers.cache.states import OpenWatch
from informers.cache.store import Store
from informers.clock import Clock

T = TypeVar("T")

_PAGE = 500


class Fetched(msgspec.Struct, Generic[T], frozen=True):
    """A whole state, ready to take the place of the store's content."""

    replacement: Replacement[T]
    errors: dict[Key, str]
    """What was set aside, and why."""
    revision: str
    pages: int
    """How many pages it took; 0 for a stream."""
    took: float
    """Seconds."""
    lineage: Lineage
    """What the server said of the store that it is of."""
    watch: OpenWatch[T] | None = None
    """The watch that goes on from there."""


class Fetcher(Generic[T]):
    """Fetches whole states beside the store, without changing it.

    The revision to ask for is the store's; `afresh` asks for the newest state instead, whatever the store has reached.
    """

    def __init__(
        self, source: Source[T], store: Store[T], follower: Follower[T], *, clock: Clock, policy: Policy
    ) -> None:
        """Fetch from the source; streams are watches of the follower."""
        self._source = source
        self._store = store
        self._follower = follower
        self._clock = clock
        self._policy = policy
        self._paged = False  # a list at revision 0 came in pages: this server has no watch cache to spare
        self._ended_streams = 0
        self._replacement: Replacement[T] | None = None

    @property
    def fetched(self) -> int:
        """How many objects of the state that is being fetched are there; 0 while none is."""
        return 0 if self._replacement is None else len(self._replacement)

    def done(self) -> None:
        """Forget the state that was fetched, or was not."""
        self._replacement = None

    async def by_stream(self, *, afresh: bool) -> Fetched[T]:
        """Fetch the state as the initial events of a watch (WatchList)."""
        started = self._clock.monotonic()
        filling = self._filling(afresh=afresh)
        watch = await self._follower.open("" if afresh else self._store.revision, initial_events=True)
        pulse, policy = self._follower.pulse, self._policy

        def deadline() -> float:
            return min((pulse.heard or started) + policy.initial_silence, started + policy.initial_limit)

        with self._follower.guard(deadline, lambda: self._unmarked(filling)):
            async for batch in watch.batches:
                pulse.heard = self._clock.monotonic()
                revision = await filling.take_events(batch)
                if revision is not None:
                    watch.pending = batch
                    self._ended_streams = 0
                    return self._fetched(filling, revision, 0, started, watch.lineage, watch)
        raise self._ended(watch, filling)

    async def by_list(self, *, afresh: bool, whole: bool, entered: Callable[[Phase], None]) -> Fetched[T]:
        """Fetch the state as a list; `whole` forbids pages, `entered` is told when further pages are asked for."""
        started = self._clock.monotonic()
        filling = self._filling(afresh=afresh)
        rv = "" if afresh else self._store.revision or ("" if self._store.epoch else "0")
        limit = 0 if whole else self._limit(rv)
        page = await self._page(await self._source.list_page(limit=limit, rv=rv), filling)
        revision, pages, lineage = page.revision, 1, self._source.lineage
        self._paged |= rv == "0" and page.continue_ != ""
        while page.continue_:
            entered(Phase.PAGE)
            token = page.continue_
            page = await self._page(await self._source.list_page(limit=limit, continue_=token), filling)
            pages += 1
            if compare(lineage, revision, self._source.lineage, revision) is Continuity.NEW:
                raise Happened(
                    Trouble.REPLACED, f"expected all pages to be of one store, found another on page {pages}"
                )
            if page.continue_ == token:
                raise DecodeError(f"expected the list to go on, found the same continue token after page {pages}")
        return self._fetched(filling, revision, pages, started, lineage)

    def _limit(self, rv: str) -> int:
        """Return the page size: none where pages would make the server bypass its watch cache."""
        if self._policy.page_size is not None:
            return self._policy.page_size
        return _PAGE if rv in ("", "0") or self._paged else 0

    async def _page(self, page: Page[T], filling: Filling[T]) -> Page[T]:
        self._follower.pulse.heard = self._clock.monotonic()
        await filling.take(page)
        return msgspec.structs.replace(page, objects=[])  # the next page must not find this one still in memory

    def _filling(self, *, afresh: bool) -> Filling[T]:
        self._replacement = self._store.prepare(unbroken=not afresh)
        return Filling(self._replacement, Slices(self._policy.slice))

    def _fetched(
        self,
        filling: Filling[T],
        revision: str,
        pages: int,
        started: float,
        lineage: Lineage,
        watch: OpenWatch[T] | None = None,
    ) -> Fetched[T]:
        took = self._clock.monotonic() - started
        return Fetched(filling.replacement, filling.errors, revision, pages, took, lineage, watch)

    def _unmarked(self, filling: Filling[T]) -> Exception:
        return Happened(
            Trouble.UNMARKED,
            f"expected the end of the streamed state to be marked, found no bookmark after {filling.events} events",
        )

    def _ended(self, watch: OpenWatch[T], filling: Filling[T]) -> Happened:
        self._ended_streams += 1
        lived = self._clock.monotonic() - watch.opened
        message = f"the server ended the stream after {filling.events} events and {lived:.0f} s, its state incomplete"
        if lived < self._policy.short_watch and not filling.events:
            return Happened(Trouble.SHORT, message)
        return Happened(Trouble.ENDED if self._ended_streams == 1 else Trouble.ENDED_AGAIN, message)
