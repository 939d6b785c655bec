"""Read protobuf messages into JSON values by the tables of their types."""

import struct
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from kcpctl.apiserver.served import JSON
from kcpctl.apiserver.shapes.fields import Field, Holds, Kind, Message
from kcpctl.apiserver.shapes.reader import printed

_VARINT, _FIXED64, _BYTES, _START_GROUP, _END_GROUP, _FIXED32 = range(6)
_WIRE = {Kind.FLAG: _VARINT, Kind.INT32: _VARINT, Kind.INT64: _VARINT, Kind.DOUBLE: _FIXED64}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class WireError(ValueError):
    """Bytes that are not the message; the text is that of Go's generated code."""


def read(message: Message, data: bytes) -> JSON:
    """Return the message as its JSON form prints it; raises `WireError`.

    Fields that the type does not have are skipped, as protobuf wants it.
    """
    try:
        return printed(message, _values(message, memoryview(data)))
    except RecursionError:
        raise WireError("proto: exceeded max depth") from None


def pieces(data: memoryview, name: str) -> Iterator[tuple[int, int, Any]]:
    """Yield (field number, wire type, value): an int, 8 or 4 bytes, or the bytes of a nested field."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == _END_GROUP:
            raise WireError(f"proto: {name}: wiretype end group for non-group")
        if not 0 < number < 1 << 29:
            raise WireError(f"proto: {name}: illegal tag {number} (wire type {wire})")
        value, at = _value(data, at, wire)
        yield number, wire, value


def _value(data: memoryview, at: int, wire: int) -> tuple[Any, int]:
    match wire:
        case 0:
            return _varint(data, at)
        case 1 | 5:
            stop = at + (8 if wire == _FIXED64 else 4)
        case 2:
            size, at = _varint(data, at)
            stop = at + size
        case 3:
            return b"", _after_group(data, at)
        case _:
            raise WireError(f"proto: illegal wireType {wire}")
    if stop > len(data):
        raise WireError("unexpected EOF")
    return data[at:stop], stop


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
        if shift >= 64:
            raise WireError("proto: integer overflow")
    raise WireError("unexpected EOF")


def _after_group(data: memoryview, at: int) -> int:
    depth = 1
    while depth:
        tag, at = _varint(data, at)
        wire = tag & 7
        if wire == _START_GROUP:
            depth += 1
        elif wire == _END_GROUP:
            depth -= 1
        else:
            _, at = _value(data, at, wire)
    return at


def _values(message: Message, data: memoryview) -> JSON:
    found: JSON = {}
    for number, wire, value in pieces(data, message.name):
        field = message.by_number.get(number)
        if field is None:
            continue
        wanted = _BYTES if field.holds is Holds.MAP else _WIRE.get(field.kind, _BYTES)
        if wire != wanted:
            raise WireError(f"proto: wrong wireType = {wire} for field {field.name[:1].upper()}{field.name[1:]}")
        match field.holds:
            case Holds.ONE:
                found[field.name] = _one(field, value)
            case Holds.LIST:
                found.setdefault(field.name, []).append(_one(field, value))
            case Holds.MAP:
                key, item = _entry(field, value)
                found.setdefault(field.name, {})[key] = item
    return found


def _entry(field: Field, data: memoryview) -> tuple[str, Any]:
    key, value = "", memoryview(b"")
    for number, wire, piece in pieces(data, field.name):
        if number in (1, 2) and wire != _BYTES:
            raise WireError(f"proto: wrong wireType = {wire} for field {field.name}")
        if number == 1:
            key = _text(piece)
        elif number == 2:
            value = piece
    return key, _one(field, value)


def _one(field: Field, value: Any) -> Any:
    match field.kind:
        case Kind.TEXT:
            return _text(value)
        case Kind.BYTES:
            return b64encode(value).decode()
        case Kind.FLAG:
            return bool(value)
        case Kind.INT32:
            return (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000
        case Kind.INT64:
            return (value ^ 1 << 63) - (1 << 63)
        case Kind.DOUBLE:
            number: float = struct.unpack("<d", value)[0]
            return int(number) if number.is_integer() and abs(number) < 1e21 else number
        case Kind.TIME | Kind.MICRO_TIME:
            return _time(value, micro=field.kind is Kind.MICRO_TIME)
        case Kind.FREE:
            return _free(value)
        case Kind.MESSAGE:
            assert field.message is not None  # fields of this kind name their message
            return (
                _union(field.message, value)
                if field.message.union
                else printed(field.message, _values(field.message, value))
            )


def _text(value: memoryview) -> str:
    return bytes(value).decode("utf-8", "replace")


def _time(data: memoryview, *, micro: bool) -> str | None:
    """Read a timestamp; an empty message is Go's zero time, which is no time."""
    parts = {number: value for number, wire, value in pieces(data, "Timestamp") if wire == _VARINT}
    if not len(data):
        return None
    seconds = (parts.get(1, 0) ^ 1 << 63) - (1 << 63)
    try:
        moment = _EPOCH + timedelta(seconds=seconds, microseconds=parts.get(2, 0) // 1000 if micro else 0)
    except OverflowError:
        raise WireError("Time.MarshalJSON: year outside of range [0,9999]") from None
    if moment == datetime(1, 1, 1, tzinfo=UTC):
        return None
    return f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}".zfill(27) if micro else f"{moment:%Y-%m-%dT%H:%M:%SZ}".zfill(20)


def _free(data: memoryview) -> Any:
    raw = next((value for number, wire, value in pieces(data, "JSON") if number == 1 and wire == _BYTES), b"")
    if not len(raw):
        return None
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        raise WireError(f"expected JSON inside the message, found: {error}") from None


def _union(message: Message, data: memoryview) -> Any:
    """Return the member that is set: what is bigger than a flag wins, since schemas bring their flag along."""
    found = _values(message, data)
    flag = next((field.name for field in message.fields if field.kind is Kind.FLAG), "")
    for name, value in found.items():
        if name != flag:
            return value
    return found.get(flag, False) if flag else None
