"""What needs no pruning, told by a type that msgspec checks: most objects, and in a fraction of a walk's time."""

from types import GenericAlias
from typing import Any

import msgspec

from kcpctl.apiserver.schema.nodes import Node

_SCALAR = str | int | float | bool
_IMPLIED = ("apiVersion", "kind", "metadata")


class Settled:
    """Says of objects that they surely have nothing which would be pruned; the others have to be walked through."""

    def __init__(self, root: Node) -> None:
        """Take the schema of whole objects."""
        self._type = _struct(root)

    def __call__(self, obj: Any) -> bool:
        """Say whether all fields of the object are known, and none of them is null."""
        if self._type is None:
            return False
        try:
            msgspec.convert(obj, self._type)
        except (msgspec.ValidationError, RecursionError):
            return False
        return True


def _type(node: Node) -> Any:
    """Return a type of what stays as it is in that place; None where no type can tell."""
    if node.embedded or node.preserves_unknown or node.open_map:
        return None
    if node.items is not None:
        inner = _type(node.items)
        return inner and GenericAlias(list, (inner,))
    if node.properties and node.additional is None:
        return _struct(node)
    if node.additional is not None and not node.properties:
        inner = _type(node.additional)
        return inner and GenericAlias(dict, (str, inner))
    return None if node.properties else _SCALAR


def _struct(node: Node) -> Any:
    """Return a type of objects that have no fields but known ones; the root's own are left to others."""
    if node.preserves_unknown or node.open_map or node.additional is not None:
        return None
    known = {name: _type(below) for name, below in node.properties.items() if not (node.embedded and name in _IMPLIED)}
    if None in known.values():
        return None
    implied = dict.fromkeys(_IMPLIED, Any) if node.embedded else {}
    fields = [
        (f"field_{number}", kind, msgspec.field(name=name, default=None))
        for number, (name, kind) in enumerate({**known, **implied}.items())
    ]
    return msgspec.defstruct("Known", fields, forbid_unknown_fields=True, gc=False)
