"""A shard's segment of the cache: the copies of what the shard holds, under one lease.

What the local store does not hold is deleted there only if that means anything. It means nothing while the store is
new, or older than what was seen of it (the view knows), or another one than the segment was written from (the lease
knows). Then copies without an original are held, until somebody adopts the store, or nothing is missing any more.
"""

from asyncio import Event
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from controllers.copies import ORIGINAL_UID
from controllers.entries import EXPORT, Removal
from controllers.holding import Taken
from controllers.kinds import EXPORTS, SHARDS
from controllers.lease import Lease
from controllers.names import CACHE, ROOT
from controllers.records import NotWritable
from controllers.replication import REPLICATED, Replicator
from controllers.stock import Replicated
from controllers.view import View
from informers.api.errors import Conflict, NotFound, NotSynced
from informers.api.objects import Key, Object
from informers.api.resources import Resource
from informers.cache.informer import SharedInformer
from informers.cache.slices import Slices
from informers.client.client import Client
from informers.client.server import Server
from informers.clock import Clock, SystemClock
from informers.runtime.manager import Manager
from informers.tasks import background

_SYSTEM = SystemClock()


class Segment:
    """One shard's replication."""

    def __init__(
        self,
        shard: str,
        view: View,
        *,
        clock: Clock = _SYSTEM,
        observe: Callable[[Any], None] = lambda fact: None,
        is_right: Callable[[Object[Any]], bool] = lambda obj: True,
    ) -> None:
        """Replicate what that shard holds; the view says whether its store goes on from what was seen of it.

        `is_right` says whether its own Shard is as it should be; another form of it has no copy.
        """
        self.shard = shard
        self.is_right = is_right
        self.lease = Lease(shard, clock=clock, observe=observe, is_right=is_right, last=view.last_copy())
        self.replicators = tuple(Replicator(resource, self) for resource in REPLICATED)
        self.controllers = tuple(replicator.controller() for replicator in self.replicators)
        self.replicated: tuple[Replicated, ...] = ()
        """What is known of each resource; empty until it is fed."""
        self._view = view
        self._observe = observe
        self._wake = Event()
        self._is_taken = False
        self._cached: tuple[SharedInformer[Any], ...] = ()
        self._server: Server | None = None
        self._slices = Slices()

    @property
    def held(self) -> bool:
        """Whether anything may be written into it at this moment."""
        return self.lease.held

    def annotations(self) -> dict[str, str]:
        """Return what the copy of the own Shard is made with."""
        return self.lease.annotations()

    def may_write(self, resource: Resource[Any]) -> bool:
        """Say whether copies of the resource may be written at this moment, and are known."""
        one = self._of(resource)
        if not self.held or not one.synced:
            return False
        self._take_stock(one)
        return True

    def may_exist(self, resource: Resource[Any], key: Key) -> bool:
        """Say whether an original may exist that the local store does not hold, and whose deletion was not seen."""
        return self.is_doubted and self._of(resource).was_found(key)

    def reconsider(self) -> None:
        """See whether anything is still to be doubted."""
        self._wake.set()

    @property
    def is_doubted(self) -> bool:
        """Whether the local store is another one than what the copies are of, or older, and nobody has adopted it."""
        return self._view.local_is_doubted or self.lease.inherited is not None

    def feed(self, manager: Manager) -> None:
        """Say where everything is known from; the Manager must not have begun."""
        self.replicated = tuple(
            Replicated(one, manager.informer(one.resource), manager.informer(one.resource, CACHE))
            for one in self.replicators
        )
        self._cached = tuple(informer for informer in manager.informers if informer.origin.server == CACHE)
        self._server = manager.servers[CACHE]
        self.lease.feed(self._at_cache(ROOT), manager.informer(SHARDS), manager.informer(SHARDS, CACHE))

    async def run(self) -> None:
        """Keep the segment, until cancelled or released; to run beside the Manager.

        Raises `ConfigurationError` when it is another process'.
        """
        await self._view.ready.wait()  # until then nobody knows whether the store is doubted
        with self.lease.taken.listening(self._take), self.lease.recovered.listening(self._hurry):
            async with background(self._follow(), *map(self._await_copies, self.replicated)):
                await self.lease.run()

    async def release(self) -> None:
        """Let the segment go; for when the Manager has stopped."""
        await self.lease.release()

    async def adopt(self) -> None:
        """Take the local store for what it is: let go what it lacks."""
        await self._lift_doubt()

    async def drop(self, removal: Removal) -> None:
        """Have the copy go of an export that somebody says is gone, and that the local store does not hold.

        Raises `NotWritable` while nothing may be written.
        """
        if removal.kind != EXPORT:
            return
        one, key = self._of(EXPORTS), Key("", removal.cluster, "", removal.name)
        if not self.may_write(EXPORTS):
            raise NotWritable(f"expected to hold the segment of the cache, found that its lease is {self.lease.state}")
        copy = one.copies.store.get(Key(self.shard, key.cluster, "", key.name))
        uids = ("", copy.uid, copy.annotations.get(ORIGINAL_UID)) if copy is not None else (removal.uid,)
        if one.home.store.get(key) is not None or removal.uid not in uids:
            return  # what is there is another one
        one.replicator.forget(key)
        if copy is None:
            return
        with suppress(Conflict, NotFound):  # its event is on the way
            await self._at_cache(key.cluster).delete(EXPORTS, key.name, uid=copy.uid)

    def busy(self) -> Iterator[tuple[str, bool]]:
        """Yield what is still to be done, and whether that takes nothing but turns of the loop."""
        if not self.held:
            yield f"the lease of the segment is {self.lease.state}", False
        if self._wake.is_set():
            yield "the segment is to be compared with what is at home", True

    # Following the lease

    def _take(self, taken: Taken) -> None:
        for one in self.replicated:
            one.forget_stock()
            self._take_stock(one)
        self._is_taken = True
        self._wake.set()
        self._observe(taken)

    def _take_stock(self, one: Replicated) -> None:
        """Look at the copies before anything is written to them."""
        one.take_stock(self.lease.legacy.ended if self.lease.legacy.is_unsure else None)

    def _at_cache(self, cluster: str) -> Client:
        assert self._server is not None  # told before it runs
        return self._server.client(cluster, self.shard)

    def _of(self, resource: Resource[Any]) -> Replicated:
        return next(one for one in self.replicated if one.replicator.resource is resource)

    def _hurry(self, _: None) -> None:
        """Have the informers try again at once: the lease asks the cache more often than they do."""
        for informer in self._cached:
            if not informer.live:
                informer.hurry()

    async def _await_copies(self, one: Replicated) -> None:
        with suppress(NotSynced):  # a stop comes together with the cancellation, and of the two the error would win
            await one.copies.wait_synced()
            self._wake.set()

    async def _follow(self) -> None:
        """Have everything visited when the segment was taken, and see from time to time whether anything is missing."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._is_taken:
                self._is_taken = False
                await self._visit_all()
            if self.held and self.lease.legacy.is_unsure:
                await self._make_sure()
            if self.held and self.is_doubted and self._is_whole():
                await self._lift_doubt()

    async def _visit_all(self) -> None:
        for one in self.replicated:
            for key in one.originals() | one.copied():
                one.replicator.again.send((key,))
                if self._slices.over():
                    await self._slices.turn()

    async def _make_sure(self) -> None:
        """Find out whether the local store is older than its copies, as soon as all of them are known."""
        for one in self.replicated:
            self._take_stock(one)
        if any(one.is_outdated for one in self.replicated):
            self.lease.confirm()
        elif all(one.is_stocked for one in self.replicated):
            self.lease.adopt()
            await self._visit_all()

    def _is_whole(self) -> bool:
        """Say whether the local store lacks nothing of all that is known: then there is nothing to doubt."""
        is_seen_whole = not any(entry.source == "local" for entry in self._view.held())
        return is_seen_whole and all(one.synced and not one.missing() for one in self.replicated)

    async def _lift_doubt(self) -> None:
        await self._view.adopt_local()
        self.lease.adopt()
        for one in self.replicated:
            one.replicator.adopt()
        await self._visit_all()
