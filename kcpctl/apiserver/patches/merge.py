"""Merge patches (RFC 7386) with the habits of the library that kube-apiserver uses."""

from typing import Any


def merge(document: Any, patch: Any) -> Any:
    """Return the document with the patch applied; the document is used up, the patch is not.

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
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value
