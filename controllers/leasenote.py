"""Where a lease stands: an annotation of the Shard's own copy in the cache, read and written there."""

from typing import Any

from controllers.copies import HOLDER, wanted_copy
from controllers.holding import Finder, Holder
from controllers.kinds import SHARDS, Shard
from controllers.names import ROOT
from informers.api.errors import NotFound
from informers.api.histories import Lineage
from informers.api.objects import Object
from informers.cache.informer import SharedInformer
from informers.client.client import Client


class LeaseNote:
    """The annotation of one shard's lease. Every write is made upon a known state of the copy, or conflicts."""

    def __init__(self, shard: str, client: Client, home: SharedInformer[Shard]) -> None:
        """`client` is one of the cluster root in the shard's segment; `home` has the Shard itself."""
        self._shard = shard
        self._client = client
        self._home = home

    @property
    def lineage(self) -> Lineage:
        """What the local server says of its store."""
        return self._home.lineage

    def own(self) -> Object[Shard] | None:
        """Return the Shard at home."""
        return self._home.lister.cluster(ROOT).find(self._shard)

    def finder(self, process: str) -> Finder:
        """Return what tells this process, and how far it has followed its store."""
        own = self.own()
        return Finder(process, self.lineage, self._home.store.revision, own.uid if own is not None else "")

    async def find(self) -> Object[Shard] | None:
        """Return the copy, as the cache server has it now."""
        try:
            return await self._client.get(SHARDS, self._shard)
        except NotFound:
            return None

    async def make(self, own: Object[Shard], holder: Holder) -> str:
        """Make the copy, saying who holds the segment; return its revision."""
        wanted = wanted_copy(own, self._shard)
        wanted["metadata"]["annotations"][HOLDER] = holder.text
        return (await self._client.create(SHARDS, wanted)).rv

    async def write(self, rv: str, holder: Holder) -> str:
        """Say upon the copy at that revision who holds the segment; return the next one. Raises `Conflict`."""
        change: dict[str, Any] = {"metadata": {"resourceVersion": rv, "annotations": {HOLDER: holder.text}}}
        return (await self._client.patch(SHARDS, self._shard, change)).rv
