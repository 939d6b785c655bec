"""Sources: what a controller watches besides its own resource, and how a change there becomes keys."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from informers.api.objects import Key, Object
from informers.api.resources import Resource
from informers.cache.indexers import Indexer
from informers.cache.notices import Notice
from informers.runtime.filters import Keeps

Mapper: TypeAlias = Callable[[Notice[Any]], Iterable[Key]]
"""From a change of a watched object to the keys that it concerns. Where it raises, the object is quarantined."""


@dataclass(frozen=True)
class Watch:
    """Another resource whose changes wake the controller."""

    resource: Resource[Any]
    to: Mapper
    where: Keeps | None = None
    """Which changes count; None means all."""
    server: str = ""
    """The server's name in the Manager; "" is the controller's own."""
    patience: float | None = None
    """Seconds that the workers wait for its first sync, less when the first contact fails; None waits for ever.
    When it arrives later all keys are visited once more."""
    indexers: Mapping[str, Indexer[Any]] = field(default_factory=dict)
    """Indexes to keep, by name; for `Lister.by_index`."""


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


def owner(resource: Resource[Any], *, any_owner: bool = False) -> Mapper:
    """Map an object to its owner of that resource: the one that controls it, or any of its owners.

    Owner references match by group, by kind where the Resource says it, and never by version. Where nobody has said
    whether the owner has a namespace, both keys that it could have are returned.
    """

    def owners(obj: Object[Any]) -> Iterable[Key]:
        if b'"ownerReferences"' not in obj.raw:
            return
        for reference in obj.owners:
            if (
                reference.group == resource.group
                and resource.kind in ("", reference.kind)
                and (reference.controller or any_owner)
            ):
                if resource.namespaced is not False:
                    yield Key("", obj.cluster, obj.namespace, reference.name)
                if not resource.namespaced:
                    yield Key("", obj.cluster, "", reference.name)

    return old_and_new(owners)
