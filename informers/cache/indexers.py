"""Functions from an object to the values it is found under, ready-made ones for what most controllers ask."""

from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, Optional, TypeVar

import msgspec

from informers.api.objects import Object

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


class DependsOn(Enum):
    """What of an object decides where an indexer finds it."""

    KEY = "key"
    LABELS = "labels"
    BODY = "body"


def depends_on(indexer: Indexer[Any]) -> DependsOn:
    """Return what decides; but for the body, asking again costs less than remembering the answer, and never raises."""
    if indexer in (by_namespace, by_cluster):
        return DependsOn.KEY
    return DependsOn.LABELS if isinstance(indexer, _ByLabel) else DependsOn.BODY


@cache  # equal arguments give one function, so that two controllers may declare the same index
def by_path(*path: str) -> Indexer[Any]:
    """Find objects by what is at a path of field names: a text, a number, a boolean, or each entry of a list of those.

    Booleans are found as "true" and "false". Where a step is missing or is no object there is no value.
    """
    decode = _decoder(path)
    last_of = attrgetter(".".join("next" for _ in path))

    def indexer(obj: Object[Any]) -> tuple[str, ...]:
        try:
            found = last_of(decode(obj.raw))
        except (msgspec.ValidationError, AttributeError):  # a step that holds no fields, or that is not there
            return ()
        if isinstance(found, list):
            return tuple(map(_text, found))
        return () if found is None else (_text(found),)

    return indexer


def _decoder(path: tuple[str, ...]) -> Callable[[bytes], Any]:
    """Return a decoder that reads only what leads to the path's end."""
    shape: Any = Any
    for step in reversed(path):
        field = ("next", Optional[shape], msgspec.field(name=step, default=None))  # noqa: UP045 — made at run time
        shape = msgspec.defstruct("Step", [field], gc=False)
    return msgspec.json.Decoder(shape).decode


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise TypeError(f"expected a text, a number or a boolean to index by, found {type(value).__name__}")
