"""Indexes over what names what: slices by their exports and partitions, logical clusters by their names."""

from collections.abc import Iterable
from typing import Any

import msgspec

from controllers.kinds import Slice, SliceSpec
from informers.api.objects import PATH, Object

EXPORT_INDEX = "export"
PARTITION_INDEX = "partition"
REFERENCE_INDEX = "reference"


class _Specified(msgspec.Struct, frozen=True, gc=False):
    spec: SliceSpec


_decode = msgspec.json.Decoder(_Specified).decode


def spec_of(obj: Object[Slice]) -> SliceSpec:
    """Return a slice's spec; with its status it takes three times as long where that lists a hundred URLs."""
    return _decode(obj.raw).spec


def export_of_slice(obj: Object[Slice]) -> Iterable[str]:
    """Index a slice by the export it refers to: `path-or-cluster:name`."""
    reference = obj.value.spec.export
    return (f"{reference.path or obj.cluster}:{reference.name}",)


def partition_of_slice(obj: Object[Slice]) -> Iterable[str]:
    """Index a slice by its partition, if it has one: `cluster|name`."""
    partition = obj.value.spec.partition
    return (f"{obj.cluster}|{partition}",) if partition else ()


def names_of_cluster(obj: Object[Any]) -> Iterable[str]:
    """Index a LogicalCluster by its name and its path."""
    return {obj.cluster, obj.annotations.get(PATH, "") or obj.cluster}


def own_key(obj: Object[Any]) -> Iterable[str]:
    """Index an object by `cluster|name`."""
    return (f"{obj.cluster}|{obj.name}",)
