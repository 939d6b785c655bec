"""Informers at our own servers when these lose their data: as told by the servers, and as found out without that."""

import shutil
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from multidict import CIMultiDict

from controllers.kinds import SHARDS, Shard
from informers import Client, Clock, Evidence, Resource, Scope, Server, SharedInformer, SystemClock, VirtualClock
from informers.api.histories import STORE
from informers.api.resources import Collection
from informers.client.transport import Request, Response, Transport
from informers.tasks import background
from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.assembly import PlainServer
from kcpctl.apiserver.exchange import Answer, Incoming
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.http.inprocess import InProcess
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.storage.sqlite import SqliteStorage
from tests.faults import Network
from tests.integration.site import Cache
from tests.integration.watched import watched

CONFIGS = Resource("", "v1", "configmaps", kind="ConfigMap")


class Silenced:
    """A transport over which servers say nothing of their stores."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    async def send(self, request: Request) -> Response:
        response: Any = await self._inner.send(request)
        response.headers = CIMultiDict((name, text) for name, text in response.headers.items() if name != STORE)
        return response  # type: ignore[no-any-return]

    async def aclose(self) -> None:
        await self._inner.aclose()


@pytest.fixture(params=[True, False], ids=["a server that names its store", "one that does not"])
def named(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def network_to(app: Any, *, named: bool) -> Network:
    """Return the network between an informer and the application."""
    return Network(InProcess(app) if named else Silenced(InProcess(app)))


# The cache server


async def copies(cache: Cache, *places: tuple[str, str]) -> None:
    """Store copies of Shards, each at a shard and in a cluster."""
    server = Server("test", InProcess(cache), scope=Scope.CACHE)
    for shard, name in places:
        notes = {"kcp.io/shard": shard}
        metadata = {"name": name, "uid": f"uid-{shard}-{name}", "annotations": notes}
        await server.client("root", shard).create(SHARDS, {"metadata": metadata, "spec": {"baseURL": "https://x"}})


class Shards:
    """A careful informer of all Shards at a cache server, and what it tells of those that went."""

    def __init__(self, cache: Cache, clock: VirtualClock, *, named: bool) -> None:
        self.clock = clock
        self.network = network_to(cache, named=named)
        client = Server("cache", self.network, scope=Scope.CACHE, clock=clock).client()
        self.informer: SharedInformer[Shard] = SharedInformer(
            client, Collection(SHARDS, "*", "*"), clock=clock, careful=True
        )
        self.gone: dict[tuple[str, str], Evidence] = {}
        self.informer.add_handler(self._take)

    @property
    def number(self) -> int:
        """Which history is followed."""
        assert self.informer.history is not None
        return self.informer.history.number

    @property
    def proofs(self) -> int:
        """How often the server was asked for what it held at a revision."""
        return sum("resourceVersionMatch=Exact" in request.target for request in self.network.requests)

    def _take(self, notice: Any) -> None:
        if notice.new is None:
            self.gone[notice.key.shard, notice.key.name] = notice.evidence


AMBER, BERYL = ("amber", "amber"), ("beryl", "beryl")


@pytest.fixture
async def shards(named: bool) -> AsyncIterator[tuple[Cache, Shards]]:
    """A cache server that holds copies of two Shards, and a live informer of them."""
    clock = VirtualClock()
    cache = Cache(clock)
    await copies(cache, AMBER, BERYL)
    found = Shards(cache, clock, named=named)
    async with background(found.informer.run()):
        await clock.run(found.informer.wait_synced())
        await clock.advance(10)
        yield cache, found


@pytest.mark.parametrize("difference", [-1000, 0, 1000], ids=["lower", "equal", "higher"])
async def test_a_cache_that_comes_back_empty_has_lost_its_copies(
    shards: tuple[Cache, Shards], named: bool, difference: int
) -> None:
    cache, found = shards
    cache.start(MemoryStorage(clock=found.clock, revision=cache.storage.revision + difference))
    await found.network.cut()
    await found.clock.advance(40)

    assert found.gone == dict.fromkeys((AMBER, BERYL), Evidence.ABSENT_IN_NEW_HISTORY)
    assert found.number == 2
    assert (found.proofs > 0) is (not named and difference >= 0)


async def test_a_cache_that_starts_again_over_its_data_has_lost_nothing(
    shards: tuple[Cache, Shards], named: bool
) -> None:
    cache, found = shards
    await found.network.go_away()
    cache.start(cache.storage)
    await Server("test", InProcess(cache), scope=Scope.CACHE).client("root", "beryl").delete(SHARDS, "beryl")
    found.network.come_back()
    await found.clock.advance(60)

    assert found.gone == {BERYL: Evidence.DELETED_EVENT}
    assert found.number == 1
    assert (found.proofs > 0) is not named


async def test_what_a_cache_shows_of_the_past_is_what_it_held_in_every_shard_and_cluster(
    shards: tuple[Cache, Shards], named: bool
) -> None:
    """A list is needed, and the server shows that it goes on with what we hold: what it lacks was deleted."""
    cache, found = shards
    found.network.stream_error(500, "InternalError", lambda request: request.watch)
    await found.network.cut()
    await Server("test", InProcess(cache), scope=Scope.CACHE).client("root", "beryl").delete(SHARDS, "beryl")
    await found.clock.advance(60)

    assert found.gone == {BERYL: Evidence.ABSENT_FROM_LIST}
    assert found.number == 1


async def test_compaction_tells_those_apart_who_know_the_store_and_those_who_do_not(
    shards: tuple[Cache, Shards], named: bool
) -> None:
    cache, found = shards
    await found.network.go_away()
    await Server("test", InProcess(cache), scope=Scope.CACHE).client("root", "beryl").delete(SHARDS, "beryl")
    await cache.storage.compact(cache.storage.revision)
    found.network.come_back()
    await found.clock.advance(90)

    evidence = Evidence.ABSENT_FROM_LIST if named else Evidence.ABSENT_IN_NEW_HISTORY
    assert found.gone == {BERYL: evidence}
    assert found.number == (1 if named else 2)


# A server with its data on a disk


class OnDisk:
    """A plain API server over a file, which may be exchanged between two runs."""

    def __init__(self, path: Path, *, named: bool) -> None:
        self.clock: Clock = SystemClock()
        self.network = network_to(self, named=named)
        self.server = Server("ours", self.network)
        self.client: Client = Server("test", InProcess(self)).client()
        self._path = path
        self._running = AsyncExitStack()

    async def start(self) -> None:
        """Serve what is in the file."""
        self.storage = await SqliteStorage.open(self._path)
        self._running.push_async_callback(self.storage.aclose)
        plain = PlainServer(self.storage)
        self._app = ApiServer(plain.mounts, Authentication())
        await plain.load()
        await self._running.enter_async_context(background(plain.run()))

    async def stop(self) -> None:
        """Let nobody reach it, and end it."""
        await self.network.go_away()
        await self._running.aclose()

    async def __call__(self, incoming: Incoming) -> Answer:
        return await self._app(incoming)

    async def wait(self, job: Coroutine[Any, Any, None]) -> None:
        await job

    async def forget_history(self) -> None:
        await self.storage.compact(self.storage.revision)

    async def make(self, *names: str) -> None:
        for name in names:
            await self.client.create(CONFIGS, {"metadata": {"name": name, "namespace": "default"}})


async def test_a_restored_copy_has_lost_what_was_made_behind_it_however_far_it_has_come(
    tmp_path: Path, named: bool
) -> None:
    subject = OnDisk(tmp_path / "store.sqlite", named=named)
    await subject.start()
    await subject.make("kept")
    await subject.stop()
    shutil.copy(tmp_path / "store.sqlite", tmp_path / "copy.sqlite")
    await subject.start()
    subject.network.come_back()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(subject.stop)
        found = await stack.enter_async_context(watched(subject, resource=CONFIGS, careful=True))
        await subject.make("lost")
        await found.until(lambda: "lost" in found.names)
        reached = subject.storage.revision
        await subject.stop()
        shutil.copy(tmp_path / "copy.sqlite", tmp_path / "store.sqlite")
        await subject.start()
        await subject.make("new", "newer")
        assert subject.storage.revision > reached
        subject.network.come_back()
        await found.until(lambda: bool(found.gone) and found.informer.live)

        assert ("lost", Evidence.ABSENT_IN_NEW_HISTORY) in found.gone
        assert {"kept", "new", "newer"} <= found.names
        assert found.informer.history is not None
        assert found.informer.history.number == 2
