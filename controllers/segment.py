"""A shard's segment of the cache: the copies of what the shard holds, under one lease.

What the local store does not hold is deleted there only if that means anything. It means nothing while the store is
new, or older than what was seen of it (the view knows), or another one than the segment was written from (the lease
knows). Then copies without an original are held, until somebody adopts the store, or nothing is missing any more.
"""

from asyncio import Event
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from controllers.kinds import SHARDS
from controllers.lease import Lease, Taken
from controllers.names import CACHE, ROOT
from controllers.replication import REPLICATED, Replicator
from controllers.view import View
from informers.api.errors import NotSynced
from informers.api.objects import Key
from informers.api.resources import Resource
from informers.cache.informer import SharedInformer
from informers.cache.slices import Slices
from informers.clock import Clock, SystemClock
from informers.runtime.manager import Manager
from informers.tasks import background

_SYSTEM = SystemClock()


class Replicated:
    """One resource: its replicator, and what is known of it at home and in the cache."""

    def __init__(self, replicator: Replicator, home: SharedInformer[Any], copies: SharedInformer[Any]) -> None:
        """Put them together."""
        self.replicator = replicator
        self.home = home
        self.copies = copies
        self._found: set[Key] = set()
        self._number = 0

    @property
    def synced(self) -> bool:
        """Whether both sides are known."""
        return self.home.synced and self.copies.synced

    def originals(self) -> set[Key]:
        """Return the keys of all that is to have a copy."""
        return {key for key in self.home.store.keys if not key.cluster.startswith("system:")}

    def copied(self) -> set[Key]:
        """Return the keys of the originals of all copies in the segment."""
        shard = self.replicator.shard
        return {key.shardless() for key in self.copies.store.keys if key.shard == shard}

    def extra(self) -> set[Key]:
        """Return the keys of copies that have no original; registration makes that of the own Shard again."""
        there = self.home.store
        return {key for key in self.copied() if there.get(key) is None and not self.replicator.is_own_shard(key)}

    def take_stock(self) -> None:
        """Remember which copies the segment holds: none but those can be another store's."""
        history = self.copies.history
        if history is not None:
            self._found |= self.copied()
            self._number = history.number

    def was_found(self, key: Key) -> bool:
        """Say whether a copy was there when the segment was taken, or came with another history of the cache since."""
        history = self.copies.history
        if history is not None and history.number != self._number:
            self.take_stock()
        return key in self._found

    def missing(self) -> set[Key]:
        """Return the keys of all that was ever found, and that the local store lacks though it was not deleted.

        Copies that went with an emptied cache are among them: they may come back with an older one.
        """
        lacked = {key for key in self._found if self.home.store.get(key) is None}
        return {key for key in lacked if not self.replicator.is_own_shard(key) and not self.replicator.was_deleted(key)}


class Segment:
    """One shard's replication."""

    def __init__(
        self, shard: str, view: View, *, clock: Clock = _SYSTEM, observe: Callable[[Any], None] = lambda fact: None
    ) -> None:
        """Replicate what that shard holds; the view says whether its store goes on from what was seen of it."""
        self.shard = shard
        self.lease = Lease(shard, clock=clock)
        self.replicators = tuple(Replicator(resource, self) for resource in REPLICATED)
        self.controllers = tuple(replicator.controller() for replicator in self.replicators)
        self.replicated: tuple[Replicated, ...] = ()
        """What is known of each resource; empty until it is fed."""
        self._view = view
        self._observe = observe
        self._wake = Event()
        self._is_taken = False
        self._cached: tuple[SharedInformer[Any], ...] = ()
        self._slices = Slices()

    @property
    def held(self) -> bool:
        """Whether anything may be written into it at this moment."""
        return self.lease.held

    def annotations(self) -> dict[str, str]:
        """Return what the copy of the own Shard is made with."""
        return self.lease.annotations()

    def was_found(self, resource: Resource[Any], key: Key) -> bool:
        """Say whether a copy may be another store's."""
        return any(one.was_found(key) for one in self.replicated if one.replicator.resource is resource)

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
        client = manager.servers[CACHE].client(ROOT, self.shard)
        self.lease.feed(client, manager.informer(SHARDS), manager.informer(SHARDS, CACHE))

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

    async def adopt(self) -> int:
        """Take the local store for what it is: let go what it lacks; return how many copies that were."""
        count = sum(len(one.replicator.held) for one in self.replicated)
        await self._lift_doubt()
        return count

    def busy(self) -> Iterator[tuple[str, bool]]:
        """Yield what is still to be done, and whether that takes nothing but turns of the loop."""
        if not self.held:
            yield f"the lease of the segment is {self.lease.state}", False
        if self._wake.is_set():
            yield "the segment is to be compared with what is at home", True

    # Following the lease

    def _take(self, taken: Taken) -> None:
        for one in self.replicated:
            one.take_stock()
        self._is_taken = True
        self._wake.set()
        self._observe(taken)

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
            if self.held and self.is_doubted and self._is_whole():
                await self._lift_doubt()

    async def _visit_all(self) -> None:
        for one in self.replicated:
            for key in one.originals() | one.copied():
                one.replicator.again.send((key,))
                if self._slices.over():
                    await self._slices.turn()

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
