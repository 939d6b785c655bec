"""What a plain YAML scalar stands for, by the rules of go-yaml's second version."""

import re
from math import inf, isfinite
from typing import Any

_PREFIX = "tag:yaml.org,2002:"
_RESOLVABLE = frozenset({"", *(_PREFIX + kind for kind in ("str", "bool", "int", "float", "null", "timestamp"))})

_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
for _value, _words in ((True, "y yes true on"), (False, "n no false off")):
    for _word in _words.split():
        _WORDS.update({_word: _value, _word.capitalize(): _value, _word.upper(): _value})
_NOT_FINITE = frozenset(f"{sign}.{word}" for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")) | frozenset(
    (".nan", ".NaN", ".NAN")
)

_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))", re.ASCII)


class Undecodable(ValueError):
    """A scalar that is not what its tag or the JSON that it must become allows; the message is Go's."""


def resolve(tag: str, text: str) -> Any:
    """Return the value of a scalar; `tag` is its explicit tag, `""` for a plain one. Raises `Undecodable`."""
    if tag not in _RESOLVABLE or tag == _PREFIX + "str":
        return text
    if text in _NOT_FINITE:
        shown = "NaN" if "a" in text.lower() else "-Inf" if text[0] == "-" else "+Inf"
        raise Undecodable(f"json: unsupported value: {shown}")
    value = _untagged(text)
    kind = _kind(value)
    wanted = tag.removeprefix(_PREFIX)
    if wanted == "float" and kind == "int":
        return value
    if wanted not in ("", kind, "timestamp"):
        raise Undecodable(f"yaml: cannot decode !!{kind} `{text}` as a !!{wanted}")
    return value


def _untagged(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    plain = text.replace("_", "")
    if text[0] != "." and (found := _INTEGER.fullmatch(plain)):
        return _integer(found)
    if _FLOAT.fullmatch(plain if text[0] != "." else text) and isfinite(value := float(plain)):
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    return text


def _integer(found: re.Match[str]) -> int | float:
    sign, hexadecimal, binary, octal, decimal = found.groups()
    digits, base = next((d, b) for d, b in ((hexadecimal, 16), (binary, 2), (octal, 8), (decimal, 10)) if d)
    value = int(digits, base) if len(digits) < 400 else inf
    value = -value if sign == "-" else value
    return value if -(1 << 63) <= value < 1 << 64 else float(value)


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case _:
            return "str"
