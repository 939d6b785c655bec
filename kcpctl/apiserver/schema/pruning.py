"""Pruning: fields that a structural schema does not know are dropped, and so are nulls that cannot stay."""

from typing import Any

from kcpctl.apiserver.schema.nodes import ANYTHING, JSON, NOTHING, Node

_IMPLIED = frozenset(("apiVersion", "kind", "metadata"))
"""Fields of every object, also of embedded ones; whatever the schema says of them, they are not pruned."""


def prune(obj: JSON, node: Node) -> list[str]:
    """Drop unknown fields of an object in place and return their dotted paths, sorted.

    Nulls at fields that are not nullable go as well, silently, unless a default will take their place.
    """
    dropped: list[str] = []
    _prune_map(obj, node, "", dropped)
    dropped.sort()
    return dropped


def _prune_list(value: list[Any], node: Node, path: str, dropped: list[str]) -> None:
    below = node.items or (ANYTHING if node.preserves_unknown else NOTHING)
    for index, item in enumerate(value):
        if type(item) is dict:
            if not _holds_known_texts(item, below):
                _prune_map(item, below, f"{path[:-1]}[{index}].", dropped)
        elif type(item) is list:
            _prune_list(item, below, f"{path[:-1]}[{index}].", dropped)


def _holds_known_texts(value: JSON, node: Node) -> bool:
    """Say whether a map has nothing but texts in fields that are known; of such maps long lists are made."""
    known = node.properties
    for name, inner in value.items():  # noqa: SIM110 - twice as fast as a generator
        if type(inner) is not str or name not in known:
            return False
    return True


def _prune_map(value: JSON, node: Node, path: str, dropped: list[str]) -> None:
    """Prune one map; `path` ends with a dot unless it is empty."""
    known = node.properties.get
    gone: list[str] = []
    for name, inner in value.items():
        below = known(name, node.additional)
        if node.embedded and name in _IMPLIED:
            continue
        if below is None:
            if node.preserves_unknown and not node.open_map:
                continue
            if not node.open_map:
                dropped.append(path + name)
                gone.append(name)
                continue
            below = NOTHING
        kind = type(inner)
        if kind is dict:
            _prune_map(inner, below, f"{path}{name}.", dropped)
        elif kind is list:
            _prune_list(inner, below, f"{path}{name}.", dropped)
        elif inner is None and below is not NOTHING and not below.nullable and below.default is None:
            gone.append(name)
    for name in gone:
        del value[name]
