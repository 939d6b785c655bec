"""Several shards over one cache server, all in one event loop and in virtual time.

Each shard is what `kcpctl run` makes of it: an API server, our controllers, and nothing but requests between them and
the servers. Only sockets and processes are missing.
"""

import json
import re
from asyncio import Task
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from random import Random
from typing import Any, NamedTuple

from controllers.kinds import SLICES
from controllers.names import CACHE
from controllers.registration import ShardUrls
from controllers.view import View
from informers import Client, Manager, Scope, Server, VirtualClock
from informers.tasks import background
from kcpctl.apiserver.app import ApiServer, Seen
from kcpctl.apiserver.assembly import CacheServer, ShardServer
from kcpctl.apiserver.exchange import Answer, Incoming
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.http.inprocess import InProcess
from kcpctl.apiserver.storage.base import Change, Record, Term
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.storage.revisions import first_revision
from kcpctl.apiserver.storage.state import State
from kcpctl.builtin import LOCAL, Ours, all_ours
from kcpctl.settings import RunSettings
from kcpctl.testing import Running, wait_quiet
from kcpctl.testing.home import Home
from kcpctl.testing.visits import Visits
from tests.controllers.keepers import MemoryKeeper
from tests.faults import Network
from tests.integration.objects import url_of

EXAMPLE = "root:example"
READS = ("GET", "HEAD")
NEVER = 1_000_000
_LEASE = re.compile(r"/services/cache/shards/([a-z]+)/clusters/root/apis/core.kcp.io/v1alpha1/shards/\1")
"""Where the copy of a Shard is patched by its own process alone, to renew its lease."""


class Published(NamedTuple):
    """What one slice published at one moment."""

    shard: str
    key: str
    urls: list[str]


_APART = 500_000
"""Microseconds between the beginnings of the stores of cache and shards: no copy has its original's revision."""


class Cache:
    """A cache server that can be started anew, over the same store or an empty one."""

    def __init__(self, clock: VirtualClock) -> None:
        self.requests: list[Seen] = []
        self.keeps_removals = True
        self._clock = clock
        self.start(MemoryStorage(clock=clock, revision=first_revision(clock.now()) + _APART))

    def start(self, storage: MemoryStorage) -> None:
        """Serve what the store holds."""
        self.storage = storage
        served = CacheServer(storage, clock=self._clock, rng=Random(0))
        self.home = Home(served.world)
        self._app = ApiServer(served.mounts, Authentication(), observe=self.requests.append, clock=self._clock)

    async def __call__(self, incoming: Incoming) -> Answer:
        """Answer as the server that runs now."""
        if not self.keeps_removals and "/apis/cache.kcpctl.dev" in incoming.path:
            return Answer(404, (("Content-Type", "text/plain"),), b"404 page not found\n")
        return await self._app(incoming)

    def client(self) -> Client:
        """Return a client over all shards and clusters."""
        return Server("test", InProcess(self), scope=Scope.CACHE).client("*", "*")


class Restored(MemoryStorage):
    """A store that goes on from a copy of another one's data, in a term of its own."""

    def __init__(
        self, records: Iterable[Record], revision: int, identity: str, terms: Iterable[Term], clock: VirtualClock
    ) -> None:
        super().__init__(revision=revision, clock=clock)
        self._state = State(self._state.history, records)
        self._identity, self._terms = identity, (*terms, *self._terms)


class ShardProcess:
    """One shard with its controllers."""

    def __init__(
        self,
        name: str,
        workspace: str,
        servers: Mapping[str, Server],
        ours: Ours,
        running: Running,
        registering: Task[Any],
        requests: list[Seen],
        server: ShardServer,
    ) -> None:
        self.name = name
        self.server = server
        self.workspace = workspace
        """The name of the logical cluster whose path is root:example."""
        self.ours = ours
        self.running = running
        self.registering = registering
        self.requests = requests
        self.servers = servers

    @property
    def local(self) -> Network:
        """The network between its controllers and its API server."""
        return self._network(LOCAL)

    @property
    def cache(self) -> Network:
        """The network between its controllers and the cache server."""
        return self._network(CACHE)

    def _network(self, name: str) -> Network:
        network = self.servers[name].transport
        assert isinstance(network, Network)
        return network

    @property
    def client(self) -> Client:
        """A client of the workspace root:example."""
        return self.client_of(self.workspace)

    def client_of(self, cluster: str) -> Client:
        """Return a client of a logical cluster, on a network of its own."""
        inner = self.local._inner
        return Server("test", inner, scope=Scope.ALL).client(cluster)


class Site:
    """A cache server, and shards that may start and stop."""

    def __init__(self, clock: VirtualClock | None = None) -> None:
        self.clock = clock or VirtualClock()
        self.cache = Cache(self.clock)
        self.shards: dict[str, ShardProcess] = {}
        self.history: list[Published] = []
        """Every state of every slice so far."""
        self._stores: dict[str, MemoryStorage] = {}
        self._keepers: defaultdict[str, MemoryKeeper] = defaultdict(MemoryKeeper)
        self._homes: dict[str, dict[str, Home]] = {}

    @asynccontextmanager
    async def shard(
        self,
        name: str,
        *,
        labels: tuple[str, ...] = (),
        url: str = "",
        urls: ShardUrls | None = None,
        deprecated_urls: bool = True,
        cache: str = "",
        is_killed: bool = False,
        called: str = "",
    ) -> AsyncIterator[ShardProcess]:
        """Run a shard beside the block, over the store that it had when it ran before.

        `url` is where it is reached by everybody; `urls` tells them apart.
        `cache` may be "away" or "silent": then it refuses, or does not answer, until the test wants it. One that
        `is_killed` does not stop in order. Two processes that are `called` the same have a store each.
        """
        clock = self.clock
        is_new = name not in self._stores
        storage = self.store(name)
        base, shard = url or url_of(name), called or name
        server = ShardServer(storage, name=shard, url=base, clock=clock, rng=Random(0))
        await server.load()
        workspace = await server.create_workspace(EXAMPLE)
        requests: list[Seen] = []
        app = ApiServer(server.mounts, Authentication(), observe=requests.append, clock=clock)
        servers = {
            LOCAL: Server(LOCAL, Network(InProcess(app)), scope=Scope.ALL, clock=clock),
            CACHE: Server(CACHE, Network(InProcess(self.cache)), scope=Scope.CACHE, clock=clock),
        }
        self._homes[name] = {LOCAL: Home(server.world, lambda: server.at_rest), CACHE: self.cache.home}
        settings = RunSettings(shard_name=shard, shard_label=labels, deprecated_urls=deprecated_urls)
        visits = Visits()
        view = View(self._keepers[name], home=shard, clock=clock, is_new_store=is_new, observe=visits.notice)
        ours = all_ours(settings, urls or ShardUrls(base, base, base), view, clock=clock, observe=visits.notice)
        assert ours.segment is not None
        manager = Manager(servers, ours.controllers, observers=[visits, ours.lives], clock=clock, rng=Random(0))
        ours.feed(manager)
        running = Running(manager, ours.controllers, visits, self._homes[name], partial(_busy, ours))
        jobs = ours.jobs(servers[LOCAL].client(), _unexpected)
        try:
            async with background(server.run()), manager, background(*jobs) as tasks:
                process = ShardProcess(name, workspace, servers, ours, running, tasks[-1], requests, server)
                if cache == "away":
                    await process.cache.go_away()
                elif cache == "silent":
                    process.cache.hold()
                self.shards[name] = process
                await process.registering
                yield process
                if not is_killed:
                    await clock.run(ours.release())
        finally:
            self.shards.pop(name, None)
            for one in servers.values():
                await one.aclose()

    def store(self, shard: str) -> MemoryStorage:
        """Return the store of a shard, which outlives its processes."""
        return self._stores[shard] if shard in self._stores else self._new_store(shard)

    def lose_store(self, shard: str) -> None:
        """Let the shard begin with an empty store when it runs the next time."""
        del self._stores[shard]

    def lose_view(self, shard: str) -> None:
        """Let the shard begin without what it saw in earlier lives."""
        self._keepers.pop(shard, None)

    async def back_up(self, shard: str) -> Callable[[], None]:
        """Copy a shard's store; what is returned has the shard begin with that copy when it runs the next time."""
        store = self.store(shard)
        records, revision, terms = (await store.range("")).records, store.revision, store.terms

        def restore() -> None:
            self._stores[shard] = Restored(records, revision, store.identity, terms, self.clock)
            self._hear(shard)

        return restore

    def _new_store(self, shard: str) -> MemoryStorage:
        self._stores[shard] = MemoryStorage(clock=self.clock)
        self._hear(shard)
        return self._stores[shard]

    def _hear(self, shard: str) -> None:
        """Note what the slices in a shard's store publish."""

        def heard(change: Change) -> None:
            state = json.loads(change.value or b"{}")
            where = change.key.rsplit("/", 2)
            found = [endpoint["url"] for endpoint in state.get("status", {}).get("endpoints") or ()]
            self.history.append(Published(shard, f"{where[1]}|{where[2]}", found))

        self._stores[shard].listen(f"/registry/{SLICES.group}/{SLICES.plural}/", heard)

    def losses(self) -> list[str]:
        """Return each URL that a slice published and then did not, even if it came back."""
        last: dict[tuple[str, str], list[str]] = {}
        lost: list[str] = []
        for state in self.history:
            where = (state.shard, state.key)
            lost.extend(url for url in last.get(where, ()) if url not in state.urls)
            last[where] = state.urls
        return lost

    async def settle(self, *, away: Collection[str] = ()) -> None:
        """Wait until nothing is left to be done by any controller, letting as much time pass as that takes."""
        running = [process.running for process in self.shards.values()]
        try:
            await self.clock.run(wait_quiet(*running, attempts=NEVER, away=away))
        except TimeoutError as error:
            reasons = "; ".join(reason.what for each in running for reason in each.busy(away))
            raise AssertionError(f"expected quiet within a day of virtual time, found that {reasons}") from error

    async def restart_cache(
        self, *, empty: bool = False, revision: int | None = None, over: MemoryStorage | None = None
    ) -> None:
        """Start the cache server anew, with what it held, with nothing, or `over` another store; its connections break.

        An empty one begins at a revision that the clock gives, as ours do, or at the one named, as others may.
        """
        if empty:
            await self.clock.advance(1)  # no two stores begin at the same moment
        fresh = MemoryStorage(clock=self.clock, revision=revision)
        self.cache.start(fresh if empty else over or self.cache.storage)
        for name, process in self.shards.items():
            self._homes[name][CACHE] = self.cache.home
            await process.cache.cut()

    def forget_requests(self) -> None:
        """Forget every request that was noted."""
        self.cache.requests.clear()
        for process in self.shards.values():
            process.requests.clear()

    @property
    def writes(self) -> list[str]:
        """Every write since then, at any server, renewals of leases apart: `method path`."""
        return [f"{seen.method} {seen.path}" for seen in self._seen() if _is_write(seen)]

    @property
    def changes(self) -> list[str]:
        """The writes that were accepted."""
        return [f"{seen.method} {seen.path}" for seen in self._seen() if _is_write(seen) and seen.status < 300]

    def _seen(self) -> list[Seen]:
        return [*self.cache.requests, *(seen for process in self.shards.values() for seen in process.requests)]


def _is_write(seen: Seen) -> bool:
    return seen.method not in READS and not (seen.method == "PATCH" and _LEASE.fullmatch(seen.path))


def _busy(ours: Ours) -> Iterator[tuple[str, bool]]:
    assert ours.segment is not None  # all of ours run
    yield from ours.view.busy()
    yield from ours.segment.busy()
    yield from ours.removals.busy()


def _unexpected(seconds: float, error: BaseException) -> None:
    raise AssertionError("expected the shard to register at once") from error
