"""JSON patches (RFC 6902) with the habits of the library that kube-apiserver uses.

A `replace` of a missing member adds it; indexes may be negative and count from the end; a path without a leading slash
loses its first piece; a missing member tests equal to null.
"""

from copy import deepcopy
from typing import Any, NoReturn

from informers.api.patch import same
from kcpctl.apiserver.gotext import as_json
from kcpctl.apiserver.patches.errors import DoesNotApply, Malformed, TooLarge
from kcpctl.apiserver.shapes.reader import json_name

MOST_OPERATIONS = 10_000
MOST_COPIED = 3 * 1024 * 1024
"""Bytes of JSON that all copies of one patch may add up to."""

_OPERATION = "handlers.jsonPatchOp"
_FIELDS = ("op", "path", "from", "value")


def check(patch: Any) -> list[str]:
    """Return what a strict decoder says about a patch's operations; raises `Malformed`, `TooLarge`."""
    if patch is None:
        return []
    if not isinstance(patch, list):
        raise Malformed(_wrong(patch, f"value of type []{_OPERATION}"))
    unknown = []
    for index, operation in enumerate(patch):
        if operation is not None and not isinstance(operation, dict):
            raise Malformed(_wrong(operation, f"value of type {_OPERATION}"))
        for name, value in (operation or {}).items():
            if name not in _FIELDS:
                unknown.append(f'json patch unknown field "[{index}].{name}"')
            elif name != "value" and value is not None and not isinstance(value, str):
                raise Malformed(_wrong(value, f"struct field jsonPatchOp.{name} of type string"))
    if len(patch) > MOST_OPERATIONS:
        raise TooLarge(f"The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {len(patch)}")
    return unknown


def apply(document: Any, patch: list[dict[str, Any]]) -> Any:
    """Return the document with all operations applied, in order; it is used up. Raises `DoesNotApply`.

    The patch must have passed `check`.
    """
    holder = {"": document}
    copied = 0
    for operation in patch or ():
        copied += _apply(holder, operation or {})
        if copied > MOST_COPIED:
            raise DoesNotApply(f"the accumulated size of copies exceeds {MOST_COPIED} bytes")
    return holder[""]


def _apply(holder: dict[str, Any], operation: dict[str, Any]) -> int:
    """Apply one operation; return how many bytes it copied."""
    kind = operation.get("op")
    path = _path(operation, "path")
    match kind:
        case "add":
            _add(*_find(holder, path), deepcopy(operation.get("value")))
        case "remove":
            _remove(*_find(holder, path))
        case "replace":
            _replace(holder, path, deepcopy(operation.get("value")))
        case "test":
            _test(holder, path, operation)
        case "move":
            place, key = _find(holder, _path(operation, "from"))
            value = _get(place, key)
            _remove(place, key)
            _add(*_find(holder, path), value)
        case "copy":
            value = deepcopy(_get(*_find(holder, _path(operation, "from"))))
            _add(*_find(holder, path), value)
            return len(as_json(value).encode())
        case _:
            _refuse(f"unexpected kind: {kind}")
    return 0


def _path(operation: dict[str, Any], field: str) -> str:
    path = operation.get(field)
    return path if isinstance(path, str) else _refuse(f"the operation has no {field}")


def _find(holder: dict[str, Any], path: str) -> tuple[Any, str]:
    """Return the container and the last piece of a path."""
    pieces = path.split("/")[1:]
    if not pieces:
        _refuse("the path is empty")
    place = holder[""]
    for piece in pieces[:-1]:
        place = _get(place, _unescaped(piece))
        if not isinstance(place, (dict, list)):
            _refuse(f"missing path: {path}")
    return place, _unescaped(pieces[-1])


def _unescaped(piece: str) -> str:
    return piece.replace("~1", "/").replace("~0", "~") if "~" in piece else piece


def _get(place: Any, key: str) -> Any:
    """Return what is there; a missing member is None, a missing element an error."""
    return place.get(key) if isinstance(place, dict) else place[_index(place, key, len(place) - 1)]


def _add(place: Any, key: str, value: Any) -> None:
    if isinstance(place, dict):
        place[key] = value
    elif key == "-":
        place.append(value)
    else:
        place.insert(_index(place, key, len(place)), value)


def _remove(place: Any, key: str) -> None:
    if isinstance(place, list):
        del place[_index(place, key, len(place) - 1)]
    elif key in place:
        del place[key]
    else:
        _refuse(f"unable to remove nonexistent key: {key}")


def _replace(holder: dict[str, Any], path: str, value: Any) -> None:
    if path == "":
        if not isinstance(value, (dict, list)):
            _refuse("the value must be an object or an array")
        holder[""] = value
        return
    place, key = _find(holder, path)
    if isinstance(place, dict):
        place[key] = value
    else:
        place[_index(place, key, len(place) - 1)] = value


def _test(holder: dict[str, Any], path: str, operation: dict[str, Any]) -> None:
    found = holder[""] if path == "" else _get(*_find(holder, path))
    if not same(found, operation.get("value")):
        _refuse(f"testing value {path} failed")


def _index(place: list[Any], key: str, highest: int) -> int:
    """Read an index as strconv.Atoi does; one from the end counts from where an element could be."""
    digits = key[1:] if key[:1] in ("+", "-") else key
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        _refuse(f"not an index: {key}")
    index = int(key)
    if index < 0:
        index += highest + 1
    if not 0 <= index <= highest:
        _refuse(f"index out of bounds: {key}")
    return index


def _refuse(why: str) -> NoReturn:
    raise DoesNotApply(why)


def _wrong(value: Any, target: str) -> str:
    return f"json: cannot unmarshal {json_name(value)} into Go {target}"
