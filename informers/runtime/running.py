"""One controller at work: its sources, its queue and its workers."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from informers.api.errors import NotSynced
from informers.api.objects import Key
from informers.cache.handlers import Registration
from informers.cache.informer import SharedInformer
from informers.cache.notices import Handler, Notice
from informers.cache.slices import Slices
from informers.clock import Clock
from informers.queue.facts import QueueStatistics
from informers.queue.workqueue import WorkQueue
from informers.runtime.cluster import World
from informers.runtime.contests import Contests
from informers.runtime.controller import Controller
from informers.runtime.facts import ControllerStarted, FilterFailed, Outcome, Reconciled, SourceArrived
from informers.runtime.filters import EventFilter
from informers.runtime.notes import NotesStatistics, WriteNotes
from informers.runtime.observers import Observers
from informers.runtime.sources import Lookup, Mapper, Read, Watch
from informers.runtime.worker import Work, work
from informers.tasks import background, first, together

T = TypeVar("T")


class ControllerStatistics(msgspec.Struct, frozen=True):
    """A controller at one moment."""

    started: bool
    """Whether its workers have begun."""
    missing: tuple[str, ...]
    """Sources that have not synced."""
    outcomes: dict[Outcome, int]
    """How many visits ended how."""
    seconds: float
    """What all visits took together, their writes included."""
    queue: QueueStatistics
    notes: NotesStatistics


class Tapped(msgspec.Struct, frozen=True):
    """An informer as one controller uses it."""

    server: str
    declared: Watch | Read
    informer: SharedInformer[Any]
    failed: asyncio.Event
    """Set once an attempt to list or watch has failed."""

    @property
    def label(self) -> str:
        """Server and collection, as facts name it."""
        return str(self.informer.origin)


class _Syncing(Protocol):
    """A registration, or an informer that is only read."""

    @property
    def synced(self) -> bool: ...

    async def wait_synced(self) -> None: ...


class Run(Generic[T]):
    """Runs one controller once.

    Invariants: keys are taken in from the moment `run` begins, and visited once every source has synced or its patience
    is over; a source that arrives later has all keys visited again.
    """

    def __init__(
        self,
        controller: Controller[T],
        sources: Sequence[Tapped],
        world: World,
        clock: Clock,
        observers: Observers,
        slices: Slices,
    ) -> None:
        """Take the controller's sources in the order of `Controller.sources`, its own resource first."""
        self.controller = controller
        self.queue: WorkQueue[Key] = WorkQueue(
            clock=clock,
            limiter=controller.limiter(),
            order=controller.order(),
            name=controller.name,
            observer=observers.notice,
        )
        self.notes = WriteNotes()
        self.started = asyncio.Event()
        """Set once the workers have begun."""
        self._settled = asyncio.Event()
        self._objects = sources[0].informer.lister
        self._sources = sources
        self._clock = clock
        self._observers = observers
        self._slices = slices
        self._outcomes: Counter[Outcome] = Counter()
        self._seconds = 0.0
        contests = Contests(controller.name, clock, observers.notice)
        self._work = Work(
            controller, self.queue, self._objects, world, self.notes, self._visited, clock, contests, slices
        )

    async def run(self) -> None:
        """Wait for the sources, then visit keys until the queue is closed."""
        began = self._clock.monotonic()
        with self._listening() as states:
            ready = (listen.ready.wait() for listen in self.controller.channels() if listen.ready is not None)
            await together(*(self._wait_patiently(source, state) for source, state in states), *ready)
            late = [(source, state) for source, state in states if not state.synced]
            self._begin(self._clock.monotonic() - began, [source for source, _ in late])
            async with background(*(self._await_late(source, state) for source, state in late)):
                await together(*(work(self._work) for _ in range(self.controller.workers)))

    async def wait_started(self) -> None:
        """Wait until the workers have begun; raises `NotSynced` when they never will."""
        await self._settled.wait()
        if not self.started.is_set():
            raise NotSynced(f"expected controller {self.controller.name!r} to begin, found it stopped before it had")

    @property
    def missing(self) -> Sequence[Tapped]:
        """Sources that have not synced."""
        return [source for source in self._sources if not source.informer.synced]

    def shut(self) -> None:
        """Let nobody wait for a beginning, or for visits, that do not come any more."""
        self.close()
        self._settled.set()

    def close(self) -> None:
        """Have the workers finish the keys in hand and take no more."""
        self.queue.close(drain=False)

    def statistics(self) -> ControllerStatistics:
        """Return the figures at this moment."""
        return ControllerStatistics(
            started=self.started.is_set(),
            missing=tuple(source.label for source in self.missing),
            outcomes=dict(self._outcomes),
            seconds=self._seconds,
            queue=self.queue.statistics(),
            notes=self.notes.statistics(),
        )

    def _begin(self, waited: float, late: Sequence[Tapped]) -> None:
        missing = tuple(source.label for source in late)
        self._observers.notice(ControllerStarted(self.controller.name, self.controller.workers, waited, missing))
        self.started.set()
        self._settled.set()

    # Sources

    @contextmanager
    def _listening(self) -> Iterator[list[tuple[Tapped, _Syncing]]]:
        """Have every source's changes put keys into the queue; the block learns what says whether each has synced."""
        with ExitStack() as channels:
            for listen in self.controller.channels():
                channels.enter_context(listen.adding(self._objects, self.queue.add))
            yield from self._tapping()

    def _tapping(self) -> Iterator[list[tuple[Tapped, _Syncing]]]:
        registrations: list[Registration[Any]] = []
        states: list[tuple[Tapped, _Syncing]] = []
        try:
            for source in self._sources:
                if isinstance(source.declared, Read):
                    states.append((source, source.informer))
                    continue
                handler = self._handler(source.declared)
                if source is self._sources[0] and not self.controller.echoes:
                    handler = self._unless_expected(handler)
                registrations.append(source.informer.add_handler(handler, name=self.controller.name))
                states.append((source, registrations[-1]))
            yield states
        finally:
            for registration in registrations:
                registration.remove()

    def _handler(self, watch: Watch) -> Handler[Any]:
        """Return what turns a change of the watched resource into keys."""
        to: Mapper = watch.to.among(self._objects) if isinstance(watch.to, Lookup) else watch.to
        keeps = watch.where.keeps if isinstance(watch.where, EventFilter) else watch.where
        add = self.queue.add

        def handle(notice: Notice[Any]) -> None:
            try:
                wanted = keeps is None or keeps(notice.old, notice.new)
            except Exception as error:  # noqa: BLE001 - the user's: a change too many is harmless, one too few is not
                self._observers.notice(FilterFailed(self.controller.name, str(watch.resource), notice.key, error))
                wanted = True
            if wanted:
                for key in to(notice):
                    add(key)

        return handle

    def _unless_expected(self, handle: Handler[Any]) -> Handler[Any]:
        """Return the handler without the events of what visits have committed."""
        recognises = self.notes.recognises

        def others(notice: Notice[Any]) -> None:
            if not recognises(notice):
                handle(notice)

        return others

    async def _wait_patiently(self, source: Tapped, state: _Syncing) -> None:
        """Wait until the source has synced, or its patience is over, or the first contact has failed."""
        patience = source.declared.patience
        if patience is None:
            await state.wait_synced()
        elif not state.synced:
            await first(state.wait_synced(), self._clock.sleep(patience), source.failed.wait())

    async def _await_late(self, source: Tapped, state: _Syncing) -> None:
        """Wake all keys once the source has synced: what they were visited for knew nothing of it."""
        began = self._clock.monotonic()
        await state.wait_synced()
        late = self._clock.monotonic() - began
        for obj in self._objects.list():
            self.queue.add(obj.key.shardless())
            if self._slices.over():
                await self._slices.turn()
        self._observers.notice(SourceArrived(self.controller.name, source.label, late))

    def _visited(self, fact: Reconciled) -> None:
        self._outcomes[fact.outcome] += 1
        self._seconds += fact.took
        self._observers.notice(fact)
