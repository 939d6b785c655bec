"""One collection's reflector, store and handlers, shared by everybody who needs it."""

from collections.abc import Mapping
from datetime import datetime
from random import Random
from typing import Generic, TypeVar

from informers.api.clusters import WILDCARD
from informers.api.histories import Lineage
from informers.api.objects import Key
from informers.api.resources import Collection
from informers.cache.backlog import Backlog
from informers.cache.facts import Observe, Origin, Quarantined, Released, ignore
from informers.cache.handlers import Handlers, Registration
from informers.cache.histories import History
from informers.cache.indexers import CLUSTER, Indexer, by_cluster, paths
from informers.cache.listers import Lister
from informers.cache.notices import Handler
from informers.cache.policy import Policy
from informers.cache.quarantine import Quarantine
from informers.cache.reflector import Reflector
from informers.cache.slices import Slices
from informers.cache.source import BoundSource, Readable
from informers.cache.statistics import HandlerStatistics, InformerStatistics
from informers.cache.store import Store
from informers.cache.transform import Transform, Transformed
from informers.clock import Clock, SystemClock
from informers.tasks import background

T = TypeVar("T")

SYSTEM = SystemClock()
DEFAULTS = Policy()


class SharedInformer(Generic[T]):
    """Keeps a store equal to one collection while `run` runs, and tells handlers of every change.

    `synced` says that the store has had a whole state; `live`, that a watch is established and was heard in time. A
    store can be synced and not live: then it shows the past, and `last_heard` and `last_error` say since when and why.
    """

    def __init__(
        self,
        client: Readable,
        collection: Collection[T],
        *,
        server: str = "",
        indexers: Mapping[str, Indexer[T]] = {},
        transform: Transform | None = None,
        observe: Observe = ignore,
        clock: Clock = SYSTEM,
        rng: Random | None = None,
        policy: Policy = DEFAULTS,
        careful: bool = False,
    ) -> None:
        """Read the collection through the client; `server` is its name in facts, which go to `observe`.

        `careful` has a server that says nothing of its store show, after each break, that its history is the same; so
        that absence from a list can mean something (`Evidence`). Each time it costs a list of metadata.
        """
        self.origin = Origin(server, collection)
        self._policy = policy
        self._started = False
        indexes = {CLUSTER: by_cluster, **indexers} if collection.cluster == WILDCARD else indexers
        self._store: Store[T] = Store(indexes)
        self._quarantine = Quarantine(
            lambda key, error: observe(Quarantined(self.origin, key, error)),
            lambda key: observe(Released(self.origin, key)),
        )
        self._handlers: Handlers[T] = Handlers(self._store, self.origin, observe)
        source = BoundSource(client, collection)
        self._reader = source.reader
        self._reader.peek_at(paths(indexes.values()))
        self._reflector = Reflector(
            source if transform is None else Transformed(source, transform, self._reader),
            self._store,
            self._quarantine,
            audience=self._handlers,
            origin=self.origin,
            observe=observe,
            clock=clock,
            rng=rng or Random(),
            policy=policy,
            careful=careful,
        )

    async def run(self) -> None:
        """Follow the server until cancelled; whatever else ends it is a fault in the program and is raised.

        An informer runs once.
        """
        if self._started:
            raise RuntimeError(f"expected informer {self.origin} to run once, found it started again; make another one")
        self._started = True
        try:
            async with background(self._catch_up()):
                await self._reflector.run()
        finally:
            self._handlers.shut()

    @property
    def synced(self) -> bool:
        """Whether the store has had a whole state."""
        return self._reflector.synced.is_open

    async def wait_synced(self) -> None:
        """Wait for the first whole state; raises `NotSynced` when the informer stops before."""
        await self._reflector.synced.wait()

    @property
    def live(self) -> bool:
        """Whether a watch is established and was heard in time."""
        return self._reflector.live

    @property
    def last_heard(self) -> datetime | None:
        """When the server last sent anything of this collection."""
        return self._reflector.last_heard

    @property
    def last_error(self) -> Exception | None:
        """What went wrong last; None while a watch is established."""
        return self._reflector.journal.last_error

    @property
    def history(self) -> History | None:
        """Which history of its server the store follows, and how far; None before the first whole state.

        Changes in the step in which a state of another history becomes the store's content, before handlers hear of it.
        """
        return self._reflector.historian.history

    @property
    def lineage(self) -> Lineage:
        """What the server says of the store that is followed; empty where it says nothing, and before it was asked."""
        return self._reflector.historian.lineage

    def continues(self, past: History) -> bool:
        """Say whether what is stored goes on from a history that was noted before, be it in another process.

        False where the server does not name its store, and before the first whole state.
        """
        return self._reflector.historian.continues(past)

    @property
    def careful(self) -> bool:
        """Whether a server that says nothing of its store has to show its history after each break."""
        return self._reflector.historian.careful

    def be_careful(self) -> None:
        """Have it do so from now on."""
        self._reflector.historian.careful = True

    @property
    def quarantined(self) -> Mapping[Key, str]:
        """Objects that cannot be read, transformed or indexed, with the reason; their last good state is listed."""
        return self._quarantine.errors

    @property
    def store(self) -> Store[T]:
        """The store, to be read only: the reflector is its writer."""
        return self._store

    @property
    def lister(self) -> Lister[T]:
        """A view of the store, over all clusters."""
        return Lister(self._store, self.origin.collection.resource, has_synced=lambda: self.synced)

    def force_relist(self) -> None:
        """Fetch the newest state now, whatever was known; handlers are told of what differs."""
        self._reflector.force_relist()

    def hurry(self) -> None:
        """Try again now, if an attempt has failed and the next one is still to come: the server is known to be back."""
        self._reflector.hurry()

    def add_handler(self, handler: Handler[T], *, name: str = "") -> Registration[T]:
        """Call the handler for every object there is, then for every change, each in the step that changed the store.

        It must be quick: a consumer that is not takes a `backlog`.
        """
        return self._handlers.add(handler, name)

    def backlog(self, *, name: str = "") -> Backlog[T]:
        """Return changes for a consumer that takes its time; use it in a `with` block."""
        return Backlog(self._handlers, name, Slices(self._policy.slice))

    def add_indexer(self, name: str, indexer: Indexer[T]) -> None:
        """Add an index, also while running; it answers from now on, slowly until everything is indexed.

        Raises `ConfigurationError` when another function has the name.
        """
        self._store.add_indexer(name, indexer)
        self._reader.peek_at(paths(self._store.indexers.values()))
        self._handlers.late.set()

    def statistics(self) -> InformerStatistics:
        """Return what can be said of it now."""
        journal, applier = self._reflector.journal, self._reflector.applier
        return InformerStatistics(
            origin=self.origin,
            state=type(self._reflector.state).__name__,
            synced=self.synced,
            live=self.live,
            last_heard=self.last_heard,
            last_error=journal.last_error,
            failures=journal.failures,
            objects=len(self._store),
            bytes=self._store.bytes,
            revision=self._store.revision,
            epoch=self._store.epoch,
            history=self.history,
            fetched=self._reflector.fetcher.fetched,
            lists=journal.lists,
            watches=journal.watches,
            checks=journal.checks,
            events=dict(applier.seen),
            repeats=applier.repeats,
            troubles=dict(journal.troubles),
            quarantined=len(self._quarantine),
            quarantined_total=self._quarantine.total,
            handlers=tuple(map(_handler_statistics, self._handlers)),
        )

    async def _catch_up(self) -> None:
        """Do in slices what came late: indexes over what is stored, and handlers to be told of it."""
        slices = Slices(self._policy.slice)
        while True:
            await self._handlers.late.wait()
            self._handlers.late.clear()
            for failure in self._store.finish_indexes():
                if failure is not None:
                    self._quarantine.hold(failure.key, str(failure))
                if slices.over():
                    await slices.turn()
            for _ in self._handlers.catch_up():
                if slices.over():
                    await slices.turn()


def _handler_statistics(registration: Registration[T]) -> HandlerStatistics:
    return HandlerStatistics(
        registration.name,
        registration.synced,
        registration.pending,
        registration.failures,
        len(registration.quarantined),
    )
