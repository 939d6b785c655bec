"""Values as Go prints them, since messages of kube-apiserver carry them."""

import json
from math import isfinite, isnan
from typing import Any

_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}
_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def quote(text: str) -> str:
    """Return the text as `%q` prints it."""
    return f'"{"".join(_escaped(char) for char in text)}"'


def _escaped(char: str) -> str:
    known = _ESCAPES.get(char)
    if known is not None:
        return known
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def number(value: float) -> str:
    """Return a number as `%v` prints it: floats in their shortest form, with an exponent from 1e+06 on."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else _shortest(value)


def _shortest(value: float) -> str:
    if not isfinite(value):
        return "NaN" if isnan(value) else f"{value:+}".replace("inf", "Inf")
    mantissa, _, exponent = f"{value!r}".partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if not digits:
        return sign + "0"
    if -4 <= point - 1 < 6:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{digits}"
        padded = digits.ljust(point, "0")
        return sign + padded[:point] + ("." + padded[point:] if len(padded) > point else "")
    tail = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'-' if point < 1 else '+'}{abs(point - 1):02d}"


def as_json(value: Any) -> str:
    """Return a value as Go's encoding/json prints it: keys sorted, no spaces, `<`, `>` and `&` escaped."""
    text = json.dumps(_whole(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.translate(_HTML)


def _whole(value: Any) -> Any:
    """Turn whole floats into integers, which is how Go prints them."""
    if isinstance(value, dict):
        return {key: _whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e21 else value


def shown(value: Any) -> str:
    """Return a value as field errors show it: texts quoted, numbers plain, the rest as JSON."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, (bool, int, float)):
        return number(value)
    return as_json(value)


def plain(value: Any) -> str:
    """Return a value as `%v` prints it: `map[a:1 b:[x y]]`, `<nil>`, texts without quotes."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{plain(inner)}' for key, inner in sorted(value.items()))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(plain, value))}]"
    if value is None:
        return "<nil>"
    return value if isinstance(value, str) else number(value)
