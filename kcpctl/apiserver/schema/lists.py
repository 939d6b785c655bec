"""Lists that are sets or maps: no item twice."""

from typing import Any

from kcpctl.apiserver.field_errors import duplicate, invalid
from kcpctl.apiserver.gotext import as_json
from kcpctl.apiserver.schema.nodes import Node
from kcpctl.apiserver.served import FieldError

_MISSING = object()


def duplicates(value: Any, node: Node) -> list[FieldError]:
    """Return an error for each item that repeats an earlier one, at this place and below."""
    found: list[FieldError] = []
    _visit(value, node, "", found)
    return found


def _visit(value: Any, node: Node, path: str, found: list[FieldError]) -> None:
    if type(value) is list:
        if node.list_type == "set":
            _check(value, [_mark(item) for item in value], path, found)
        elif node.list_type == "map" and _all_objects(value, path, found):
            _check_map(value, node.list_keys, path, found)
        if node.items is not None and node.items.lists_below:
            for index, item in enumerate(value):
                _visit(item, node.items, f"{path}[{index}]", found)
    elif type(value) is dict:
        for name, inner in value.items():
            below = node.properties.get(name, node.additional)
            if below is not None and below.lists_below:
                place = f"{path}.{name}" if name in node.properties else f"{path}[{name}]"
                _visit(inner, below, place if path else name, found)


def _all_objects(items: list[Any], path: str, found: list[FieldError]) -> bool:
    for index, item in enumerate(items):
        if item is not None and not isinstance(item, dict):
            found.append(invalid(f"{path}[{index}]", item, "must be an object for an array of list-type map"))
            return False
    return True


def _check_map(items: list[Any], names: tuple[str, ...], path: str, found: list[FieldError]) -> None:
    if len(names) == 1:
        marks = [_mark((item or {}).get(names[0], _MISSING)) for item in items]
    else:
        marks = [tuple(_mark((item or {}).get(name, _MISSING)) for name in names) for item in items]
    if len(set(marks)) < len(marks):
        _check(
            [{name: item[name] for name in names if name in item} if item else {} for item in items], marks, path, found
        )


def _check(shown: list[Any], marks: list[Any], path: str, found: list[FieldError]) -> None:
    """Report the second of equal items, and no further ones."""
    if len(set(marks)) == len(marks):
        return
    seen: dict[Any, int] = {}
    for index, mark in enumerate(marks):
        seen[mark] = seen.get(mark, 0) + 1
        if seen[mark] == 2:
            found.append(duplicate(f"{path}[{index}]", shown[index]))


def _mark(value: Any) -> Any:
    """Return something hashable that is equal for equal JSON values only: 1, 1.0 and true differ."""
    kind = type(value)
    if kind is str or value is _MISSING:
        return value
    return ("json", as_json(value)) if kind in (dict, list) else (kind, value)
