"""Replication: each Shard, APIExport and slice of the local shard has a copy in the cache, and no others have."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from controllers.copies import JSON, updated_copy, wanted_copy
from controllers.kinds import EXPORTS, SHARDS, SLICES
from controllers.names import CACHE, ROOT
from informers.api.errors import AlreadyExists, NotFound
from informers.api.objects import Key, Object
from informers.api.resources import Resource
from informers.cache.notices import Evidence, Notice
from informers.client.client import Client
from informers.runtime.cluster import Cluster
from informers.runtime.controller import Controller, controller
from informers.runtime.result import Result
from informers.runtime.sources import Watch

REPLICATED: tuple[Resource[Any], ...] = (SHARDS, EXPORTS, SLICES)

_SEEN_WITHIN = 10.0
"""Seconds after which a copy that was made, and has not been seen, is made once more."""


@dataclass(frozen=True)
class Replicator:
    """Keeps the copies of one resource equal to the local originals.

    `is_new_store`: the local store was made when this process started. What it never held may exist all the same, so
    copies without an original are then held, and listed in `held`, instead of deleted. So are those of originals that
    were lost with the server's data, as far as anybody can tell.
    """

    resource: Resource[Any]
    shard: str
    is_new_store: bool = False
    held: set[Key] = field(default_factory=set)
    _originals: set[Key] = field(default_factory=set)
    _lost: set[Key] = field(default_factory=set)

    async def reconcile(self, obj: Object[Any], cluster: Cluster) -> Result | None:
        """Create or update the copy, or delete it once nothing keeps the original."""
        if obj.cluster.startswith("system:") or not cluster.lister(self.resource, CACHE).synced:
            return None
        self._originals.add(obj.key)
        self.held.discard(obj.key)
        copy = self._copy(obj.name, cluster)
        if obj.deleting and not obj.metadata.finalizers:
            await self._delete(copy, cluster)
            return None
        client = cluster.client_of(CACHE).shard(self.shard)
        wanted = wanted_copy(obj, self.shard)
        if copy is None:
            return await self._create(wanted, client)
        if (changed := updated_copy(copy.body, wanted)) is not None:
            await client.update(self.resource, changed)
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
        if not cluster.lister(self.resource, CACHE).synced or self._is_own_shard(key):
            return None
        copy = self._copy(key.name, cluster)
        if copy is not None and (key in self._lost or (self.is_new_store and key not in self._originals)):
            self.held.add(key)
            return None
        self.held.discard(key)
        if copy is not None:
            await self._delete(copy, cluster)
            self._originals.discard(key)  # not before: a copy may be seen only later, and its deletion may fail
        return None

    def _copy(self, name: str, cluster: Cluster) -> Object[Any] | None:
        return cluster.lister(self.resource, CACHE).shard(self.shard).find(name)

    def _is_own_shard(self, key: Key) -> bool:
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
        """Remember of an original that went whether it was lost; it is visited anyway."""
        key = notice.key.shardless()
        if notice.evidence is Evidence.ABSENT_IN_NEW_HISTORY:
            self._lost.add(key)
        else:
            self._lost.discard(key)
        return []

    def own_copies(self, notice: Notice[Any]) -> list[Key]:
        """Map a copy in our segment of the cache to its original."""
        return [notice.key.shardless()] if notice.key.shard == self.shard else []


def replication(shard: str, *, is_new_store: bool = False, patience: float = 2.0) -> list[Controller[Any]]:
    """Return one controller for each replicated resource; their Manager needs a server named `cache`."""
    return [_replicating(Replicator(resource, shard, is_new_store), patience) for resource in REPLICATED]


def _replicating(replicator: Replicator, patience: float) -> Controller[Any]:
    resource = replicator.resource
    originals = Watch(resource, to=replicator.originals)
    copies = Watch(resource, to=replicator.own_copies, server=CACHE, patience=patience)
    return controller(
        resource, name=f"replication-{resource.plural}", gone=replicator.gone, watches=[originals, copies], workers=16
    )(replicator.reconcile)
