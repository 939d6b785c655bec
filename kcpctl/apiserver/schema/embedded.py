"""Objects inside objects: fields with apiVersion, kind and metadata of their own."""

from collections.abc import Iterator
from typing import Any

from informers.api.names import dns1035_errors
from kcpctl.apiserver.field_errors import invalid, required
from kcpctl.apiserver.gotext import as_json
from kcpctl.apiserver.schema.nodes import JSON, Node
from kcpctl.apiserver.served import FieldError
from kcpctl.apiserver.shapes.meta import OBJECT_META
from kcpctl.apiserver.shapes.reader import ShapeError, read


class EmbeddedError(ValueError):
    """An embedded object whose apiVersion, kind or metadata are of wrong types; `error` says which."""

    def __init__(self, error: FieldError) -> None:
        """Keep the error; the message is what Go prints for it."""
        super().__init__(f"{error.field}: {error.message}")
        self.error = error


def coerce(value: Any, node: Node) -> list[str]:
    """Read the metadata of embedded objects in place; return the paths of fields that no metadata has.

    The root's own metadata is left alone. Raises `EmbeddedError`.
    """
    unknown: list[str] = []
    for inner, path in _embedded(value, node, ""):
        for name in ("apiVersion", "kind"):
            if name in inner and not isinstance(inner[name], str):
                raise EmbeddedError(invalid(f"{path}.{name}", inner[name], "must be a string"))
        if inner.get("metadata") is not None:
            unknown += _coerce_metadata(inner, f"{path}.metadata")
    return unknown


def drop_malformed(value: Any, node: Node) -> None:
    """Drop what `coerce` would refuse, as is done with objects that were stored under another schema."""
    for inner, _ in _embedded(value, node, ""):
        for name in ("apiVersion", "kind"):
            if name in inner and not isinstance(inner[name], str):
                del inner[name]
        metadata = inner.get("metadata")
        if isinstance(metadata, dict):
            inner["metadata"] = {name: item for name, item in metadata.items() if _is_readable(name, item)}
        elif metadata is not None:
            del inner["metadata"]


def problems(value: Any, node: Node, path: str = "") -> Iterator[FieldError]:
    """Yield what is wrong with the types of embedded objects; the root's own are another's concern."""
    for inner, place in _embedded(value, node, path):
        yield from _api_version(inner, f"{place}.apiVersion")
        yield from _kind(inner, f"{place}.kind")


def _embedded(value: Any, node: Node, path: str, *, is_root: bool = True) -> Iterator[tuple[JSON, str]]:
    """Yield every embedded object and its path."""
    if not node.embedded_below:
        return
    if isinstance(value, dict):
        if node.embedded and not is_root:
            yield value, path
        for name, inner in value.items():
            below = node.field(name)
            if below is not None:
                yield from _embedded(inner, below, f"{path}.{name}" if path else name, is_root=False)
    elif isinstance(value, list) and node.items is not None:
        for index, item in enumerate(value):
            yield from _embedded(item, node.items, f"{path}[{index}]", is_root=False)


def _coerce_metadata(obj: JSON, path: str) -> list[str]:
    metadata = obj["metadata"]
    if not isinstance(metadata, dict):
        raise EmbeddedError(invalid(path, metadata, f"expected an object, found {as_json(metadata)}"))
    try:
        obj["metadata"], unknown = read(OBJECT_META, metadata)
    except ShapeError as error:
        raise EmbeddedError(invalid(path, metadata, str(error))) from error
    return [f"{path}.{name}" for name in unknown]


def _is_readable(name: str, value: Any) -> bool:
    try:
        read(OBJECT_META, {name: value})
    except ShapeError:
        return False
    return True


def _api_version(obj: JSON, field: str) -> Iterator[FieldError]:
    text = obj.get("apiVersion")
    if not text:
        yield required(field)
    elif text.count("/") > 1:
        yield invalid(field, text, f"unexpected GroupVersion string: {text}")


def _kind(obj: JSON, field: str) -> Iterator[FieldError]:
    text = obj.get("kind")
    if not text:
        yield required(field)
    elif errors := dns1035_errors(text.lower()):
        yield invalid(field, text, f"may have mixed case, but should otherwise match: {','.join(errors)}")
