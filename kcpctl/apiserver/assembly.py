"""Whole servers, put together from their parts: a plain API server, a kcp shard, and kcp's cache server.

They are used the same way: `load` what is stored, give `mounts` to an `ApiServer`, and have `run` running while it
serves. A cache server has nothing to load or to run.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from informers.clock import Clock, SystemClock
from kcpctl.apiserver.admission import Admission
from kcpctl.apiserver.builtin import BUILT_IN
from kcpctl.apiserver.builtin.bootstrap import ensure_namespace
from kcpctl.apiserver.builtin.emptying import NamespaceEmptier
from kcpctl.apiserver.crds.admission import refuse_while_terminating
from kcpctl.apiserver.crds.catalog import CrdCatalog
from kcpctl.apiserver.crds.definition import DEFINITIONS
from kcpctl.apiserver.crds.lifecycle import Lifecycle
from kcpctl.apiserver.kcp.admission import kcp_rules
from kcpctl.apiserver.kcp.clusters import Clusters
from kcpctl.apiserver.kcp.kinds import CACHED, KINDS
from kcpctl.apiserver.kcp.removals import REMOVALS
from kcpctl.apiserver.kcp.scope import CACHE_PREFIX, CacheScoping, ShardScoping
from kcpctl.apiserver.kcp.workspaces import Workspaces
from kcpctl.apiserver.mounts import Mount, Single
from kcpctl.apiserver.served import Served
from kcpctl.apiserver.storage.base import Storage
from kcpctl.apiserver.world import World

_SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_SYSTEM_CLOCK = SystemClock()
_RANDOM = Random()


class _Kinds:
    """A world with built-in and custom kinds, and the work that definitions and namespaces ask for."""

    def __init__(
        self, storage: Storage, builtins: Iterable[Served], rules: Sequence[Admission], clock: Clock, rng: Random
    ) -> None:
        catalog = CrdCatalog(builtins)
        admission = (refuse_while_terminating(catalog), *rules)
        self.world = World(storage, catalog, clock=clock, rng=rng, admission=admission)
        self._definitions = Lifecycle(self.world, catalog)
        self._namespaces = NamespaceEmptier(self.world)

    async def load(self) -> None:
        await self._definitions.load()
        await self._namespaces.load()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._definitions.run(), name="definitions")
            tasks.create_task(self._namespaces.run(), name="namespaces")

    @property
    def at_rest(self) -> bool:
        return self._definitions.at_rest and self._namespaces.at_rest

    async def wait_at_rest(self) -> None:
        await self._definitions.wait_at_rest()
        await self._namespaces.wait_at_rest()

    @property
    def trouble(self) -> str:
        return self._definitions.trouble or self._namespaces.trouble


class PlainServer:
    """An API server without logical clusters: built-in kinds, and those that users define."""

    def __init__(self, storage: Storage, *, clock: Clock = _SYSTEM_CLOCK, rng: Random = _RANDOM) -> None:
        """Serve what this storage holds; nobody else may write to it."""
        self._kinds = _Kinds(storage, (*BUILT_IN, DEFINITIONS), (), clock, rng)
        self.world = self._kinds.world
        self.mounts: Mapping[str, Mount] = {"": Mount(self.world, Single())}

    async def load(self) -> None:
        """Take in what is stored, and make the namespaces that every cluster has; waits for the storage."""
        await self._kinds.load()
        for name in _SYSTEM_NAMESPACES:
            await ensure_namespace(self.world, "", name)

    async def run(self) -> None:
        """Move definitions and namespaces on, until cancelled."""
        await self._kinds.run()

    @property
    def at_rest(self) -> bool:
        """Whether neither definitions nor namespaces move on by themselves at this moment."""
        return self._kinds.at_rest

    async def wait_at_rest(self) -> None:
        """Wait until neither definitions nor namespaces move on by themselves."""
        await self._kinds.wait_at_rest()

    @property
    def trouble(self) -> str:
        """Why definitions or namespaces are not moved on at the moment; "" while all is well."""
        return self._kinds.trouble


class ShardServer:
    """A kcp shard: logical clusters, each with kcp's kinds, the built-in ones, and its own definitions."""

    def __init__(
        self, storage: Storage, *, name: str, url: str, clock: Clock = _SYSTEM_CLOCK, rng: Random = _RANDOM
    ) -> None:
        """Serve what this storage holds; nobody else may write to it.

        `name` is the shard's, `url` (without a path) where clients are told to find its logical clusters.
        """
        self.clusters = Clusters()
        builtins = (*BUILT_IN, DEFINITIONS, *KINDS)
        self._kinds = _Kinds(storage, builtins, kcp_rules(self.clusters), clock, rng)
        self.world = self._kinds.world
        self._workspaces = Workspaces(self.world, self.clusters, shard=name, url=url)
        self.mounts: Mapping[str, Mount] = {"": Mount(self.world, ShardScoping(self.clusters))}

    async def load(self) -> None:
        """Take in what is stored, and make the logical cluster `root`; waits for the storage."""
        await self.clusters.load(self.world.storage)
        await self._kinds.load()
        await self._workspaces.correct_urls()
        await self._workspaces.ensure_root()

    async def run(self) -> None:
        """Move definitions and namespaces on, until cancelled."""
        await self._kinds.run()

    @property
    def at_rest(self) -> bool:
        """Whether neither definitions nor namespaces move on by themselves at this moment."""
        return self._kinds.at_rest

    async def wait_at_rest(self) -> None:
        """Wait until neither definitions nor namespaces move on by themselves."""
        await self._kinds.wait_at_rest()

    async def create_workspace(self, path: str) -> str:
        """Make the workspace of that path unless it is there; return its logical cluster's name.

        Waits for the storage. Raises `Failure`: 400 for what cannot be a workspace's path, 404 where the one above it
        is not on this shard, 409 where the path leads to another shard.
        """
        return await self._workspaces.create(path)

    @property
    def trouble(self) -> str:
        """Why definitions or namespaces are not moved on at the moment; "" while all is well."""
        return self._kinds.trouble


class CacheServer:
    """kcp's cache server: it keeps what shards replicate to it, as it comes, and what operators say is gone."""

    def __init__(self, storage: Storage, *, clock: Clock = _SYSTEM_CLOCK, rng: Random = _RANDOM) -> None:
        """Serve what this storage holds; it may not be a shard's."""
        self.world = World(storage, CrdCatalog((*CACHED, REMOVALS)), clock=clock, rng=rng)
        self.mounts: Mapping[str, Mount] = {"": Mount(self.world, CacheScoping())}
        """For a server of its own, with or without `/services/cache` in its paths."""
        self.embedded: Mapping[str, Mount] = {CACHE_PREFIX: Mount(self.world, CacheScoping(CACHE_PREFIX))}
        """For a place beside a shard, in the same server."""
