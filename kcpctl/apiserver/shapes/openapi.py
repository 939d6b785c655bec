"""Published schemas and strategic merge tables, made from the tables of types."""

from typing import Any

from kcpctl.apiserver.served import JSON
from kcpctl.apiserver.shapes.fields import Field, Holds, Kind, Message, Printed

_SCALARS: dict[Kind, JSON] = {
    Kind.TEXT: {"type": "string"},
    Kind.FLAG: {"type": "boolean"},
    Kind.INT32: {"type": "integer", "format": "int32"},
    Kind.INT64: {"type": "integer", "format": "int64"},
    Kind.DOUBLE: {"type": "number", "format": "double"},
    Kind.BYTES: {"type": "string", "format": "byte"},
    Kind.TIME: {"type": "string", "format": "date-time"},
    Kind.MICRO_TIME: {"type": "string", "format": "date-time"},
    Kind.FREE: {"x-kubernetes-preserve-unknown-fields": True},
}


def schema(message: Message) -> JSON:
    """Return the OpenAPI v3 schema of a type; a type inside itself is published as an open object."""
    return _message(message, ())


def merge_table(message: Message) -> JSON:
    """Return how strategic merge patches treat the type's lists: dotted path → `{"key": …}` or `{"set": true}`.

    Lists add nothing to a path: what is in the entries of `spec.a` is at `spec.a.b`. Lists that are missing here are
    replaced whole.
    """
    table: JSON = {}
    _collect(message, "", table, ())
    return table


def _message(message: Message, inside: tuple[Message, ...]) -> JSON:
    if message.union or message in inside:
        return {"x-kubernetes-preserve-unknown-fields": True}
    properties = {field.name: _field(field, (*inside, message)) for field in message.fields}
    required = [f.name for f in message.fields if _is_required(f)]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _is_required(field: Field) -> bool:
    """Go prints some fields always although clients may leave them out: structs and times."""
    return field.printed is Printed.ALWAYS and field.message is None and field.kind not in (Kind.TIME, Kind.MICRO_TIME)


def _field(field: Field, inside: tuple[Message, ...]) -> JSON:
    one = _SCALARS[field.kind] if field.message is None else _message(field.message, inside)
    if field.holds is Holds.MAP:
        return {"type": "object", "additionalProperties": one}
    if field.holds is Holds.ONE:
        return dict(one)
    extra: dict[str, Any] = {}
    if field.merge_key:
        extra = {"x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": field.merge_key}
    elif field.is_set:
        extra = {"x-kubernetes-patch-strategy": "merge"}
    return {"type": "array", "items": one, **extra}


def _collect(message: Message, path: str, table: JSON, inside: tuple[Message, ...]) -> None:
    for field in message.fields:
        here = f"{path}{field.name}"
        if field.merge_key:
            table[here] = {"key": field.merge_key}
        elif field.is_set:
            table[here] = {"set": True}
        if field.message is not None and field.message not in inside and not field.message.union:
            _collect(field.message, f"{here}.", table, (*inside, message))
