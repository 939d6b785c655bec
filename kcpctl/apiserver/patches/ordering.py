"""The order that merged lists come out in: the patch's own entries in its order, between those that were there."""

from typing import Any


def in_order(merged: list[Any], wanted: list[Any], old: list[Any], key: str) -> list[Any]:
    """Bring a merged list into order: entries of `wanted` keep its order, the others keep that of `old`.

    Of two neighbours, the one that was there first goes first if `old` knows both; else the patch's entry does. `key`
    tells entries apart; `""` compares them whole.
    """
    known = {_identity(item, key) for item in wanted}
    own = [item for item in merged if _identity(item, key) in known]
    others = [item for item in merged if _identity(item, key) not in known]
    return _zipped(_sorted(others, old, key), _sorted(own, wanted, key), old, key)


def position(items: list[Any], wanted: Any, key: str = "") -> int:
    """Return where an equal entry is, -1 if it is not there."""
    target = _identity(wanted, key)
    return next((at for at, item in enumerate(items) if _identity(item, key) == target), -1)


def deduplicated(items: list[Any]) -> list[Any]:
    """Drop repeated scalars; the last entry takes a dropped one's place, as in kube-apiserver."""
    items = list(items)
    at = 0
    while at < len(items):
        other = at + 1
        while other < len(items):
            if _identity(items[at], "") == _identity(items[other], ""):
                items[other] = items[-1]
                items.pop()
            else:
                other += 1
        at += 1
    return items


def _identity(item: Any, key: str) -> tuple[type, Any]:
    """Return what is compared; the type keeps `1` and `true` apart."""
    value = item.get(key) if key and isinstance(item, dict) else item
    return type(value), value


def _sorted(items: list[Any], order: list[Any], key: str) -> list[Any]:
    places = {_identity(item, key): at for at, item in reversed(list(enumerate(order)))}
    return sorted(items, key=lambda item: places.get(_identity(item, key), len(places)))


def _zipped(others: list[Any], own: list[Any], old: list[Any], key: str) -> list[Any]:
    places = {_identity(item, key): at for at, item in reversed(list(enumerate(old)))}
    result = []
    left, right = 0, 0
    while left < len(others) and right < len(own):
        before, after = places.get(_identity(others[left], key)), places.get(_identity(own[right], key))
        if before is not None and after is not None and before < after:
            result.append(others[left])
            left += 1
        else:
            result.append(own[right])
            right += 1
    return result + others[left:] + own[right:]
