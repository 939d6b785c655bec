"""Merge patches (RFC 7386) with the habits of the library that kube-apiserver uses."""

from typing import Any

import msgspec


def merge(document: Any, patch: Any) -> Any:
    """Return the document with the patch applied; the document is used up, and parts of the patch are in the result.

    Unlike the RFC's, nulls vanish also from objects inside lists, unless such a list replaces an object.
    """
    if not isinstance(patch, dict):
        return patch if isinstance(document, dict) else _without_nulls(patch)
    if not isinstance(document, dict):
        return _without_nulls(patch)
    for key, value in patch.items():
        if value is None:
            document.pop(key, None)
        elif document.get(key) is None:
            document[key] = _without_nulls(value)
        else:
            document[key] = merge(document[key], value)
    return document


def _without_nulls(value: Any) -> Any:
    # Most have none, and to print them takes a tenth of the time.
    if isinstance(value, dict | list) and b"null" in msgspec.json.encode(value):
        return _stripped(value)
    return value


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _stripped(inner) for key, inner in value.items() if inner is not None}
    return [_stripped(inner) for inner in value] if isinstance(value, list) else value
