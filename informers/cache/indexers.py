"""Functions from an object to the values it is found under, ready-made ones for what most controllers ask."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar

import msgspec

from informers.api.errors import ConfigurationError
from informers.api.objects import Object
from informers.api.peeking import Path, look, texts

T = TypeVar("T")

Indexer = Callable[[Object[T]], Iterable[str]]
"""Must depend on the object alone; no value, one or many. What it raises quarantines the object."""

CLUSTER = "cluster"
"""The index that listers of one logical cluster read; every informer over all clusters has it."""
NAMESPACE = "namespace"
"""The index that listers of one namespace read where it is declared."""
OWNER_UID = "owner_uid"
"""The index that `Lister.owned_by` reads where it is declared."""


def by_namespace(obj: Object[Any]) -> tuple[str]:
    """Find objects by namespace; those without one under ""."""
    return (obj.key.namespace,)


def by_cluster(obj: Object[Any]) -> tuple[str]:
    """Find objects by the name of their logical cluster."""
    return (obj.key.cluster,)


class _Owner(msgspec.Struct, frozen=True, gc=False):
    uid: str = ""


class _OwnedMetadata(msgspec.Struct, frozen=True, gc=False):
    owners: list[_Owner] | None = msgspec.field(name="ownerReferences", default=None)


class _Owned(msgspec.Struct, frozen=True, gc=False):
    metadata: _OwnedMetadata = _OwnedMetadata()


_decode_owned = msgspec.json.Decoder(_Owned).decode


def by_owner_uid(obj: Object[Any]) -> tuple[str, ...]:
    """Find objects by the uids of their owners."""
    if b'"ownerReferences"' not in obj.raw:  # a search costs a tenth of a decode, and most objects have no owner
        return ()
    return tuple(owner.uid for owner in _decode_owned(obj.raw).metadata.owners or ())


class _ByLabel(msgspec.Struct, frozen=True):
    name: str

    def __call__(self, obj: Object[Any]) -> tuple[str, ...]:
        value = obj.interned_labels.get(self.name)
        return () if value is None else (value,)


def by_label(name: str) -> Indexer[Any]:
    """Find objects by the value of one label; those without it are not found."""
    return _ByLabel(name)


@dataclass(frozen=True)
class _ByPath:
    path: Path

    def __call__(self, obj: Object[Any]) -> tuple[str, ...]:
        peek = obj.peek
        if peek is not None and self.path in peek.paths:
            return peek.found[peek.paths.index(self.path)]
        try:
            return texts(look(self.path)(obj.raw))
        except msgspec.ValidationError:  # a step that holds no fields
            return ()


@cache  # equal paths give one function, so that two controllers may declare the same index
def by_path(*path: str) -> Indexer[Any]:
    """Find objects by what is at a path of field names: a text, a number, a boolean, or each entry of a list of those.

    Booleans are found as "true" and "false". Where a step is missing or is no object there is no value.
    """
    if not path:
        raise ConfigurationError("expected the path of a field, such as by_path('spec', 'nodeName'), found none")
    return _ByPath(path)


def bare(indexer: Indexer[T]) -> Indexer[T]:
    """Return what can be called in its place at less cost: a method costs half of an object that is called."""
    return indexer.__call__ if isinstance(indexer, _ByLabel | _ByPath) else indexer


def paths(indexers: Iterable[Indexer[Any]]) -> list[Path]:
    """Return the paths that indexers ask for, so that readers can peek at them."""
    return [indexer.path for indexer in indexers if isinstance(indexer, _ByPath)]


class DependsOn(Enum):
    """What of an object decides where an indexer finds it."""

    KEY = "key"
    LABELS = "labels"
    PATH = "path"
    BODY = "body"


def depends_on(indexer: Indexer[Any]) -> DependsOn:
    """Return what decides; but for the body, asking again costs less than remembering the answer, and never raises."""
    if indexer in (by_namespace, by_cluster):
        return DependsOn.KEY
    if isinstance(indexer, _ByLabel):
        return DependsOn.LABELS
    return DependsOn.PATH if isinstance(indexer, _ByPath) else DependsOn.BODY
