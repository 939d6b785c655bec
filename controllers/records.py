"""Removal records: the objects at the cache server in which operators say what is gone for good.

Where a record is stored says which shard and which logical cluster its object was in.
"""

from datetime import datetime
from typing import Any

import msgspec

from controllers.entries import Kind, Removal
from informers.api.conditions import timestamp
from informers.api.errors import InformersError
from informers.api.objects import Metadata, Object
from informers.api.resources import Resource


class RemovalSpec(msgspec.Struct, frozen=True):
    """What is gone."""

    kind: Kind
    name: str
    time: datetime
    """When somebody said so."""
    uid: str = ""
    url: str = ""
    path: str = ""


class RemovalStatus(msgspec.Struct, frozen=True):
    """Who has acted upon it."""

    acknowledged: dict[str, datetime] = {}
    """When each process did, by the name of its shard."""


class Record(msgspec.Struct, frozen=True):
    """A Removal, as it is stored."""

    spec: RemovalSpec
    metadata: Metadata = Metadata()
    status: RemovalStatus = RemovalStatus()


REMOVALS = Resource("cache.kcpctl.dev", "v1alpha1", "removals", Record, kind="Removal")


def said_by(record: Object[Record]) -> Removal:
    """Return what a record says; raises `ValidationError` for one that cannot be read."""
    spec, key = record.value.spec, record.key
    return Removal(spec.kind, key.shard, key.cluster, spec.name, spec.uid, spec.url, spec.path)


def name_of(removal: Removal, *, is_former: bool = False) -> str:
    """Return the name that its record has; one of what was there before what is now has the uid in it."""
    return f"{removal.kind}.{removal.name}" + (f".{removal.uid}" if is_former else "")


def record_of(removal: Removal, now: datetime, *, is_former: bool = False) -> dict[str, Any]:
    """Return the record as it is sent to the cache server."""
    spec = {"kind": removal.kind, "name": removal.name, "time": timestamp(now)}
    spec |= {key: value for key in ("uid", "url", "path") if (value := getattr(removal, key))}
    return {
        "apiVersion": REMOVALS.api_version,
        "kind": REMOVALS.kind,
        "metadata": {"name": name_of(removal, is_former=is_former)},
        "spec": spec,
    }


class NotWritable(InformersError):
    """A copy is to go, and nothing may be written into its segment now; trying again later helps."""


# What is told of them


class Acknowledged(msgspec.Struct, frozen=True):
    """Told when a removal was acted upon here."""

    removal: Removal
    forgotten: int
    """How much that counted does not any more."""


class Disproved(msgspec.Struct, frozen=True):
    """Told when a removal was deleted, since its object is there, at its home."""

    removal: Removal


class Kept(msgspec.Struct, frozen=True):
    """Told when it is known whether the cache server keeps removals."""

    are_kept: bool


class NotAcknowledged(msgspec.Struct, frozen=True):
    """Told when what was done about removals could not be said in them."""

    error: InformersError
    retry_in: float


class NotFollowed(msgspec.Struct, frozen=True):
    """Told when it could not be found out whether the cache server keeps removals."""

    error: Exception
    retry_in: float
