"""A world for reconcilers: what two servers are known to hold, as plain objects."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from controllers.endpointslice import EndpointSlices
from controllers.entries import EXPORT, SHARD, Moment, Place, Source, State
from controllers.evidence import Missing, There
from controllers.feeding import counts, read
from controllers.judging import Draft
from controllers.keeping import Changes, Kept, Standing
from controllers.kinds import EXPORTS, LOGICAL_CLUSTERS, PARTITIONS, SHARDS, SLICES
from controllers.references import REFERENCE_INDEX, names_of_cluster
from controllers.sightings import Sightings
from informers.api.decoding import Reader
from informers.api.objects import Object
from informers.api.resources import Resource
from informers.cache.indexers import by_cluster
from informers.cache.listers import Lister
from informers.cache.notices import Evidence, Notice
from informers.cache.store import Store
from informers.client.addresses import Scope
from informers.client.server import Server
from informers.client.transport import Request, Response
from informers.clock import VirtualClock
from informers.runtime.cluster import Cluster, Declared, World, declared

START = datetime(2026, 1, 1, tzinfo=UTC)


class NoTransport:
    """Refuses every request: these reconcilers only say what they wish."""

    async def send(self, request: Request) -> Response:
        raise AssertionError(f"unexpected {request.method} {request.target}")

    async def aclose(self) -> None:
        pass


def made(resource: Resource[Any], name: str, cluster: str = "c1", *, shard: str = "", **body: Any) -> Object[Any]:
    """Return an object of that resource; `annotations` and `labels` go into its metadata."""
    notes = {"kcp.io/cluster": cluster} | ({"kcp.io/shard": shard} if shard else {}) | body.pop("annotations", {})
    metadata = {"name": name, "uid": f"uid-{name}", "annotations": notes, "labels": body.pop("labels", {})}
    whole = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **body}
    return Reader(resource).object(json.dumps(whole).encode())


def shard(name: str, *, home: str = "", url: str | None = None, **labels: str) -> Object[Any]:
    """Return a Shard."""
    spec = {"baseURL": f"https://{name}:1", "virtualWorkspaceURL": f"https://{name}:1" if url is None else url}
    return made(SHARDS, name, "root", shard=home, spec=spec, labels=labels)


@dataclass
class Knowledge:
    """What the local server and the cache show, and what is remembered of it."""

    clock: VirtualClock = field(default_factory=lambda: VirtualClock(START))
    synced: bool = True
    """Whether the cache has synced in this process."""

    def __post_init__(self) -> None:
        indexers: dict[str, dict[str, Any]] = {str(LOGICAL_CLUSTERS): {REFERENCE_INDEX: names_of_cluster}}
        self.stores = {
            (server, str(resource)): Store({"cluster": by_cluster, **indexers.get(str(resource), {})})
            for server in ("local", "cache")
            for resource in (SHARDS, EXPORTS, PARTITIONS, LOGICAL_CLUSTERS, SLICES)
        }
        standing = Standing(self.clock.now()) if self.synced else Standing()
        self.known = Sightings("amber", Kept(standing=standing))
        self.show(made(LOGICAL_CLUSTERS, "cluster", "c1", annotations={"kcp.io/path": "root:one"}))

    def show(self, obj: Object[Any], server: Source = "local") -> None:
        """Let a server show the object from now on."""
        resource = self._resource(obj)
        old = self.stores[server, str(resource)].put(obj)
        self._notice(resource, server, Notice(old, obj, obj.key))

    def lose(self, obj: Object[Any], server: Source = "local", evidence: Evidence = Evidence.DELETED_EVENT) -> None:
        """Let a server not show the object any more, on that evidence."""
        resource = self._resource(obj)
        old = self.stores[server, str(resource)].drop(obj.key)
        self._notice(resource, server, Notice(old, None, obj.key, evidence=evidence))

    def sync(self) -> None:
        """Let the cache's first lists be in."""
        self.synced = True
        self.known.apply(Changes(standing=Standing(self.clock.now())))

    def doubt(self) -> None:
        """Let the local store be another one than what was seen of it."""
        standing = msgspec.structs.replace(self.known.standing, doubted_since=self.clock.now())
        self.known.apply(Changes(standing=standing))

    def _resource(self, obj: Object[Any]) -> Resource[Any]:
        return next(r for r in (SHARDS, EXPORTS, PARTITIONS, LOGICAL_CLUSTERS, SLICES) if r.kind == obj.kind)

    def _notice(self, resource: Resource[Any], server: Source, notice: Notice[Any]) -> None:
        kind = {SHARDS: SHARD, EXPORTS: EXPORT}.get(resource)
        place = kind and Place(kind, server, notice.key)
        if kind is None or place is None or not counts(place, self.known.home):
            return
        draft = Draft(self.known, self.clock.now())
        if notice.new is None:
            draft.take(Missing(place, notice.evidence))
            leaving = draft.get(place)
            if leaving is not None and leaving.state is State.LEAVING:
                draft.change(place, None)  # as it is once that has settled
        else:
            draft.take(There(place, notice.new.uid, read(kind, notice.new), Moment()))
        self.known.apply(draft.changes())

    def cluster(self, name: str = "c1") -> Cluster:
        """Return the world scoped to a logical cluster."""
        by_name = {str(r): r for r in (SHARDS, EXPORTS, PARTITIONS, LOGICAL_CLUSTERS, SLICES)}
        listers: dict[Declared, Lister[Any]] = {
            declared(server, by_name[text]): Lister(store, by_name[text], has_synced=partial(self._has_synced, server))
            for (server, text), store in self.stores.items()
        }
        servers = {
            "local": Server("local", NoTransport(), scope=Scope.ALL),
            "cache": Server("cache", NoTransport(), scope=Scope.CACHE),
        }
        return Cluster(name, World("test", "local", servers, listers, self.clock))

    def _has_synced(self, server: str) -> bool:
        return server == "local" or self.synced

    def slices(self) -> EndpointSlices:
        """Return the slice reconciler over this knowledge."""
        return EndpointSlices(self.known)
