"""Read decoded JSON as a built-in type: what Go's JSON package would accept, how it prints it, and its complaints."""

import binascii
from collections.abc import Callable
from typing import Any

from kcpctl.apiserver.served import JSON
from kcpctl.apiserver.shapes.base64 import canonical
from kcpctl.apiserver.shapes.converting import not_a_container, not_a_scalar
from kcpctl.apiserver.shapes.fields import Field, Holds, Kind, Message, Printed
from kcpctl.apiserver.shapes.times import TimeError, normal_microseconds, normal_seconds


class ShapeError(ValueError):
    """JSON that does not fit its type; the message is that of Go's JSON decoder."""

    def __init__(self, message: str, converted: str = "") -> None:
        """Keep also what Go's converter from maps says, where that is something else."""
        super().__init__(message)
        self.converted = converted or message


def read(message: Message, value: JSON) -> tuple[JSON, list[str]]:
    """Return the object as its type prints it, and the paths of fields that the type does not have.

    Fields come out in the type's order; what Go would not print is gone. Raises `ShapeError`.
    """
    reading = _Reading()
    result = reading.message(message, value, "", "")
    if reading.error is not None:
        raise reading.error
    return result, reading.unknown


def printed(message: Message, values: JSON) -> JSON:
    """Return the values of a message's fields in order, without those that Go would not print."""
    result = {}
    for field in message.fields:
        value = values.get(field.name)
        if value is None:
            if field.printed is Printed.ALWAYS:
                result[field.name] = _zero(field)
        elif value or field.printed is not Printed.UNLESS_ZERO:
            result[field.name] = value
    return result


def _zero(field: Field) -> Any:
    if field.holds is not Holds.ONE:
        return None
    if field.message is not None:
        return printed(field.message, {})
    return {Kind.TEXT: "", Kind.FLAG: False, Kind.INT32: 0, Kind.INT64: 0, Kind.DOUBLE: 0}.get(field.kind)


class _Reading:
    """One reading: the first wrong type is remembered, and reading goes on, for a later text may be worse."""

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self.error: ShapeError | None = None

    def message(self, message: Message, value: JSON, stack: str, path: str) -> JSON:
        """Read one struct. `stack` is its place as type errors name it, `path` as unknown fields do."""
        found = {}
        for name, item in value.items():
            field = message.by_name.get(name)
            if field is None:
                self.unknown.append(f"{path}{name}")
            elif item is not None:
                found[name] = self._field(message, field, item, stack, path)
        return printed(message, found)

    def _field(self, message: Message, field: Field, value: Any, stack: str, path: str) -> Any:
        if field.kind is Kind.TEXT:
            if field.holds is Holds.ONE and type(value) is str:
                return value
            if field.holds is Holds.MAP and type(value) is dict and all(type(item) is str for item in value.values()):
                return value

        def place() -> str:
            return f"Go struct field {message.name}.{stack}{field.name}"

        if field.holds is Holds.ONE:
            return self._one(field, value, field.go_name, place, f"{stack}{field.name}.", f"{path}{field.name}.")
        if not isinstance(value, list if field.holds is Holds.LIST else dict):
            wanted = "slice" if field.holds is Holds.LIST else "map"
            return self._wrong(json_name(value), place, field.go_name, not_a_container(value, wanted))
        if isinstance(value, list):
            return [
                self._one(field, item, field.go_name[2:], place, f"{stack}{field.name}.", f"{path}{field.name}[{i}].")
                for i, item in enumerate(value)
            ]
        return {
            key: self._one(
                field, item, field.go_name[11:], place, f"{stack}{field.name}.", f"{path}{field.name}.{key}."
            )
            for key, item in value.items()
        }

    def _one(self, field: Field, value: Any, go: str, place: Callable[[], str], stack: str, path: str) -> Any:
        kind = field.kind
        if kind is Kind.FREE:
            return value
        if value is None:
            return _zero(Field(field.name, 0, kind, message=field.message))
        if kind is Kind.MESSAGE and field.message is not None:
            if field.message.union:
                return self._union(field.message, value)
            if type(value) is dict:
                return self.message(field.message, value, stack, path)
        elif type(value) is str:
            return self._text(kind, value, place, go)
        elif type(value) is _PYTHON.get(kind):
            return value
        elif kind in _NUMBERS and type(value) in (int, float):
            return self._number(kind, value, place, go)
        elif kind in (Kind.TIME, Kind.MICRO_TIME):
            found = f"json: cannot unmarshal {json_name(value)} into"
            raise ShapeError(f"{found} {place()} of type string", f"{found} Go value of type string")
        said = not_a_container(value, "struct") if kind is Kind.MESSAGE else not_a_scalar(value, kind, go)
        return self._wrong(json_name(value), place, go, said)

    def _text(self, kind: Kind, value: str, place: Callable[[], str], go: str) -> Any:
        try:
            match kind:
                case Kind.TEXT:
                    return value
                case Kind.TIME:
                    return normal_seconds(value)
                case Kind.MICRO_TIME:
                    return normal_microseconds(value)
                case Kind.BYTES:
                    return canonical(value)
        except TimeError as error:
            raise ShapeError(str(error)) from None
        except binascii.Error as error:
            self.error = self.error or ShapeError(str(error), f"error decoding from json: {error}")
            return ""
        return self._wrong("string", place, go, not_a_scalar(value, kind, go))

    def _number(self, kind: Kind, value: float, place: Callable[[], str], go: str) -> Any:
        if kind is Kind.DOUBLE:
            return int(value) if value == int(value) else value
        limit = 1 << (31 if kind is Kind.INT32 else 63)
        if type(value) is int and -limit <= value < limit:
            return value
        return self._wrong(f"number {value}", place, go, not_a_scalar(value, kind, go))

    def _union(self, message: Message, value: Any) -> Any:
        """Read a union; as Go reads it apart from its surroundings, fields unknown inside are nobody's concern."""
        for field in message.fields:
            if field.message is not None and isinstance(value, list if field.holds is Holds.LIST else dict):
                items = value if isinstance(value, list) else [value]
                found = [read(field.message, item)[0] for item in items]
                return found if isinstance(value, list) else found[0]
            if field.kind is Kind.FLAG and isinstance(value, bool):
                return value
            if field.kind is Kind.TEXT and isinstance(value, list) and all(type(item) is str for item in value):
                return value
        if any(field.kind is Kind.FLAG for field in message.fields):
            raise ShapeError("boolean or JSON schema expected")
        return None

    def _wrong(self, found: str, place: Callable[[], str], go: str, converted: str) -> Any:
        self.error = self.error or ShapeError(f"json: cannot unmarshal {found} into {place()} of type {go}", converted)
        return None


_PYTHON = {Kind.FLAG: bool}
_NUMBERS = (Kind.INT32, Kind.INT64, Kind.DOUBLE)


def json_name(value: Any) -> str:
    """Return what Go calls such a JSON value."""
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
