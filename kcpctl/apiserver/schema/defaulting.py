"""Defaulting: what a structural schema fills in, only ever below parents that are there."""

from typing import Any

import msgspec

from kcpctl.apiserver.schema.nodes import JSON, Node

_copy = msgspec.json.Decoder().decode


def default(obj: JSON, node: Node) -> None:
    """Fill in defaults in place; a null that may not stay counts as absent.

    Defaults are filled in first and then looked into, so that a default may bring further ones below it.
    """
    for name, value, nullable in node.defaults:
        if name not in obj or (obj[name] is None and not nullable):
            obj[name] = _copy(value)
    for name, inner in obj.items():
        below = node.properties.get(name, node.additional)
        if below is not None:
            obj[name] = _default_value(inner, below)


def _default_value(value: Any, node: Node) -> Any:
    if value is None:
        return None if node.nullable or node.default is None else _copy(node.default)
    if node.defaults_below:
        if isinstance(value, dict):
            default(value, node)
        elif isinstance(value, list) and node.items is not None:
            for index, item in enumerate(value):
                value[index] = _default_value(item, node.items)
    return value
