"""The order that merged lists come out in: the patch's own entries in its order, between those that were there."""

from heapq import heappop, heappush
from typing import Any, TypeAlias

import msgspec

Identity: TypeAlias = tuple[type, Any]
_text = msgspec.json.Encoder(order="sorted").encode


def in_order(merged: list[Any], wanted: list[Any], old: list[Any], key: str) -> list[Any]:
    """Bring a merged list into order: entries of `wanted` keep its order, the others keep that of `old`.

    Of two neighbours, the one that was there first goes first if `old` knows both; else the patch's entry does. `key`
    tells entries apart; `""` compares them whole.
    """
    known = {identity(item, key) for item in wanted}
    own = [item for item in merged if identity(item, key) in known]
    others = [item for item in merged if identity(item, key) not in known]
    return _zipped(_sorted(others, old, key), _sorted(own, wanted, key), old, key)


def places(items: list[Any], key: str = "") -> dict[Identity, int]:
    """Return where the first entry of each identity is."""
    return {identity(item, key): at for at, item in reversed(list(enumerate(items)))}


def deduplicated(items: list[Any]) -> list[Any]:
    """Drop repeated scalars; the last entry takes a dropped one's place, as in kube-apiserver."""
    items = list(items)
    found: dict[Identity, list[int]] = {}
    for at, item in enumerate(items):
        found.setdefault(identity(item, ""), []).append(at)
    at = 0
    while at < len(items):
        mine = identity(items[at], "")
        while found[mine]:
            other = heappop(found[mine])
            if not at < other < len(items) or identity(items[other], "") != mine:
                continue  # what was there has moved
            last = items.pop()
            if other < len(items):
                items[other] = last
                heappush(found[identity(last, "")], other)
        at += 1
    return items


def identity(item: Any, key: str) -> Identity:
    """Return what is compared; the type keeps `1` and `true` apart."""
    value = item.get(key) if key and isinstance(item, dict) else item
    return type(value), _text(value) if isinstance(value, (dict, list)) else value


def _sorted(items: list[Any], order: list[Any], key: str) -> list[Any]:
    known = places(order, key)
    return sorted(items, key=lambda item: known.get(identity(item, key), len(known)))


def _zipped(others: list[Any], own: list[Any], old: list[Any], key: str) -> list[Any]:
    known = places(old, key)
    result = []
    left, right = 0, 0
    while left < len(others) and right < len(own):
        before, after = known.get(identity(others[left], key)), known.get(identity(own[right], key))
        if before is not None and after is not None and before < after:
            result.append(others[left])
            left += 1
        else:
            result.append(own[right])
            right += 1
    return result + others[left:] + own[right:]
