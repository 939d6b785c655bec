"""Merge patches (RFC 7386): what to send so that one document becomes another."""

from typing import Any

import msgspec

JSON = Any

_encode = msgspec.json.Encoder(order="deterministic").encode


def diff(old: JSON, new: JSON) -> JSON:
    """Return the smallest merge patch that turns `old` into `new`; `{}` when two objects are equal.

    Lists are values: a changed list is sent whole. A key that left becomes an explicit null. A null inside `new` cannot
    be expressed by a merge patch and means that the key is absent.
    """
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    patch: dict[str, Any] = {key: None for key in old if new.get(key) is None and old[key] is not None}
    for key, value in new.items():
        if value is None or (key in old and same(old[key], value)):
            continue
        patch[key] = diff(old[key], value) if isinstance(old.get(key), dict) and isinstance(value, dict) else value
    return {key: value for key, value in patch.items() if value != {} or not isinstance(old.get(key), dict)}


def apply(document: JSON, patch: JSON) -> JSON:
    """Return the document with the merge patch applied; neither of them is changed."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = apply(merged.get(key), value)
    return merged


def same(one: JSON, other: JSON) -> bool:
    """Say whether two documents are equal as JSON: unlike Python's `==`, `1` and `true` differ."""
    if one != other:
        return False
    if not isinstance(one, dict | list):
        return isinstance(one, bool) == isinstance(other, bool)
    return _encode(one) == _encode(other) or _same(one, other)  # mostly a tenth of the time


def _same(one: JSON, other: JSON) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
