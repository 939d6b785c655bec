"""Making logical clusters: the root, and workspaces below it, each with what it has from its first moment."""

import asyncio
import contextlib
from datetime import UTC
from uuid import uuid4

from informers.api.clusters import SEPARATOR, is_path, join, new_name, shard_hash, split
from informers.api.status import StatusDetails
from kcpctl.apiserver import stored
from kcpctl.apiserver.builtin.bootstrap import ensure_namespace
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.failures import Failure, bad_request, failure
from kcpctl.apiserver.kcp.clusters import PATH, SINGLETON, Clusters, cluster_key
from kcpctl.apiserver.kcp.kinds import LOGICAL_CLUSTERS, WORKSPACES
from kcpctl.apiserver.keys import object_key, place
from kcpctl.apiserver.served import JSON
from kcpctl.apiserver.storage.base import Mismatch, Record
from kcpctl.apiserver.world import World

ROOT = "root"

_NAMESPACES = ("default", "kube-system")
_READY = {"tenancy.kcp.io/phase": "Ready"}
_PLACE = "core.kcp.io/shard"
_TYPE = "internal.tenancy.kcp.io/type"
_UNIVERSAL = {"name": "universal", "path": ROOT}


class Workspaces:
    """Makes the logical clusters of one shard. All of it may be repeated: what is there stays as it is."""

    def __init__(self, world: World, clusters: Clusters, *, shard: str, url: str) -> None:
        """Make them in this world; `url` is the address that clients are told, without a path."""
        self._world = world
        self._clusters = clusters
        self._shard = shard
        self._url = url.rstrip("/")
        self._lock = asyncio.Lock()

    async def ensure_root(self) -> None:
        """Make the logical cluster `root`; waits for the storage."""
        async with self._lock:
            await self._ensure_cluster(ROOT, {_TYPE: f"{ROOT}:{ROOT}"}, {})

    async def create(self, path: str) -> str:
        """Make the workspace of that path, and return its logical cluster's name; waits for the storage.

        What a broken-off attempt has left is completed. Raises `Failure`: 400 for what is no path below another
        workspace, 404 where that is not here, 409 where the path leads to another shard.
        """
        if not is_path(path) or SEPARATOR not in path:
            raise bad_request(f'invalid workspace path "{path}": it must be that of a workspace below one that is here')
        async with self._lock:
            parent_path, name = split(path)
            parent = self._clusters.find(parent_path)
            if parent is None:
                raise no_workspace(parent_path)
            return await self._ensure_workspace(parent, name)

    async def correct_urls(self) -> None:
        """Write the address that clients are told now into what was made under another one; waits for the storage."""
        for kind in (LOGICAL_CLUSTERS, WORKSPACES):
            for record in (await self._world.storage.range(kind.prefix)).records:
                await self._correct(record)

    async def _correct(self, record: Record) -> None:
        obj, cluster = stored.decode(record.value), place(record.key).cluster
        if obj["kind"] == LOGICAL_CLUSTERS.kind:
            part, url = obj["status"], self._url_of(cluster)
        else:
            part, url = obj["spec"], self._url_of(join(self._clusters.path(cluster), obj["metadata"]["name"]))
        if part.get("URL") != url:
            part["URL"] = url
            with contextlib.suppress(Mismatch):  # whoever was faster is corrected at the next start
                value = stored.encode(obj, Scope(cluster))
                await self._world.storage.update(record.key, value, expect=record.revision)

    async def _ensure_workspace(self, parent: str, name: str) -> str:
        path = join(self._clusters.path(parent), name)
        linked = self._clusters.child(parent, name)
        if linked is not None and linked not in self._clusters:
            raise failure(409, "Conflict", f'workspace "{path}" is there already, on another shard')
        cluster = linked or self._clusters.at(path) or new_name()
        owner = {
            "apiVersion": WORKSPACES.api_version,
            "resource": WORKSPACES.plural,
            "name": name,
            "cluster": parent,
            "uid": str(uuid4()),
        }
        owner = await self._ensure_cluster(cluster, {PATH: path, _TYPE: "root:universal"}, owner)
        if linked is None:
            await self._store(parent, self._workspace(name, path, cluster, owner["uid"]))
        return cluster

    async def _ensure_cluster(self, cluster: str, annotations: dict[str, str], owner: JSON) -> JSON:
        """Make a logical cluster with what each has, and return to what it belongs."""
        found = await self._world.storage.get(cluster_key(cluster))
        if found is not None:
            owner = stored.decode(found.value)["spec"].get("owner", {})
        else:
            await self._store(cluster, self._logical_cluster(cluster, annotations, owner))
        for name in _NAMESPACES:
            await ensure_namespace(self._world, cluster, name)
        return owner

    async def _store(self, cluster: str, obj: JSON) -> None:
        kind = WORKSPACES if obj["kind"] == WORKSPACES.kind else LOGICAL_CLUSTERS
        scope = Scope(cluster)
        await self._world.storage.create(
            object_key(kind, scope, "", obj["metadata"]["name"]), stored.encode(obj, scope)
        )

    def _logical_cluster(self, cluster: str, annotations: dict[str, str], owner: JSON) -> JSON:
        spec: JSON = {"directlyDeletable": False} | ({"owner": owner} if owner else {})
        return {
            "apiVersion": LOGICAL_CLUSTERS.api_version,
            "kind": LOGICAL_CLUSTERS.kind,
            "metadata": self._metadata(SINGLETON, str(uuid4()), annotations),
            "spec": spec,
            "status": {
                "URL": self._url_of(cluster),
                "phase": "Ready",
                "conditions": [self._true("WorkspaceInitialized")],
            },
        }

    def _workspace(self, name: str, path: str, cluster: str, uid: str) -> JSON:
        annotations = {
            "internal.tenancy.kcp.io/cluster": cluster,
            "internal.tenancy.kcp.io/shard": shard_hash(self._shard),
        }
        return {
            "apiVersion": WORKSPACES.api_version,
            "kind": WORKSPACES.kind,
            "metadata": self._metadata(name, uid, annotations),
            "spec": {"URL": self._url_of(path), "cluster": cluster, "type": _UNIVERSAL},
            "status": {
                "phase": "Ready",
                "conditions": [self._true("WorkspaceInitialized"), self._true("WorkspaceScheduled")],
            },
        }

    def _metadata(self, name: str, uid: str, annotations: dict[str, str]) -> JSON:
        return {
            "annotations": annotations | {_PLACE: self._shard},
            "creationTimestamp": self._now(),
            "generation": 1,
            "labels": dict(_READY),
            "name": name,
            "uid": uid,
        }

    def _url_of(self, cluster: str) -> str:
        return f"{self._url}/clusters/{cluster}"

    def _true(self, condition: str) -> JSON:
        return {"type": condition, "status": "True", "lastTransitionTime": self._now()}

    def _now(self) -> str:
        return self._world.clock.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def no_workspace(path: str) -> Failure:
    """404: no workspace here has that path."""
    details = StatusDetails(name=path, group=WORKSPACES.group, kind=WORKSPACES.plural)
    return failure(404, "NotFound", f'{WORKSPACES.qualified} "{path}" not found', details)
