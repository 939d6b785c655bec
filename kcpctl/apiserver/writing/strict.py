"""Duplicate keys and unknown fields of JSON texts, in the order and words of kube-apiserver's strict decoding."""

import json
from collections.abc import Collection, Iterator
from itertools import chain
from typing import Any

from kcpctl.apiserver.gotext import quote

MOST = 100
"""Problems that are told; whoever has more hears of the rest when these are mended."""


class _Pairs(list[tuple[str, Any]]):
    """An object with every key that it has, as often as it has it."""


def problems(text: str, unknown: Collection[str] = (), *, typed: bool = True) -> list[str]:
    """Return what a strict decoder says about the text, each thing once.

    A typed decoder tells unknown fields (known already: their paths) and duplicates as it meets them, and does not look
    into what it does not know. An untyped one tells duplicates everywhere; unknown fields come after them.
    """
    tree = json.loads(text, object_pairs_hook=_Pairs)
    known = frozenset(unknown) if typed else frozenset()
    told = _walk(tree, "", known)
    if not typed:
        told = chain(told, map(unknown_field, unknown))
    found: dict[str, None] = {}
    for problem in told:
        found[problem] = None
        if len(found) == MOST:
            break
    return list(found)


def unknown_field(path: str) -> str:
    """Return how a field that the type does not have is told."""
    return f"unknown field {quote(path)}"


def _walk(value: Any, path: str, unknown: frozenset[str]) -> Iterator[str]:
    if isinstance(value, _Pairs):
        seen = set()
        for key, inner in value:
            here = f"{path}.{key}" if path else key
            if here in unknown:
                yield unknown_field(here)
                continue
            if key in seen:
                yield f"duplicate field {quote(here)}"
            seen.add(key)
            yield from _walk(inner, here, unknown)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk(inner, f"{path}[{index}]", unknown)
