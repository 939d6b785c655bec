"""Indexes over what names what: slices by their exports and partitions, logical clusters by their names."""

from collections.abc import Iterable
from typing import Any

from controllers.kinds import Slice, SliceSpec
from informers.api.objects import PATH, Object

EXPORT_INDEX = "export"
PARTITION_INDEX = "partition"
REFERENCE_INDEX = "reference"


_KEPT = 16
"""Slices that were read last; each is asked for by several, one right after the other."""

_read: dict[int, tuple[Object[Slice], Slice]] = {}


def slice_of(obj: Object[Slice]) -> Slice:
    """Return the value of a slice, which nobody may change: read once for all who ask for it in a row.

    Raises `msgspec.ValidationError`, so that indexes set aside what is no slice.
    """
    found = _read.get(id(obj))
    if found is not None and found[0] is obj:
        return found[1]
    if len(_read) >= _KEPT:
        del _read[next(iter(_read))]
    value = obj.value
    _read[id(obj)] = obj, value
    return value


def spec_of(obj: Object[Slice]) -> SliceSpec:
    """Return a slice's spec."""
    return slice_of(obj).spec


def export_of_slice(obj: Object[Slice]) -> Iterable[str]:
    """Index a slice by the export it refers to: `path-or-cluster:name`."""
    reference = spec_of(obj).export
    return (f"{reference.path or obj.cluster}:{reference.name}",)


def partition_of_slice(obj: Object[Slice]) -> Iterable[str]:
    """Index a slice by its partition, if it has one: `cluster|name`."""
    partition = spec_of(obj).partition
    return (f"{obj.cluster}|{partition}",) if partition else ()


def names_of_cluster(obj: Object[Any]) -> Iterable[str]:
    """Index a LogicalCluster by its name and its path."""
    return {obj.cluster, obj.annotations.get(PATH, "") or obj.cluster}


def own_key(obj: Object[Any]) -> Iterable[str]:
    """Index an object by `cluster|name`."""
    return (f"{obj.cluster}|{obj.name}",)
