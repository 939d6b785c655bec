"""Sources: what a controller watches besides its own resource, and how a change there becomes keys."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from informers.api.objects import Key, Object
from informers.api.resources import Resource
from informers.cache.indexers import Indexer
from informers.cache.listers import Lister
from informers.cache.notices import Notice
from informers.runtime.filters import Keeps

Mapper: TypeAlias = Callable[[Notice[Any]], Iterable[Key]]
"""From a change of a watched object to the keys that it concerns. Where it raises, the object is quarantined."""


@runtime_checkable
class Lookup(Protocol):
    """A mapping that looks at the controller's own objects: `ByIndex`, `EveryKey`, `Owner`."""

    def among(self, objects: Lister[Any]) -> Mapper:
        """Return the mapper for these objects, over all clusters."""
        ...


@dataclass(frozen=True)
class Watch:
    """Another resource whose changes wake the controller."""

    resource: Resource[Any]
    to: Mapper | Lookup
    where: Keeps | None = None
    """Which changes count; None means all."""
    server: str = ""
    """The server's name in the Manager; "" is the controller's own."""
    patience: float | None = None
    """Seconds that the workers wait for its first sync, less when the first contact fails; None waits for ever.
    When it arrives later all keys are visited once more."""
    indexers: Mapping[str, Indexer[Any]] = field(default_factory=dict)
    """Indexes to keep, by name; for `Lister.by_index`."""
    careful: bool = False
    """Whether absence from a list is to mean something: see `SharedInformer`."""


@dataclass(frozen=True)
class Read:
    """Another resource that the controller only reads; its changes wake nobody."""

    resource: Resource[Any]
    server: str = ""
    """The server's name in the Manager; "" is the controller's own."""
    patience: float | None = None
    """As for `Watch`."""
    indexers: Mapping[str, Indexer[Any]] = field(default_factory=dict)
    """Indexes to keep, by name; for `Lister.by_index`."""
    careful: bool = False
    """Whether absence from a list is to mean something: see `SharedInformer`."""


def same_key(notice: Notice[Any]) -> Iterable[Key]:
    """Map an object to the key of the same cluster, namespace and name."""
    return (notice.key.shardless(),)


def old_and_new(keys: Callable[[Object[Any]], Iterable[Key]]) -> Mapper:
    """Make a mapper from a function of one object, which is asked about both states of a change.

    So a reference that moved from one key to another wakes both.
    """

    def to(notice: Notice[Any]) -> Iterable[Key]:
        states = [obj for obj in (notice.old, notice.new) if obj is not None]
        return dict.fromkeys(key for obj in states for key in keys(obj))

    return to


@dataclass(frozen=True)
class ByIndex:
    """Maps a change to the controller's objects that its own index has under one of the changed object's values.

    `values` is asked about both states. The index is one of the controller's `indexers`.
    """

    index: str
    values: Callable[[Object[Any]], Iterable[str]]

    def among(self, objects: Lister[Any]) -> Mapper:
        """Return the mapper for these objects."""

        def keys(obj: Object[Any]) -> Iterable[Key]:
            for value in self.values(obj):
                for found in objects.by_index(self.index, value):
                    yield found.key.shardless()

        return _once_synced(objects, old_and_new(keys))


@dataclass(frozen=True)
class EveryKey:
    """Maps any change to all of the controller's objects."""

    def among(self, objects: Lister[Any]) -> Mapper:
        """Return the mapper for these objects."""
        return _once_synced(objects, lambda notice: [obj.key.shardless() for obj in objects.list()])


@dataclass(frozen=True)
class Owner:
    """Maps an object to its owner of that resource: the one that controls it, or any of its owners.

    Owner references match by group, by kind where the Resource says it, and never by version. An owner that is not
    there is left out, since its own arrival will wake it.
    """

    resource: Resource[Any]
    any_owner: bool = False

    def among(self, objects: Lister[Any]) -> Mapper:
        """Return the mapper for these objects."""
        candidates = old_and_new(self._candidates)

        def to(notice: Notice[Any]) -> Iterable[Key]:
            return [key for key in candidates(notice) if objects.cluster(key.cluster).find(key.name, key.namespace)]

        return _once_synced(objects, to)

    def _candidates(self, obj: Object[Any]) -> Iterable[Key]:
        """Yield the keys that an owner could have: in the object's namespace, and in none."""
        if b'"ownerReferences"' not in obj.raw:  # far cheaper than decoding, and most objects have no owner
            return
        kind = self.resource.kind
        for owner in obj.owners:
            if owner.group != self.resource.group or kind not in ("", owner.kind):
                continue
            if owner.controller or self.any_owner:
                yield Key("", obj.cluster, obj.namespace, owner.name)
                yield Key("", obj.cluster, "", owner.name)


def _once_synced(objects: Lister[Any], to: Mapper) -> Mapper:
    """Map nothing until the controller's own objects are listed: all of them are visited then anyway."""
    return lambda notice: to(notice) if objects.synced else ()
