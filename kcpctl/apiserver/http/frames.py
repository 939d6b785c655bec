"""Lists item by item where the form is not plain JSON: what stands before, between and after the items."""

from collections.abc import Callable
from typing import Any

import msgspec

from kcpctl.apiserver.http import yamlout

_decode = msgspec.json.Decoder().decode


class Frame(msgspec.Struct, frozen=True):
    """How a list is written item by item."""

    before: bytes
    between: bytes
    after: bytes
    empty: bytes
    """The whole list if it has no items."""
    item: Callable[[bytes], bytes]
    """From the JSON of one item to its bytes in the list."""


def indented(head: bytes, *, null_when_empty: bool) -> Frame:
    """Return how to indent a list whose JSON begins so: up to and with the bracket of its items, which come last."""
    whole = msgspec.json.format(head + b"]}", indent=2)
    empty = msgspec.json.format(head[:-1] + b"null}", indent=2) if null_when_empty else whole
    return Frame(whole.removesuffix(b"]\n}") + b"\n    ", b",\n    ", b"\n  ]\n}", empty, _indented)


def as_yaml(head: bytes, *, null_when_empty: bool) -> Frame:
    """Return how to write a list whose JSON begins so as YAML, where fields are sorted."""
    fields: dict[str, Any] = _decode(head + b"]}")
    name, _ = fields.popitem()
    before = _dumped({field: value for field, value in fields.items() if field < name})
    after = _dumped({field: value for field, value in fields.items() if field > name})
    nothing = yamlout.dump({name: None if null_when_empty else []})
    return Frame(before + f"{name}:\n".encode(), b"", after, before + nothing + after, _yaml_item)


def _indented(item: bytes) -> bytes:
    return msgspec.json.format(item, indent=2).replace(b"\n", b"\n    ")  # texts have no line feeds of their own


def _dumped(fields: dict[str, Any]) -> bytes:
    return yamlout.dump(fields) if fields else b""


def _yaml_item(item: bytes) -> bytes:
    return yamlout.dump([_decode(item)])
