"""Complaints of Go's converter from maps to structs, which kube-apiserver uses for strategic merge patches.

It says other things than the JSON decoder about the same wrong types.
"""

from typing import Any

from kcpctl.apiserver.shapes.fields import Kind

_NUMBERS = (Kind.INT32, Kind.INT64, Kind.DOUBLE)


def not_a_container(value: Any, wanted: str) -> str:
    """Say that a value is no map, slice or struct."""
    colon = ":" if wanted == "struct" else ""
    return f"cannot restore {wanted} from{colon} {_kind(value)}"


def not_a_scalar(value: Any, kind: Kind, go_type: str) -> str:
    """Say that a value is not of the scalar type."""
    found = _kind(value)
    if kind is Kind.BYTES:
        return not_a_container(value, "slice")
    if (kind is Kind.TEXT and found == "int64") or (kind in _NUMBERS and found == "float64"):
        return f"cannot convert {found} to {go_type}"
    return f"unrecognized type: {'string' if kind is Kind.TEXT else go_type}"


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int():
            return "int64"
        case float():
            return "float64"
        case str():
            return "string"
        case list():
            return "slice"
        case _:
            return "map"
