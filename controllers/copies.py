"""Copies: what the cache should hold of an original, and whether what it holds is right.

A copy is written only when it differs. Its uid stays when the original is made anew, and a generation that somebody
raised is kept, so that a repair is always one update and readers never see the copy go.
"""

from typing import Any

import msgspec

from informers.api.objects import CLUSTER, SHARD, Object
from informers.api.patch import same

JSON = dict[str, Any]

ORIGINAL_RV = "cache.kcp.io/original-resource-version"
ORIGINAL_UID = "cache.kcp.io/original-resource-UID"
HOLDER = "cache.kcpctl.dev/holder"
"""On a Shard's copy: who holds the segment that it is in; see `controllers.holding`. No original has it."""

_SERVER_SET = (CLUSTER, SHARD)
_NOT_COMPARED = (*_SERVER_SET, HOLDER)
_DELETION = ("deletionTimestamp", "deletionGracePeriodSeconds")
"""What no update can bring to an object: the copy of one that is being deleted keeps its own until it goes as well."""
_NOT_COPIED = ("resourceVersion", "managedFields", "selfLink")

_decode = msgspec.json.Decoder().decode
_decode_texts = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def fields_of(obj: Object[Any]) -> JSON:
    """Return an object's fields, fresh: all but metadata as JSON texts, which go into a copy as they are."""
    fields: JSON = dict(_decode_texts(obj.raw))
    fields["metadata"] = _decode(fields["metadata"])
    return fields


def wanted_copy(obj: Object[Any], shard: str) -> JSON:
    """Return the copy that the original should have, as it is sent to the cache at its creation."""
    body = fields_of(obj)
    metadata = {key: value for key, value in body["metadata"].items() if key not in _NOT_COPIED}
    annotations = {k: v for k, v in (metadata.get("annotations") or {}).items() if k not in _NOT_COMPARED}
    metadata["annotations"] = annotations | {SHARD: shard, ORIGINAL_RV: obj.rv, ORIGINAL_UID: obj.uid}
    return body | {"metadata": metadata}


def updated_copy(copy: JSON, wanted: JSON) -> JSON | None:
    """Return the copy as it should be written, or None when it is right as it is."""
    old = copy["metadata"]
    metadata = wanted["metadata"] | {
        "uid": old.get("uid"),
        "resourceVersion": old.get("resourceVersion"),
        "generation": max(old.get("generation") or 0, wanted["metadata"].get("generation") or 0),
        "creationTimestamp": old.get("creationTimestamp"),
        **{field: old.get(field) for field in _DELETION},
    }
    metadata = {key: value for key, value in metadata.items() if value not in (None, 0)}
    if (holder := (old.get("annotations") or {}).get(HOLDER)) is not None:
        metadata["annotations"] = metadata["annotations"] | {HOLDER: holder}
    changed = wanted | {"metadata": metadata}
    return None if _are_same(copy, changed) else changed


def _are_same(one: JSON, other: JSON) -> bool:
    """Say whether two copies differ in nothing that counts; what a write differs in mostly shows in the metadata."""
    if not same(_compared(one["metadata"]), _compared(other["metadata"])) or one.keys() != other.keys():
        return False
    return all(_is_same(value, other[field]) for field, value in one.items() if field != "metadata")


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, msgspec.Raw) and isinstance(other, msgspec.Raw) and bytes(one) == bytes(other):
        return True
    return same(*(_decode(value) if isinstance(value, msgspec.Raw) else value for value in (one, other)))


def _compared(metadata: JSON) -> JSON:
    found = {key: value for key, value in metadata.items() if key not in _NOT_COPIED}
    notes = found.get("annotations") or {}
    found["annotations"] = {key: value for key, value in notes.items() if key not in _NOT_COMPARED}
    return found


def copy_changed(old: Object[Any] | None, new: Object[Any] | None) -> bool:
    """Keep each change of a copy but the renewal of a lease."""
    if old is None or new is None or HOLDER not in new.annotations:
        return True
    return not _are_same(fields_of(old), fields_of(new))
