"""Read JSON texts as Go does: last of equal keys wins, whole numbers are integers, broken text becomes U+FFFD."""

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import msgspec

from kcpctl.apiserver.writing.syntax import fault

TOO_DEEP = "exceeded max depth"

_DIGITS_ONLY = bytes(b"0"[0] if chr(byte).isdecimal() and byte < 128 else 32 for byte in range(256))
_LONG_NUMBER = b"0" * 19
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class JsonError(ValueError):
    """A text that is not JSON; the message is encoding/json's."""


class Read(msgspec.Struct, frozen=True):
    """What a text says, and whether it says some key twice."""

    value: Any
    text: str
    has_duplicates: bool = False
    is_plain: bool = False
    """Whether the text is just as it would be printed here."""


def read(body: bytes) -> Read:
    """Read a text; raises `JsonError`."""
    is_long = _has_long_number(body)
    if not is_long and (found := _plain(body)) is not None:
        return found
    text = body.decode("utf-8", "replace")
    decoders = _LONG_DECODERS if is_long else _DECODERS
    try:
        value, repeats = decoders.decode(text)
    except RecursionError:
        raise JsonError(TOO_DEEP) from None
    except ValueError as error:
        raise JsonError(fault(body) or str(error)) from None
    if "\\ud" in text or "\\uD" in text:
        value = _printable(value)
    return Read(value, text, repeats)


def _plain(body: bytes) -> Read | None:
    """Read a text that is just as it would be printed here, in a tenth of the time; None for any other.

    Such a text repeats no key: what a key says first would not be printed.
    """
    try:
        value = _decode(body)
        return Read(value, body.decode(), is_plain=True) if _encode(value) == body else None
    except (ValueError, RecursionError):
        return None  # the other way finds the words for it


class _Repeated(Exception):
    """Some object has some key twice."""


class _Decoders:
    """Two prebuilt decoders: one that stops at the first repeated key, and one that goes on."""

    def __init__(self, parse_int: Callable[[str], Any] | None) -> None:
        made = partial(json.JSONDecoder, parse_float=_number, parse_int=parse_int, parse_constant=_no_constant)
        self._strict = made(object_pairs_hook=_unique)
        self._lenient = made()

    def decode(self, text: str) -> tuple[Any, bool]:
        """Return the value, and whether some key is repeated."""
        try:
            return self._strict.decode(text), False
        except _Repeated:
            return self._lenient.decode(text), True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _Repeated
    return result


def _has_long_number(body: bytes) -> bool:
    """Look for 19 digits in a row; fewer always fit into 64 bits."""
    return _LONG_NUMBER in body.translate(_DIGITS_ONLY)


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


_decode = msgspec.json.Decoder(float_hook=_number).decode
_encode = msgspec.json.Encoder().encode
_DECODERS = _Decoders(None)
_LONG_DECODERS = _Decoders(_integer)
