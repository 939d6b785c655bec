"""Objects that name another one as their owner, found by looking at all of them: there is no garbage collector yet."""

import asyncio

import msgspec

from kcpctl.apiserver import stored
from kcpctl.apiserver.keys import extent
from kcpctl.apiserver.storage.base import Mismatch, Record
from kcpctl.apiserver.writing.subject import Subject


class _Metadata(msgspec.Struct, rename="camel"):
    owner_references: list[dict[str, object]] | None = None


class _Head(msgspec.Struct):
    metadata: _Metadata


_CHUNK = 1000
"""Records that are looked at before others may run: about two milliseconds."""

_decode_head = msgspec.json.Decoder(_Head).decode


async def find(subject: Subject, uid: str) -> list[Record]:
    """Return all objects of the logical cluster that name the uid as an owner; waits for the storage."""
    quoted = msgspec.json.encode(uid)
    prefixes = {extent(served, subject.scope).prefix for served in subject.world.catalog.served(subject.scope.cluster)}
    found = []
    for prefix in sorted(prefixes):
        start, remaining = "", 1
        while remaining:
            part = await subject.world.storage.range(prefix, start=start, limit=_CHUNK)
            found += [record for record in part.records if quoted in record.value and _owned_by(record, uid)]
            remaining = part.remaining
            if remaining:
                start = part.records[-1].key + "\0"
                await asyncio.sleep(0)
    return found


async def release(subject: Subject, record: Record, uid: str) -> None:
    """Take the owner away from an object, whatever else happens to it meanwhile; waits for the storage."""
    current: Record | None = record
    while current is not None and _owned_by(current, uid):
        obj = stored.decode(current.value)
        kept = [owner for owner in obj["metadata"]["ownerReferences"] if owner.get("uid") != uid]
        obj["metadata"]["ownerReferences"] = kept
        if not kept:
            del obj["metadata"]["ownerReferences"]
        try:
            value = stored.encode(obj, subject.scope)
            await subject.world.storage.update(current.key, value, expect=current.revision)
            return
        except Mismatch as mismatch:
            current = mismatch.current


def _owned_by(record: Record, uid: str) -> bool:
    owners = _decode_head(record.value).metadata.owner_references or ()
    return any(owner.get("uid") == uid for owner in owners)
