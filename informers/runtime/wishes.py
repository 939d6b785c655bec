"""Wishes: how what a reconciler returns differs from an object, as patches."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from informers.api import conditions, patch
from informers.api.objects import Object
from informers.runtime.result import Result

JSON = dict[str, Any]


def patches(obj: Object[Any], result: Result, *, now: datetime) -> tuple[JSON, JSON]:
    """Return the merge patches that the object needs: for its own fields, and for its status.

    `now` is the time of a condition whose status changes.
    """
    fields: JSON = {}
    if result.fields is not None:
        body = obj.body
        fields = patch.diff(body, patch.apply(body, _effective(msgspec.to_builtins(result.fields), body)))
    return fields, _status_patch(obj, result.status, now) if result.status is not None else {}


def _status_patch(obj: Object[Any], wish: Any, now: datetime) -> JSON:
    """Return the merge patch for the status; only fields whose texts differ are taken apart."""
    encoded = _encode(wish)
    try:
        wanted = _decode_texts(encoded)
    except msgspec.ValidationError:
        raise _no_mapping(wish) from None
    there = _texts_of_status(obj)
    if wishes := _conditions(wish):
        present = _decode(there["conditions"]) if "conditions" in there else None
        wanted["conditions"] = msgspec.Raw(_encode(conditions.wished(wishes, _items(present), now=now)))
    changed = {name: text for name, text in wanted.items() if there.get(name) != text}
    old = {name: _decode(text) for name, text in there.items() if name in changed or name not in wanted}
    new = {name: _decode(text) for name, text in changed.items()}
    found: JSON = patch.diff(old, _without_nulls(new) if b"null" in encoded else new)
    return found


class _Status(msgspec.Struct, gc=False):
    status: dict[str, msgspec.Raw] | None = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_decode_status = msgspec.json.Decoder(_Status).decode
_decode_texts = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def _texts_of_status(obj: Object[Any]) -> dict[str, msgspec.Raw]:
    """Return the JSON of each field of the status; of one that is no mapping nothing is kept."""
    try:
        return _decode_status(obj.raw).status or {}
    except msgspec.ValidationError:
        return {}


def _effective(wish: JSON, body: JSON) -> JSON:
    """Leave out what removes fields that are not there.

    A map would be made to hold nothing, which servers drop (empty labels, say), so that it would differ for ever.
    """
    found: JSON = {}
    for name, value in wish.items():
        present = body.get(name)
        if isinstance(value, dict) and value:
            value = _effective(value, present if isinstance(present, dict) else {})
            if not value:
                continue
        if value is not None or present is not None:
            found[name] = value
    return found


def plain_status(obj: Object[Any], wish: Any, *, now: datetime) -> JSON:
    """Return the wish for the status as `plain` does, with its conditions as they should stand in the object."""
    found = plain(wish)
    if wishes := _conditions(wish):
        found["conditions"] = conditions.wished(wishes, _items(obj.at("status", "conditions")), now=now)
    return found


def _conditions(wish: Any) -> Sequence[Any]:
    """Return the wished conditions if there is a `Condition` among them: what is written out is taken as it is."""
    found = wish.get("conditions") if isinstance(wish, Mapping) else getattr(wish, "conditions", None)
    if isinstance(found, list | tuple) and any(isinstance(one, conditions.Condition) for one in found):
        return found
    return ()


def _items(found: Any) -> Sequence[Any]:
    return found if isinstance(found, list) else ()


def plain(wish: Any) -> JSON:
    """Return the wish as a JSON object without nulls, which would otherwise differ for ever from what is stored."""
    encoded = _encode(wish)
    found = _decode(encoded)
    if not isinstance(found, dict):
        raise _no_mapping(wish)
    return _without_nulls(found) if b"null" in encoded else found


def _no_mapping(wish: Any) -> TypeError:
    return TypeError(f"expected a mapping or a model in the Result, found {type(wish).__name__}")


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    return value
