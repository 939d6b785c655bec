"""A restart at any point leaves a view that knows the same, whatever happened before; no URL goes without evidence.

Two views watch one cache server: one that never restarts, and one that does so again and again. What they know is
compared after every step.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from random import Random
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from controllers.copies import ORIGINAL_RV, ORIGINAL_UID
from controllers.entries import EXPORT, SHARD, Kind, Place, State
from controllers.feeding import asking
from controllers.keeping import Changes
from controllers.kinds import EXPORTS, SHARDS
from controllers.names import CACHE
from controllers.publishing import SeenShard
from controllers.view import View
from informers import Client, Key, Manager, NotFound, Scope, Server, SharedInformer, VirtualClock
from informers.api.objects import PATH
from informers.tasks import background
from kcpctl.apiserver.http.inprocess import InProcess
from kcpctl.apiserver.storage.memory import MemoryStorage
from tests.controllers.keepers import MemoryKeeper
from tests.faults import Network
from tests.integration.site import Cache, Restored

CALM = 120.0
"""Seconds after which every connection is back that can be, and every removal has settled."""


class MortalKeeper(MemoryKeeper):
    """Keeps a view whose process may die the moment that something is safe, before anybody has heard of it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_dying = False

    async def save(self, changes: Changes) -> None:
        await super().save(changes)
        if self.is_dying:
            await asyncio.Event().wait()


class Watcher:
    """A view over the cache, and the processes in which it lives, one after the other."""

    def __init__(self, cache: Cache, clock: VirtualClock) -> None:
        self.keeper = MortalKeeper()
        self._clock = clock
        self._network = Network(InProcess(cache))
        self._server = Server(CACHE, self._network, scope=Scope.CACHE, clock=clock)
        self._life = AsyncExitStack()

    async def live(self) -> None:
        """Begin a life."""
        await self._life.enter_async_context(self._alive())
        await self._clock.advance(CALM)

    async def die(self) -> None:
        """End it, at whatever point it is."""
        await self._life.aclose()
        self.keeper.is_dying = False

    @asynccontextmanager
    async def _alive(self) -> AsyncIterator[None]:
        manager = Manager({CACHE: self._server}, clock=self._clock, rng=Random(0))
        self.view = View(self.keeper, home="amber", clock=self._clock)
        informers: list[tuple[Kind, SharedInformer[Any]]] = [
            (SHARD, manager.informer(SHARDS)),
            (EXPORT, manager.informer(EXPORTS)),
        ]
        for kind, informer in informers:
            self.view.feed(kind, "cache", informer, asking(self._server.client(), informer), manager.failed(informer))
        async with manager, background(self.view.run()):
            yield

    async def reach(self, *, reachable: bool) -> None:
        if reachable:
            self._network.come_back()
        else:
            await self._network.go_away()

    async def cut(self) -> None:
        await self._network.cut()

    def knows(self) -> tuple[list[Any], list[Any]]:
        """Return what publishing depends on, and on nothing else."""
        known = self.view.sightings
        shards = [(one.name, one.url, one.labels, one.held_since is not None) for one in known.shards().seen]
        exports = [(one.key, one.what, one.state is State.HELD) for one in known.entries(EXPORT)]
        return shards, sorted(exports, key=str)

    def urls(self) -> set[str]:
        return {one.url for one in self.view.shards().seen}

    def outdone(self) -> set[str]:
        """Return the URLs that are not those which their shards, being there, say of themselves."""
        every = [one for one in self.view.sightings.entries(SHARD) if one.state is State.PRESENT]
        at_home = {one.key.name for one in every if one.key.shard == one.key.name}
        found = (one.what for one in every if one.key.name in at_home and one.key.shard != one.key.name)
        return {one.url for one in found if isinstance(one, SeenShard)}

    async def aclose(self) -> None:
        await self.die()
        await self._server.aclose()


SEGMENTS, NAMES, URLS = ("beryl", "coral"), ("beryl", "coral"), ("https://1", "https://2", "https://3")
CLUSTERS, PATHS = ("c1", "c2"), ("", "root:one", "root:two")

steps = st.lists(
    st.one_of(
        st.tuples(st.just("put shard"), st.sampled_from(SEGMENTS), st.sampled_from(NAMES), st.sampled_from(URLS)),
        st.tuples(st.just("delete shard"), st.sampled_from(SEGMENTS), st.sampled_from(NAMES)),
        st.tuples(st.just("put export"), st.sampled_from(SEGMENTS), st.sampled_from(CLUSTERS), st.sampled_from(PATHS)),
        st.tuples(st.just("delete export"), st.sampled_from(SEGMENTS), st.sampled_from(CLUSTERS)),
        st.tuples(st.sampled_from(["restart", "die when safe", "cut", "leave", "return", "forget"])),
        st.tuples(st.sampled_from(["empty", "restore", "replicate"])),
    ),
    min_size=3,
    max_size=14,
)


PUT, MOVE = (("put shard", "beryl", "beryl", url) for url in URLS[:2])
MOVED_AND_RESTORED = (PUT, ("restore",), MOVE, ("restore",))


class Story:
    """What happens to a cache and to those who watch it."""

    def __init__(self) -> None:
        self.clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
        self.cache = Cache(self.clock)
        self.steady, self.restless = Watcher(self.cache, self.clock), Watcher(self.cache, self.clock)
        self.watchers = (self.steady, self.restless)
        self.gone: set[str] = set()
        """URLs for whose going there was evidence: somebody deleted the Shard, or gave it another one."""
        self._urls: dict[tuple[str, str], str] = {}
        """The last URL of each Shard, whether it is still there or not."""
        self._revision = 0
        self._copies: dict[tuple[str, ...], tuple[Any, str, str, dict[str, Any]]] = {}
        """What the shards have, and replicate again where the cache has lost it."""
        self._is_reachable = True
        self._deleted: Place | None = None
        self._backup: Callable[[], MemoryStorage] | None = None

    async def play(self, taken: list[tuple[str, ...]]) -> None:
        for step, *arguments in taken:
            before = [watcher.urls() for watcher in self.watchers]
            await self._take(step, arguments)
            await self.clock.advance(CALM)
            await self._rise()
            for known, watcher in zip(before, self.watchers, strict=True):
                lost = known - watcher.urls() - self.gone - watcher.outdone()
                assert not lost, f"{step} took a URL away without evidence"
            assert self.steady.knows() == self.restless.knows(), step
            self._check_deleted()
        for watcher in self.watchers:
            await watcher.reach(reachable=True)
        await self.clock.advance(CALM)
        assert self.steady.knows() == self.restless.knows(), "once all is calm"

    def _check_deleted(self) -> None:
        """Check that what was deleted before everybody's eyes is known no more, unless it has a twin."""
        deleted, self._deleted = self._deleted, None
        if deleted is None or not self._is_reachable:
            return
        known = self.steady.view.sightings
        twins = (known.get(place) for place in known.named(deleted.name) if place != deleted)
        if not any(twin is not None and twin.state is State.PRESENT for twin in twins):
            assert known.get(deleted) is None

    async def _rise(self) -> None:
        """Begin the next life where one has ended, or ends now."""
        if self.restless.keeper.is_dying:
            await self.restless.die()
            await self.restless.live()

    async def _take(self, step: str, arguments: Sequence[str]) -> None:
        match step, *arguments:
            case "put shard", segment, name, url:
                await self._put_shard(segment, name, url)
            case "delete shard", segment, name:
                await self._delete(SHARDS, segment, "root", name)
            case "put export", segment, cluster, path:
                await self._put_export(segment, cluster, path)
            case "delete export", segment, cluster:
                await self._delete(EXPORTS, segment, cluster, "e")
            case ("restart",):
                await self.restless.die()
                await self.restless.live()
            case ("die when safe",):
                self.restless.keeper.is_dying = True
            case (step,):
                await self._disturb(step)

    async def _disturb(self, step: str) -> None:
        match step:
            case "cut":
                for watcher in self.watchers:
                    await watcher.cut()
            case "leave" | "return":
                self._is_reachable = step == "return"
                for watcher in self.watchers:
                    await watcher.reach(reachable=self._is_reachable)
            case "forget":
                await self.cache.storage.compact(self.cache.storage.revision)
            case "empty":
                await self.clock.advance(1)
                await self._serve(MemoryStorage(clock=self.clock))
            case "restore":
                await self._restore()
            case "replicate":
                for resource, segment, cluster, body in tuple(self._copies.values()):
                    await self._put(resource, segment, cluster, body)

    def _segment(self, shard: str, cluster: str) -> Client:
        return self.cache.client().shard(shard).cluster(cluster)

    async def _put_shard(self, segment: str, name: str, url: str) -> None:
        self.gone |= {self._urls.get((segment, name), url)} - {url}
        self._urls[segment, name] = url
        spec = {"baseURL": url, "externalURL": url, "virtualWorkspaceURL": url}
        notes = self._original(f"{segment} {name}")
        await self._put(SHARDS, segment, "root", {"metadata": {"name": name, "annotations": notes}, "spec": spec})

    async def _put_export(self, segment: str, cluster: str, path: str) -> None:
        notes = {**self._original(f"{segment} {cluster}"), PATH: path or None}
        await self._put(EXPORTS, segment, cluster, {"metadata": {"name": "e", "annotations": notes}, "spec": {}})

    def _original(self, uid: str) -> dict[str, Any]:
        """Return what a replicator says of an original that it copies; each copy is of a later form."""
        self._revision += 1
        return {ORIGINAL_UID: uid, ORIGINAL_RV: str(self._revision)}

    async def _put(self, resource: Any, segment: str, cluster: str, body: dict[str, Any]) -> None:
        """Have the cache hold the copy."""
        client, name = self._segment(segment, cluster), body["metadata"]["name"]
        self._copies[resource.plural, segment, cluster, name] = (resource, segment, cluster, body)
        try:
            await client.patch(resource, name, body)
        except NotFound:
            notes = {key: value for key, value in body["metadata"]["annotations"].items() if value}
            await client.create(resource, body | {"metadata": {"name": name, "annotations": notes}})

    async def _delete(self, resource: Any, segment: str, cluster: str, name: str) -> None:
        client = self._segment(segment, cluster)
        self._copies.pop((resource.plural, segment, cluster, name), None)
        try:
            old = await client.get(resource, name)
            await client.delete(resource, name)
        except NotFound:
            return
        kind: Kind = SHARD if resource is SHARDS else EXPORT
        self._deleted = Place(kind, "cache", Key(segment, cluster, "", name))
        if resource is SHARDS:
            self.gone |= {old.at("spec", "virtualWorkspaceURL"), self._urls[segment, name]}

    async def _restore(self) -> None:
        """Back the cache up the first time, then have it begin with that copy."""
        if self._backup is not None:
            await self._serve(self._backup())
            return
        store = self.cache.storage
        records, revision, terms = (await store.range("")).records, store.revision, store.terms
        self._backup = lambda: Restored(records, revision, store.identity, terms, self.clock)

    async def _serve(self, storage: MemoryStorage) -> None:
        self.cache.start(storage)
        for watcher in self.watchers:
            await watcher.cut()

    async def run(self, taken: list[tuple[str, ...]]) -> None:
        async with AsyncExitStack() as stack:
            for watcher in self.watchers:
                stack.push_async_callback(watcher.aclose)
                await watcher.live()
            await self.play(taken)


@settings(max_examples=30, deadline=None)
@given(steps)
@example([*MOVED_AND_RESTORED, ("delete shard", "beryl", "beryl")])
@example([*MOVED_AND_RESTORED, ("restart",), ("replicate",), ("delete shard", "beryl", "beryl")])
@example([PUT, ("empty",), ("replicate",), ("restart",), ("delete shard", "beryl", "beryl")])
def test_a_restart_at_any_point_changes_nothing_and_no_url_goes_without_evidence(taken: list[tuple[str, ...]]) -> None:
    asyncio.run(Story().run(taken))
