"""Read-only views of a store, scoped to a logical cluster where one is named."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeAlias, TypeVar

from informers.api.clusters import WILDCARD
from informers.api.errors import Ambiguous, Incomplete, NotFound, NotSynced
from informers.api.objects import Object
from informers.api.resources import Resource
from informers.api.selectors import LabelSelector
from informers.api.status import Status, StatusDetails
from informers.cache.indexers import CLUSTER, NAMESPACE, OWNER_UID, by_owner_uid
from informers.cache.store import Store

T = TypeVar("T")

Objects: TypeAlias = list[Object[T]]


class Lister(Generic[T]):
    """What is known of one collection, within the view's cluster and shard (`"*"`: all of them).

    Every read is one step and returns shared, frozen objects. Before the first sync every read raises `NotSynced`, so
    that nobody takes ignorance for absence.
    """

    __slots__ = ("_cluster", "_has_synced", "_resource", "_shard", "_store")

    def __init__(
        self,
        store: Store[T],
        resource: Resource[T],
        *,
        has_synced: Callable[[], bool],
        cluster: str = WILDCARD,
        shard: str = WILDCARD,
    ) -> None:
        """View the store of that resource; `has_synced` says whether its first list is in."""
        self._store = store
        self._resource = resource
        self._has_synced = has_synced
        self._cluster = cluster
        self._shard = shard

    def cluster(self, name: str) -> "Lister[T]":
        """Return the view of one logical cluster."""
        return self._scoped(name, self._shard)

    def shard(self, name: str) -> "Lister[T]":
        """Return the view of what was replicated from one shard; only a cache server's objects carry shards."""
        return self._scoped(self._cluster, name)

    @property
    def resource(self) -> Resource[T]:
        """What it lists."""
        return self._resource

    @property
    def synced(self) -> bool:
        """Whether the first list is in; it says nothing about how fresh the view is."""
        return self._has_synced()

    def get(self, name: str, namespace: str = "") -> Object[T]:
        """Return the object of that name.

        Raises `NotFound`, `NotSynced`, and `Ambiguous` where several clusters or shards of the view have one.
        """
        obj = self.find(name, namespace)
        if obj is None:
            raise self._not_found(name)
        return obj

    def find(self, name: str, namespace: str = "") -> Object[T] | None:
        """Return the object of that name, or None; raises `NotSynced` and `Ambiguous` as `get` does."""
        found = self._read().find(name, namespace, cluster=self._cluster, shard=self._shard)
        if len(found) > 1:
            places = ", ".join(str(obj.key) for obj in found)
            raise Ambiguous(
                f"expected one {self._resource.qualified} {name!r}, found {places}; name a cluster or shard"
            )
        return found[0] if found else None

    def list(self, selector: LabelSelector | str | None = None, namespace: str = "") -> Objects[T]:
        """Return the objects whose labels match, in all namespaces or in one.

        Raises `SelectorError` for a selector that cannot be read.
        """
        objects = self._in_scope(self._candidates(namespace))
        if namespace:
            objects = [obj for obj in objects if obj.key.namespace == namespace]
        if selector is None:
            return objects
        chosen = LabelSelector.parse(selector) if isinstance(selector, str) else selector
        return [obj for obj in objects if chosen.matches(obj.interned_labels)]

    def by_index(self, index: str, value: str) -> Objects[T]:
        """Return the objects that an index holds under a value; raises `Undeclared` for an unknown index."""
        return self._in_scope(self._read().by_index(index, value))

    def owned_by(self, owner: Object[Any]) -> Objects[T]:
        """Return the objects in the owner's cluster that name it in their owner references, by uid.

        Fast where the index `owner_uid` is declared.
        """
        store = self._read()
        if OWNER_UID in store.indexers:
            owned: Iterable[Object[T]] = store.by_index(OWNER_UID, owner.uid)
        else:
            owned = (obj for obj in store if owner.uid in by_owner_uid(obj))
        return [obj for obj in self._in_scope(owned) if obj.key.cluster == owner.key.cluster]

    def complete(self) -> Objects[T]:
        """Return everything in the view; raises `Incomplete` before the first sync in this process."""
        if not self._has_synced():
            raise Incomplete(f"expected all of {self._resource.qualified}, found no list finished yet; {_WAIT}")
        return self.list()

    def _scoped(self, cluster: str, shard: str) -> "Lister[T]":
        return Lister(self._store, self._resource, has_synced=self._has_synced, cluster=cluster, shard=shard)

    def _read(self) -> Store[T]:
        if not self._has_synced():
            raise NotSynced(f"expected {self._resource.qualified} to be synced, found no list finished yet; {_WAIT}")
        return self._store

    def _candidates(self, namespace: str) -> Iterable[Object[T]]:
        """Return at least the objects in scope, from the narrowest index that is declared."""
        store = self._read()
        if self._cluster != WILDCARD and CLUSTER in store.indexers:
            return store.by_index(CLUSTER, self._cluster)
        if namespace and NAMESPACE in store.indexers:
            return store.by_index(NAMESPACE, namespace)
        return store

    def _in_scope(self, objects: Iterable[Object[T]]) -> Objects[T]:
        cluster, shard = self._cluster, self._shard
        if cluster == shard == WILDCARD:
            return list(objects)
        return [o for o in objects if cluster in (WILDCARD, o.key.cluster) and shard in (WILDCARD, o.key.shard)]

    def _not_found(self, name: str) -> NotFound:
        resource = self._resource
        return NotFound(
            Status(
                message=f'{resource.qualified} "{name}" not found',
                reason="NotFound",
                code=404,
                details=StatusDetails(name=name, group=resource.group, kind=resource.plural),
            )
        )


_WAIT = "await wait_synced() first"
