"""A shard and a cache server, in memory, whose work runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from informers.tasks import background
from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.assembly import CacheServer, ShardServer
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.storage.base import Storage
from kcpctl.apiserver.storage.memory import MemoryStorage
from tests.kcpctl.apiserver.asking import Client

EXPORTS = "/apis/apis.kcp.io/v1alpha1/apiexports"
SLICES = "/apis/apis.kcp.io/v1alpha1/apiexportendpointslices"
LOGICAL_CLUSTERS = "/apis/core.kcp.io/v1alpha1/logicalclusters"
SHARDS = "/apis/core.kcp.io/v1alpha1/shards"
WORKSPACES = "/apis/tenancy.kcp.io/v1alpha1/workspaces"
URL = "https://127.0.0.1:6443"


class Shard(Client):
    """A client of a shard, which it can look into."""

    def __init__(self, storage: Storage, *, url: str = URL) -> None:
        self.storage = storage
        self.server = ShardServer(storage, name="amber", url=url)
        super().__init__(ApiServer(self.server.mounts, Authentication()))

    def inside(self, cluster: str) -> Client:
        """Return a client of one logical cluster."""
        return self.at(f"/clusters/{cluster}")

    @property
    def root(self) -> Client:
        """A client of the logical cluster `root`."""
        return self.inside("root")


@asynccontextmanager
async def running(storage: Storage, *, url: str = URL) -> AsyncIterator[Shard]:
    """Run a shard on this storage."""
    shard = Shard(storage, url=url)
    await shard.server.load()
    async with background(shard.server.run()):
        yield shard


@pytest.fixture
async def storage() -> AsyncIterator[Storage]:
    """Return a store in memory."""
    store = MemoryStorage()
    yield store
    await store.aclose()


@pytest.fixture
async def shard(storage: Storage) -> AsyncIterator[Shard]:
    """Return a shard that runs."""
    async with running(storage) as server:
        yield server


@pytest.fixture
def cache() -> Client:
    """Return a client of a cache server."""
    return Client(ApiServer(CacheServer(MemoryStorage()).mounts, Authentication()))


def slice_of(export: Any = None, name: str = "things", **fields: Any) -> dict[str, Any]:
    """Return a slice of an export."""
    return {
        "apiVersion": "apis.kcp.io/v1alpha1",
        "kind": "APIExportEndpointSlice",
        "metadata": {"name": name},
        "spec": {"export": export or {"name": "things"}},
    } | fields


def export(name: str = "things", **fields: Any) -> dict[str, Any]:
    """Return an export; `metadata` is added to its own."""
    metadata = {"name": name} | fields.pop("metadata", {})
    return {"apiVersion": "apis.kcp.io/v1alpha1", "kind": "APIExport", "metadata": metadata} | fields


def shard_object(**spec: Any) -> dict[str, Any]:
    """Return a Shard."""
    metadata = {"name": "amber", "labels": {"region": "eu"}}
    return {"apiVersion": "core.kcp.io/v1alpha1", "kind": "Shard", "metadata": metadata, "spec": spec}
