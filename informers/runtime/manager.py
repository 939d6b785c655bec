"""The Manager: runs controllers over shared informers; its nesting is the order in which they start and stop."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec

from informers.api.clusters import WILDCARD
from informers.api.errors import ConfigurationError, NotSynced
from informers.api.resources import Collection, Resource
from informers.cache.facts import Backed, Origin
from informers.cache.facts import Fact as CacheFact
from informers.cache.informer import SharedInformer
from informers.cache.listers import Lister
from informers.cache.policy import Policy
from informers.cache.pool import InformerPool
from informers.cache.slices import Slices
from informers.cache.statistics import InformerStatistics
from informers.client.addresses import Scope
from informers.client.server import Server
from informers.clock import Clock, SystemClock
from informers.runtime.cluster import Declared, World, declared
from informers.runtime.controller import Controller
from informers.runtime.facts import GraceOver, LeftBehind, ObserverDropped, Stopping
from informers.runtime.observers import Observer, Observers
from informers.runtime.running import ControllerStatistics, Run, Tapped
from informers.runtime.sources import Read, Watch
from informers.runtime.stubborn import run_or_leave
from informers.runtime.waiting import still_waited_for
from informers.tasks import background, first

T = TypeVar("T")

_SYSTEM = SystemClock()
_DEFAULTS = Policy()


class ManagerStatistics(msgspec.Struct, frozen=True):
    """A Manager at one moment."""

    controllers: dict[str, ControllerStatistics]
    informers: tuple[InformerStatistics, ...]
    dropped_observers: tuple[ObserverDropped, ...]


class Manager:
    """Runs controllers until it is told to stop, once.

    Informers outlive workers: they start first and end last. After a stop the workers finish the keys in hand, within
    `grace` seconds, and are cancelled then; a reconciler that goes on although it is cancelled is left behind and named
    (`LeftBehind`). Whatever dies takes everything down with its error. It touches neither signals nor logging nor the
    event loop's policy, so it lives in any program: `async with manager`, or `await manager.run(stop)`.
    """

    def __init__(
        self,
        servers: Server | Mapping[str, Server],
        controllers: Iterable[Controller[Any]] = (),
        *,
        observers: Iterable[Observer] = (),
        clock: Clock = _SYSTEM,
        grace: float = 10.0,
        policy: Policy = _DEFAULTS,
        rng: Random | None = None,
    ) -> None:
        """Take the servers by name, the first being the default, and what to run; closing servers stays the caller's.

        `grace` is how many seconds workers have to finish after a stop (0 cancels them at once), `policy` how all
        informers list and watch, `rng` what spreads their waits.
        """
        self.servers = {servers.name: servers} if isinstance(servers, Server) else dict(servers)
        if not self.servers:
            raise ConfigurationError("expected at least one Server to run controllers against, found none")
        self.grace = grace
        self._clock = clock
        self._observers = Observers(observers)
        self._slices = Slices(policy.slice)
        self._pool = InformerPool(observe=self._notice, clock=clock, rng=rng, policy=policy)
        self._failed: defaultdict[Origin, asyncio.Event] = defaultdict(asyncio.Event)
        self._runs: dict[str, Run[Any]] = {}
        self._began = False
        self._block = AsyncExitStack()
        for controller in controllers:
            self.add_controller(controller)

    # What it runs

    def add_controller(self, controller: Controller[Any]) -> None:
        """Have one more controller run.

        Raises `ConfigurationError` once the Manager has begun, for a name that is taken, and for an unknown server.
        """
        if self._began:
            raise ConfigurationError(f"controller {controller.name!r}: expected a Manager that has not begun yet")
        if controller.name in self._runs:
            raise ConfigurationError(f"expected controllers of different names, found two named {controller.name!r}")
        home = controller.server or next(iter(self.servers))
        listers: dict[Declared, Lister[Any]] = {}
        world = World(controller.name, home, self.servers, listers, self._clock)
        sources = [self._tapped(declared, world) for declared in controller.sources()]
        for source in sources:
            listers[declared(source.server, source.declared.resource)] = source.informer.lister
        self._runs[controller.name] = Run(controller, sources, world, self._clock, self._observers, self._slices)

    def controller(self, name: str) -> Run[Any]:
        """Return the controller of that name as it runs, with its queue; raises KeyError for an unknown name."""
        return self._runs[name]

    def informer(self, resource: Resource[T], server: str = "") -> SharedInformer[T]:
        """Return the informer that all controllers share, making it if nobody has declared the resource.

        Handlers that are added before the Manager begins are told of each change before the controllers are.
        """
        name = server or next(iter(self.servers))
        if name not in self.servers:
            known = ", ".join(map(repr, self.servers))
            raise ConfigurationError(f"expected a server of {known} to watch {resource.plural} on, found {name!r}")
        collection = _collection(resource, self.servers[name].scope)
        return self._pool.informer(name, self.servers[name].client(), collection)

    def failed(self, informer: SharedInformer[Any]) -> asyncio.Event:
        """Return what is set once an attempt of one of its informers to list or watch has failed."""
        return self._failed[informer.origin]

    @property
    def informers(self) -> Sequence[SharedInformer[Any]]:
        """All informers, in the order they were first declared."""
        return list(self._pool)

    def _tapped(self, declared: Watch | Read, world: World) -> Tapped:
        server, _ = world.server(declared.server)
        informer = self.informer(declared.resource, server)
        for name, indexer in declared.indexers.items():
            informer.add_indexer(name, indexer)
        if declared.careful:
            informer.be_careful()
        return Tapped(server, declared, informer, self._failed[informer.origin])

    # Running

    async def run(self, stop: asyncio.Event) -> None:
        """Run everything until `stop` is set and the workers have finished; raises the error of whatever dies.

        Being cancelled ends it at once, visits included. A Manager runs once.
        """
        if self._began:
            raise RuntimeError("expected a Manager that has not run yet; make a new one to run again")
        self._began = True
        runs = list(self._runs.values())
        try:
            async with background(self._pool.run()), background(*map(self._run, runs)) as tasks:
                await stop.wait()
                await self._finish(dict(zip(tasks, runs, strict=True)))
        finally:
            for run in runs:
                run.shut()

    async def __aenter__(self) -> Self:
        """Begin; the block runs beside the controllers, and is cancelled when something dies."""
        await self._block.enter_async_context(self._alive())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop as `run` does, however the block ended; being cancelled meanwhile ends it at once."""
        await self._block.__aexit__(kind, error, trace)

    @asynccontextmanager
    async def _alive(self) -> AsyncIterator[None]:
        stop = asyncio.Event()
        async with background(self.run(stop)) as tasks:
            try:
                yield
            finally:
                stop.set()
                await asyncio.wait(tasks)

    async def _run(self, run: Run[Any]) -> None:
        await run_or_leave(_until_closed(run), self._clock, lambda: self._observers.notice(LeftBehind(_in_hand([run]))))

    async def _finish(self, running: Mapping[asyncio.Task[None], Run[Any]]) -> None:
        """Let the workers finish what they have in hand, for `grace` seconds."""
        for task, run in running.items():
            run.close()
            if not run.started.is_set():
                task.cancel()  # it waits for sources, and has nothing in hand
        if in_hand := _in_hand(running.values()):
            self._observers.notice(Stopping(self.grace, in_hand))
        if running:
            await first(_ended(running), self._clock.sleep(self.grace))
        if in_hand := _in_hand(running.values()):
            self._observers.notice(GraceOver(in_hand))

    # What can be waited for, and seen

    async def wait_synced(self, *, timeout: float | None = None) -> None:
        """Wait until every controller has the sources that it waits for, and its workers have begun.

        Raises `NotSynced` when the Manager stops before, and after `timeout` seconds (None sets no limit): it says what
        is still waited for, on which server, and what went wrong there last.
        """
        if timeout is None:
            await self._all_started()
            return
        await first(self._all_started(), self._clock.sleep(timeout))
        if waiting := still_waited_for(self._runs.values()):
            raise NotSynced(f"expected controllers to begin within {timeout:g} s, found {waiting}")

    async def _all_started(self) -> None:
        for run in self._runs.values():
            await run.wait_started()

    async def wait_idle(self) -> None:
        """Wait until no key is ready or being visited; keys may wait for their time, and events be on their way."""
        while busy := [run for run in self._runs.values() if not run.queue.idle]:
            for run in busy:
                await run.queue.wait_idle()

    def statistics(self) -> ManagerStatistics:
        """Return the figures at this moment."""
        return ManagerStatistics(
            {name: run.statistics() for name, run in self._runs.items()},
            tuple(informer.statistics() for informer in self._pool),
            tuple(self._observers.dropped),
        )

    def _notice(self, fact: CacheFact) -> None:
        if isinstance(fact, Backed):
            self._failed[fact.origin].set()
        self._observers.notice(fact)


async def _until_closed(run: Run[Any]) -> None:
    """Run the controller; an end that nobody asked for would leave a process that does nothing."""
    await run.run()
    if not run.queue.closed:
        raise RuntimeError(f"controller {run.controller.name!r} ended without being stopped")


async def _ended(tasks: Iterable[asyncio.Task[None]]) -> None:
    await asyncio.wait(tasks)


def _in_hand(runs: Iterable[Run[Any]]) -> tuple[tuple[str, Any], ...]:
    return tuple((run.controller.name, key) for run in runs for key in run.queue.active())


def _collection(resource: Resource[T], scope: Scope) -> Collection[T]:
    """Return all of a resource that a server shows."""
    cluster = WILDCARD if scope in (Scope.ALL, Scope.CACHE) else ""
    return Collection(resource, cluster, WILDCARD if scope is Scope.CACHE else "")
