"""A structural schema compiled for walking: what is known below each field, and what is to be done there."""

from collections.abc import Iterator
from typing import Any

import msgspec

JSON = dict[str, Any]


class Node(msgspec.Struct, eq=False):
    """One place in a structural schema.

    The `…_below` flags say whether anything at this place or deeper needs that kind of work, so that walks skip the
    rest.
    """

    properties: dict[str, "Node"] = {}
    additional: "Node | None" = None
    """Schema of all fields that `properties` does not name."""
    open_map: bool = False
    """Whether other fields are allowed without a schema (`additionalProperties: true`)."""
    items: "Node | None" = None
    preserves_unknown: bool = False
    embedded: bool = False
    """Whether it is an object of its own, with apiVersion, kind and metadata."""
    nullable: bool = False
    default: bytes | None = None
    """JSON of the default; None where there is none."""
    defaults: tuple[tuple[str, bytes, bool], ...] = ()
    """(name, JSON of the default, whether the field is nullable) of each property that has one."""
    list_type: str = ""
    """set, map, or "" for atomic lists."""
    list_keys: tuple[str, ...] = ()
    defaults_below: bool = False
    lists_below: bool = False
    embedded_below: bool = False

    def field(self, name: str) -> "Node | None":
        """Return what is known of a field, or None."""
        return self.properties.get(name, self.additional)

    def children(self) -> Iterator["Node"]:
        """Iterate over the nodes directly below."""
        yield from self.properties.values()
        for node in (self.additional, self.items):
            if node is not None:
                yield node


NOTHING = Node()
"""A place of which nothing is known: everything below is unknown."""
ANYTHING = Node(preserves_unknown=True)
"""A place where unknown fields stay."""


def compile_node(schema: JSON, *, in_preserved_list: bool = False) -> Node:
    """Compile an OpenAPI v3 schema that has passed the structural rules."""
    additional = schema.get("additionalProperties")
    preserves = in_preserved_list or schema.get("x-kubernetes-preserve-unknown-fields") is True
    node = Node(
        properties={name: compile_node(below) for name, below in (schema.get("properties") or {}).items()},
        additional=compile_node(additional) if isinstance(additional, dict) else None,
        open_map=isinstance(additional, bool),
        items=compile_node(schema["items"], in_preserved_list=preserves) if schema.get("items") else None,
        preserves_unknown=preserves,
        embedded=schema.get("x-kubernetes-embedded-resource") is True,
        nullable=schema.get("nullable") is True,
        default=msgspec.json.encode(schema["default"]) if schema.get("default") is not None else None,
        list_type=schema.get("x-kubernetes-list-type", "") if schema.get("type") == "array" else "",
        list_keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
    )
    node.defaults = tuple((name, n.default, n.nullable) for name, n in node.properties.items() if n.default is not None)
    below = list(node.children())
    node.defaults_below = any(n.defaults_below or n.default is not None for n in below)
    node.lists_below = node.list_type in ("set", "map") or any(n.lists_below for n in below)
    node.embedded_below = node.embedded or any(n.embedded_below for n in below)
    return node


def as_root(node: Node) -> Node:
    """Return the node as the schema of whole objects, whose apiVersion, kind and metadata are known anyway."""
    return node if node.embedded else msgspec.structs.replace(node, embedded=True, embedded_below=True)
