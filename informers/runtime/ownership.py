"""Who owns which fields: whether applying a wish again would change anything, as managedFields tell."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from informers.api.patch import same


def is_applied(body: Mapping[str, Any], wish: Mapping[str, Any], *, manager: str, subresource: str = "") -> bool:
    """Say whether the manager's last server-side apply was this wish, and the object still has its values.

    `wish` is what was applied besides name and type. Objects read without managedFields are never said to be applied.
    """
    owned = _owned_fields(body, manager, subresource)
    if owned is None:
        return not wish
    return _holds(owned, wish, body)


def _owned_fields(body: Mapping[str, Any], manager: str, subresource: str) -> Mapping[str, Any] | None:
    for entry in body.get("metadata", {}).get("managedFields") or ():
        found = (entry.get("manager"), entry.get("operation"), entry.get("subresource", ""))
        if found == (manager, "Apply", subresource):
            fields = entry.get("fieldsV1")
            return fields if isinstance(fields, Mapping) else {}
    return None


def _holds(owned: Mapping[str, Any], wish: Any, now: Any) -> bool:
    """Say whether `wish` and the owned fields name the same things, and `now` has the wish's values for them.

    An owned node without entries is a leaf: a scalar, or an atomic list or map.
    """
    prefixes = {name[:2] for name in owned}
    if isinstance(wish, Mapping) and isinstance(now, Mapping) and ("f:" in prefixes or not wish):
        names = {name[2:] for name in owned if name.startswith("f:")}
        return names == wish.keys() and all(
            key in now and _holds(owned[f"f:{key}"], value, now[key]) for key, value in wish.items()
        )
    if isinstance(wish, list) and isinstance(now, list) and "k:" in prefixes:
        return _holds_items(owned, wish, now)
    if isinstance(wish, list) and isinstance(now, list) and "v:" in prefixes:
        values = [msgspec.json.decode(name[2:]) for name in owned if name.startswith("v:")]
        return len(values) == len(wish) and all(_among(value, values) and _among(value, now) for value in wish)
    return same(wish, now)


def _holds_items(owned: Mapping[str, Any], wish: Sequence[Any], now: Sequence[Any]) -> bool:
    """Do as `_holds` for a list whose items are told apart by some of their fields."""
    keys = {name: msgspec.json.decode(name[2:]) for name in owned if name.startswith("k:")}
    if len(keys) != len(wish):
        return False
    for name, key in keys.items():
        wanted, present = _item(wish, key), _item(now, key)
        if wanted is None or present is None or not _holds(owned[name], wanted, present):
            return False
    return True


def _item(items: Sequence[Any], key: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for item in items:
        if isinstance(item, Mapping) and all(same(item.get(name), value) for name, value in key.items()):
            return item
    return None


def _among(value: Any, values: Sequence[Any]) -> bool:
    return any(same(value, other) for other in values)
