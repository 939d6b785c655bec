"""Fields of bodies that are read together with the head of an object, so that nobody decodes it again for them."""

from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from typing import Any, Optional, TypeAlias

import msgspec

Path: TypeAlias = tuple[str, ...]
"""Field names, from the top of the object."""

_KEPT = 16_384


class Peek(msgspec.Struct, frozen=True, gc=False):
    """What is at some paths of an object; objects that have the same there share one."""

    paths: tuple[Path, ...]
    found: tuple[tuple[str, ...], ...]
    """For each path what is there, as `texts` gives it."""


class Peeker:
    """Decodes objects' heads, and peeks at the paths on the way; runs for each object that arrives."""

    def __init__(self, head: type[msgspec.Struct], paths: Iterable[Path]) -> None:
        """Take the head's type. Paths through metadata, and such as end inside another, are left out of `paths`."""
        tree: dict[str, Any] = {}
        self.paths = tuple(path for path in dict.fromkeys(paths) if path[0] != "metadata" and _grow(tree, path))
        self.decode: Callable[[bytes], Any] = msgspec.json.Decoder(_shape(tree, head)).decode
        """Reads a head; raises `msgspec.ValidationError` also where a path leads through what has no fields."""
        self._getters = tuple(map(_getter, self.paths))
        self._all = attrgetter(*(".".join(map(_attribute, path)) for path in self.paths)) if self.paths else _nothing
        self._known: dict[Any, Peek] = {}

    def peek(self, head: Any) -> Peek | None:
        """Return what a decoded head has at the paths; None where one ends at something that `texts` does not take."""
        try:
            return self._known[self._all(head)]
        except (KeyError, AttributeError, TypeError):  # new; a step that is not there; a list, or what else has no hash
            return self._remembered(head)

    def _remembered(self, head: Any) -> Peek | None:
        """Make what is to be shared with all objects that have the same at the paths."""
        values = tuple([_get(getter, head) for getter in self._getters])
        peek = self._new(values)
        if peek is not None and all(type(value) is str for value in values):  # since 1 == True, and both have texts
            if len(self._known) >= _KEPT:
                self._known.clear()
            first, *more = values
            self._known[values if more else first] = peek
        return peek

    def _new(self, values: tuple[Any, ...]) -> Peek | None:
        try:
            return Peek(self.paths, tuple(map(texts, values)))
        except TypeError:
            return None


def texts(found: Any) -> tuple[str, ...]:
    """Return the texts of what was found at a path: a text, a number, a boolean, a list of those, or None for nothing.

    Booleans are "true" and "false". Raises `TypeError` for anything else.
    """
    if isinstance(found, list):
        return tuple(map(_text, found))
    return () if found is None else (_text(found),)


@cache
def look(path: Path) -> Callable[[bytes], Any]:
    """Return what decodes an object only as far as the path leads, to what is there; None where there is nothing.

    It raises `msgspec.ValidationError` where the path leads through what has no fields.
    """
    tree: dict[str, Any] = {}
    _grow(tree, path)
    decode = msgspec.json.Decoder(_shape(tree, _Nothing)).decode
    getter = _getter(path)
    return lambda raw: _get(getter, decode(raw))


class _Nothing(msgspec.Struct, gc=False):
    pass


def _grow(tree: dict[str, Any], path: Path) -> bool:
    """Add the path; say whether it neither ends inside another nor leads through another's end."""
    *way, last = path
    for step in way:
        below = tree.setdefault(step, {})
        if below is None:
            return False
        tree = below
    return tree.setdefault(last, None) is None


def _shape(tree: dict[str, Any], base: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return a type whose decoder reads what the base says and what the tree leads to, and skips all else."""
    fields = []
    for step, below in tree.items():
        kind: Any = Any if below is None else Optional[_shape(below, _Nothing)]  # noqa: UP045 — made at run time
        fields.append((_attribute(step), kind, msgspec.field(name=step, default=None)))
    return msgspec.defstruct("Step", fields, bases=(base,), gc=False)


def _attribute(step: str) -> str:
    return "at_" + step.encode().hex()


def _nothing(head: Any) -> None:
    return None


def _getter(path: Path) -> Callable[[Any], Any]:
    return attrgetter(".".join(map(_attribute, path)))


def _get(getter: Callable[[Any], Any], head: Any) -> Any:
    try:
        return getter(head)
    except AttributeError:  # a step that is not there
        return None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise TypeError(f"expected a text, a number or a boolean to index by, found {type(value).__name__}")
