"""Merge patches (RFC 7386) with the habits of the library that kube-apiserver uses."""

from typing import Any

import msgspec


def merge(document: Any, patch: Any, *, nulls: bool = True) -> Any:
    """Return the document with the patch applied; the document stays as it is, and parts of both are in the result.

    Unlike the RFC's, nulls vanish also from objects inside lists, unless such a list replaces an object. `nulls` says
    whether there are any.
    """
    if not isinstance(patch, dict):
        return patch if isinstance(document, dict) or not nulls else _without_nulls(patch)
    if not isinstance(document, dict):
        return _without_nulls(patch) if nulls else patch
    result = dict(document)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif (there := result.get(key)) is None:
            result[key] = _without_nulls(value) if nulls else value
        else:
            result[key] = merge(there, value, nulls=nulls)
    return result


def _without_nulls(value: Any) -> Any:
    # Most have none, and to print them takes a tenth of the time.
    if isinstance(value, dict | list) and b"null" in msgspec.json.encode(value):
        return _stripped(value)
    return value


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _stripped(inner) for key, inner in value.items() if inner is not None}
    return [_stripped(inner) for inner in value] if isinstance(value, list) else value
