"""Printer columns of custom resources: JSONPath in, one cell out."""

import json
from collections.abc import Callable
from typing import Any

from kcpctl.apiserver.crds.jsonpath import JsonPath, JsonPathError
from kcpctl.apiserver.served import JSON, Column


def columns(declared: list[JSON]) -> tuple[Column, ...]:
    """Return the columns that a CRD's version declares; a path that cannot be read gives empty cells."""
    return tuple(_column(one) for one in declared)


def _column(declared: JSON) -> Column:
    path = declared["jsonPath"]
    described = declared.get("description") or f"Custom resource definition column (in JSONPath format): {path}"
    return Column(
        declared["name"],
        declared["type"],
        cell(path, declared["type"]),
        format=declared.get("format", ""),
        description=described,
        priority=declared.get("priority", 0),
    )


def cell(path: str, kind: str) -> Callable[[JSON], Any]:
    """Return what computes a cell of that type: the first thing that the path leads to, None where it is another."""
    try:
        find = JsonPath(path).find
    except JsonPathError:
        return lambda obj: None
    convert = _CONVERSIONS[kind]

    def compute(obj: JSON) -> Any:
        found = find(obj)
        return convert(found[0]) if found else None

    return compute


def _integer(value: Any) -> Any:
    return int(value) if _is_number(value) else None


def _number(value: Any) -> Any:
    return value if _is_number(value) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _boolean(value: Any) -> Any:
    return value if isinstance(value, bool) else None


def _string(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _date(value: Any) -> Any:
    return value if isinstance(value, str) else None


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "boolean": _boolean,
    "date": _date,
    "integer": _integer,
    "number": _number,
    "string": _string,
}
