"""Which logical clusters are here, and which paths lead to them."""

from collections.abc import Iterator

from informers.api.clusters import SEPARATOR
from kcpctl.apiserver import stored
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.kcp.kinds import LOGICAL_CLUSTERS, WORKSPACES
from kcpctl.apiserver.keys import object_key, place
from kcpctl.apiserver.storage.base import Change, Storage

SINGLETON = "cluster"
"""The name of the one LogicalCluster in each logical cluster."""

PATH = "kcp.io/path"
"""Annotation: the canonical path of the logical cluster that an object is in."""


class Clusters:
    """The logical clusters of one shard, as its stored LogicalClusters and Workspaces tell.

    It follows the storage: what is written is known at the moment when clients can see it.
    """

    def __init__(self) -> None:
        """Know none yet."""
        self._paths: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._children: dict[tuple[str, str], str] = {}

    async def load(self, storage: Storage) -> None:
        """Take in what is stored, and follow what will be; waits for the storage."""
        for kind, heard in ((LOGICAL_CLUSTERS, self._heard_of_cluster), (WORKSPACES, self._heard_of_workspace)):
            storage.listen(kind.prefix, heard)
            for record in (await storage.range(kind.prefix)).records:
                heard(Change(record.key, record.revision, record.value, None))

    def __contains__(self, name: str) -> bool:
        """Whether a logical cluster of that name is here."""
        return name in self._paths

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all logical clusters here."""
        return iter(list(self._paths))

    def path(self, name: str) -> str:
        """Return the canonical path of a logical cluster: `root:org:team`, or the name alone where it has none."""
        return self._paths.get(name) or name

    def at(self, path: str) -> str | None:
        """Return the logical cluster whose canonical path this is, whether or not a Workspace leads to it."""
        return self._names.get(path)

    def child(self, parent: str, workspace: str) -> str | None:
        """Return the logical cluster that a Workspace leads to; it may be on another shard."""
        return self._children.get((parent, workspace))

    def find(self, path: str) -> str | None:
        """Return the name of the logical cluster here that a name or path leads to, None where none does.

        A path may begin at any logical cluster: `root:org:team` or `<name of root:org>:team`.
        """
        if path in self._paths:
            return path
        first, *names = path.split(SEPARATOR)
        found: str | None = first
        for name in names:
            if found not in self._paths:
                return None
            found = self._children.get((found, name))
        return found if found in self._paths else None

    def _heard_of_cluster(self, change: Change) -> None:
        where = place(change.key)
        if where.name != SINGLETON:
            return
        old = self._paths.pop(where.cluster, "")
        if self._names.get(old) == where.cluster:
            del self._names[old]
        if change.value is not None:
            annotations = stored.decode(change.value)["metadata"].get("annotations") or {}
            path = self._paths[where.cluster] = annotations.get(PATH, "")
            if path:
                self._names[path] = where.cluster

    def _heard_of_workspace(self, change: Change) -> None:
        where = place(change.key)
        name = (where.cluster, where.name)
        cluster = stored.decode(change.value).get("spec", {}).get("cluster", "") if change.value is not None else ""
        if cluster:
            self._children[name] = cluster
        else:
            self._children.pop(name, None)


def cluster_key(name: str) -> str:
    """Return where the LogicalCluster of a logical cluster is stored."""
    return object_key(LOGICAL_CLUSTERS, Scope(name), "", SINGLETON)
