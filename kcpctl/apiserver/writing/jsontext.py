"""Read JSON texts as Go does: last of equal keys wins, whole numbers are integers, broken text becomes U+FFFD."""

import json
import re
from typing import Any, NoReturn

import msgspec

from kcpctl.apiserver.writing.syntax import fault

TOO_DEEP = "exceeded max depth"

_LONG_NUMBER = re.compile(r"[0-9]{19}")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class JsonError(ValueError):
    """A text that is not JSON; the message is encoding/json's."""


class Read(msgspec.Struct, frozen=True):
    """What a text says, and whether it says some key twice."""

    value: Any
    text: str
    has_duplicates: bool = False


def read(body: bytes) -> Read:
    """Read a text; raises `JsonError`."""
    text = body.decode("utf-8", "replace")
    duplicates: list[bool] = []

    def whole(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            duplicates.append(True)
        return result

    try:
        value = json.loads(
            text,
            object_pairs_hook=whole,
            parse_float=_number,
            parse_int=_integer if _LONG_NUMBER.search(text) else None,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise JsonError(TOO_DEEP) from None
    except ValueError as error:
        raise JsonError(fault(body) or str(error)) from None
    if "\\ud" in text or "\\uD" in text:
        value = _printable(value)
    return Read(value, text, bool(duplicates))


def _number(text: str) -> float:
    """Whole numbers are integers, however they are written: that is how Go prints them back."""
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise JsonError(f"json: cannot unmarshal number {text} into Go value of type float64")
    return int(value) if value.is_integer() and abs(value) < 1e21 else value


def _integer(text: str) -> float:
    """What does not fit into 64 bits becomes a float."""
    if len(text) < 25 and -(1 << 63) <= (value := int(text)) < 1 << 63:
        return value
    return _number(text)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _printable(value: Any) -> Any:
    """Replace halves of surrogate pairs, which no UTF-8 text can hold."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_printable(key): _printable(inner) for key, inner in value.items()}
    return [_printable(inner) for inner in value] if isinstance(value, list) else value
