"""Replication: each Shard, APIExport and slice of the local shard has a copy in the cache, and no others have."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Protocol

from controllers.bounded import Bounded
from controllers.copies import JSON, copy_changed, fields_of, updated_copy, wanted_copy
from controllers.kinds import EXPORTS, SHARDS, SLICES
from controllers.names import CACHE, ROOT
from informers.api.errors import AlreadyExists, NotFound
from informers.api.objects import Key, Object
from informers.api.resources import Resource
from informers.cache.listers import Lister
from informers.cache.notices import Evidence, Notice
from informers.client.client import Client
from informers.runtime.channels import Channel, Listen
from informers.runtime.cluster import Cluster
from informers.runtime.controller import Controller, controller
from informers.runtime.result import Result
from informers.runtime.sources import Watch

REPLICATED: tuple[Resource[Any], ...] = (SHARDS, EXPORTS, SLICES)

_SEEN_WITHIN = 10.0
"""Seconds after which a copy that was made, and has not been seen, is made once more."""
_REMEMBERED = 100_000
"""Deletions that are remembered, the latest; to forget one means that a copy may be held which could go."""


class Rights(Protocol):
    """What may be written into a shard's segment of the cache."""

    @property
    def shard(self) -> str:
        """The shard whose segment it is."""
        ...

    def may_write(self, resource: Resource[Any]) -> bool:
        """Say whether copies of the resource may be written at this moment, and are known."""
        ...

    def is_right(self, obj: Object[Any]) -> bool:
        """Say whether an original is as it should be; the own Shard that is not is about to be made so."""
        ...

    def may_exist(self, resource: Resource[Any], key: Key) -> bool:
        """Say whether an original may exist that the local store does not hold, and whose deletion was not seen.

        It may when the store is another one than what the copies are of, or older, and the copy is not from later.
        """
        ...

    def annotations(self) -> dict[str, str]:
        """Return what the copy of the own Shard is made with."""
        ...

    def reconsider(self) -> None:
        """See whether anything is still to be doubted: less is held than before."""
        ...


class Replicator:
    """Keeps the copies of one resource equal to the local originals, while the lease of their segment is held.

    A copy without an original goes, unless the original may exist all the same: it was lost with the server's data, or
    the local store is doubted and its deletion was not seen here. Such copies are `held`.
    """

    def __init__(self, resource: Resource[Any], rights: Rights) -> None:
        """Begin with nothing known."""
        self.resource = resource
        self.shard = rights.shard
        self.held: set[Key] = set()
        """Originals, by their keys, that are not there and have copies which stay."""
        self.again: Channel[Iterable[Key]] = Channel()
        """Has keys visited that nothing else would wake."""
        self._rights = rights
        self._lost: set[Key] = set()
        self._deleted: Bounded[Key] = Bounded(_REMEMBERED)
        self._written: dict[Key, tuple[str, bytes]] = {}
        """What was written last to copies of which nothing has been heard since."""

    async def reconcile(self, obj: Object[Any], cluster: Cluster) -> Result | None:
        """Create or update the copy, or delete it once nothing keeps the original."""
        if obj.cluster.startswith("system:") or not self._rights.may_write(self.resource):
            return None
        if self.is_own_shard(obj.key) and not self._rights.is_right(obj):
            return None
        self._let_go(obj.key)
        copy = self._copy(obj.name, cluster)
        if obj.deleting and not obj.metadata.finalizers:
            await self._delete(copy, cluster)
            return None
        if self._written.pop(obj.key, None) is not None:
            return Result(requeue_after=_SEEN_WITHIN)  # what is known of the copy is outdated, and its event will wake
        client = cluster.client_of(CACHE).shard(self.shard)
        wanted = wanted_copy(obj, self.shard)
        if copy is None:
            if self.is_own_shard(obj.key):
                wanted["metadata"]["annotations"] |= self._rights.annotations()
            return await self._create(wanted, client)
        if (changed := updated_copy(fields_of(copy), wanted)) is not None:
            written = await client.update(self.resource, changed)
            if written.rv != copy.rv and self._copy(obj.name, cluster) is copy:
                self._written[obj.key] = _mark(written)
        return None

    async def _create(self, wanted: JSON, client: Client) -> Result:
        """Create a copy, and look again until it has been seen: only what was seen is missed when it is lost.

        A cache server that is emptied between the creation and its event tells of neither.
        """
        with suppress(AlreadyExists):  # its event is on the way, and has it compared
            await client.create(self.resource, wanted)
        return Result(requeue_after=_SEEN_WITHIN)

    async def gone(self, key: Key, cluster: Cluster) -> Result | None:
        """Delete the copy of an original that is not there."""
        if not self._rights.may_write(self.resource) or self.is_own_shard(key):
            return None
        copy = self._copy(key.name, cluster)
        if copy is not None and self.may_exist(key):
            self.held.add(key)
            return None
        self._let_go(key)
        await self._delete(copy, cluster)
        return None

    def adopt(self) -> None:
        """Take the local store for what it is; what is held has to be visited then."""
        self._lost.clear()

    def forget(self, key: Key) -> None:
        """Take somebody's word that an original is gone which is not there: its copy is to go."""
        self._lost.discard(key)
        self._deleted.add(key)
        self._let_go(key)

    def was_deleted(self, key: Key) -> bool:
        """Say whether an original was seen to be deleted, and has not come back."""
        return key in self._deleted

    def may_exist(self, key: Key) -> bool:
        """Say whether an original that is not there may exist all the same."""
        return key in self._lost or (not self.was_deleted(key) and self._rights.may_exist(self.resource, key))

    def _let_go(self, key: Key) -> None:
        if key in self.held:
            self.held.discard(key)
            self._rights.reconsider()

    def _copy(self, name: str, cluster: Cluster) -> Object[Any] | None:
        return cluster.lister(self.resource, CACHE).shard(self.shard).find(name)

    def is_own_shard(self, key: Key) -> bool:
        """Say whether it is this process' own Shard: registration makes it again, and its copy never goes."""
        return self.resource is SHARDS and (key.cluster, key.name) == (ROOT, self.shard)

    async def _delete(self, copy: Object[Any] | None, cluster: Cluster) -> None:
        if copy is None:
            return
        try:
            await cluster.client_of(CACHE).shard(self.shard).delete(self.resource, copy.name, uid=copy.uid)
        except NotFound:
            return  # its event is on the way

    def originals(self, notice: Notice[Any]) -> list[Key]:
        """Remember of an original that went whether it was deleted or lost; it is visited anyway."""
        key = notice.key.shardless()
        self._lost.discard(key)
        self._deleted.discard(key)
        if notice.new is None:
            (self._lost if notice.evidence is Evidence.ABSENT_IN_NEW_HISTORY else self._deleted).add(key)
        return []

    def own_copies(self, notice: Notice[Any]) -> list[Key]:
        """Map a copy in our segment of the cache to its original, unless it is what was just written, to the byte."""
        if notice.key.shard != self.shard:
            return []
        key = notice.key.shardless()
        written = self._written.pop(key, None) if self._written else None
        is_known = written is not None and notice.new is not None and written == _mark(notice.new)
        return [] if is_known else [key]

    def controller(self, patience: float = 2.0) -> Controller[Any]:
        """Return the controller; its Manager needs a server named `cache`, which it waits for with patience."""
        resource = self.resource
        originals = Watch(resource, to=self.originals, careful=True)
        changed = copy_changed if resource is SHARDS else None
        copies = Watch(resource, to=self.own_copies, where=changed, server=CACHE, patience=patience)
        again = Listen(self.again, to=_themselves)
        return controller(
            resource,
            name=f"replication-{resource.plural}",
            gone=self.gone,
            watches=[originals, copies, again],
            workers=16,
        )(self.reconcile)


def _mark(copy: Object[Any]) -> tuple[str, bytes]:
    """Return what tells a copy from any other; its bytes count, since another history may have its revision too."""
    return copy.rv, copy.raw.rstrip()


def _themselves(keys: Iterable[Key], _: Lister[Any]) -> Iterable[Key]:
    return keys
