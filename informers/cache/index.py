"""One index of a store: from each value to the keys of the objects found under it."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeAlias, TypeVar, cast

from informers.api.errors import CacheError
from informers.api.objects import Key, Object
from informers.cache.indexers import DependsOn, Indexer, bare, depends_on

T = TypeVar("T")

Remembered: TypeAlias = str | tuple[str, ...]
"""The one value of a key, or its several: most have one, and a tuple of it would cost more than the value."""

_FEW = 512


class IndexerFailed(CacheError):
    """An indexer raised for an object, or gave something other than texts; `__cause__` is what it raised."""

    def __init__(self, index: str, key: Key, cause: Exception) -> None:
        super().__init__(f"index {index!r} of {key}: {type(cause).__name__}: {cause}")
        self.index = index
        self.key = key


class Index(Generic[T]):
    """The keys under each value of one indexer.

    Invariants: a value that has keys is there, and no other. A value with one key holds the key itself, one with
    several a dict of them in the order they came, so that indexes of unique values stay small. What a key is under is
    remembered, or known from an indexer that is cheap to ask again: an indexer that depends on more than the object
    leaves no ghosts.
    """

    __slots__ = ("_ask", "_common", "_held", "_remembered", "decided_by", "indexer", "name", "unfinished")

    def __init__(self, name: str, indexer: Indexer[T], unfinished: list[Key] | None = None) -> None:
        """Start empty; `unfinished` are keys of objects that were stored before the index was there."""
        self.name = name
        self.indexer = indexer
        self.unfinished = unfinished
        self._held: dict[str, Key | dict[Key, None]] = {}
        self.decided_by = depends_on(indexer)
        """What may change where an object is found."""
        is_sure = self.decided_by is not DependsOn.BODY
        self._ask = cast("Callable[[Object[T]], tuple[str, ...]]", bare(indexer)) if is_sure else self.values
        """As `values`; an indexer that gives nothing but tuples of texts is asked itself."""
        self._remembered: dict[Key, Remembered] | None = {} if self.decided_by is DependsOn.BODY else None
        self._common: dict[Remembered, Remembered] = {}

    def __len__(self) -> int:
        """Count the values."""
        return len(self._held)

    def values(self, obj: Object[T]) -> tuple[str, ...]:
        """Ask the indexer; raises `IndexerFailed`."""
        try:
            found = self.indexer(obj)
            if type(found) is tuple and len(found) == 1 and type(found[0]) is str:
                return found  # what most indexers give for most objects, said fast
            values = found if type(found) is tuple else _items(found)
            for value in values:
                if type(value) is not str:
                    raise TypeError(f"expected texts, found a value of type {type(value).__name__}")
        except Exception as error:
            raise IndexerFailed(self.name, obj.key, error) from error
        return values

    def all_values(self, objects: list[Object[T]]) -> list[tuple[str, ...]]:
        """Ask the indexer about many; raises `IndexerFailed` where it raises for one."""
        try:
            return list(map(self._ask, objects))
        except Exception:  # noqa: BLE001 — asked one by one it tells which
            return list(map(self.values, objects))

    def values_if_any(self, obj: Object[T]) -> tuple[str, ...]:
        """Ask the indexer; no value where it raises, which whoever puts the object has reported."""
        try:
            return self.values(obj)
        except IndexerFailed:
            return ()

    def last_values(self, old: Object[T]) -> tuple[str, ...]:
        """Return what the stored object is under."""
        if self._remembered is None:
            return self.values_if_any(old)
        values = self._remembered.get(old.key, ())
        return (values,) if isinstance(values, str) else values

    def keys(self, value: str) -> list[Key]:
        """Return the keys under a value."""
        held = self._held.get(value)
        if held is None:
            return []
        return list(held) if isinstance(held, dict) else [held]

    def add(self, key: Key, values: tuple[str, ...]) -> None:
        """Put the key under each of the values, besides those it is under."""
        self.add_all([key], [values])

    def add_all(self, keys: list[Key], values: list[tuple[str, ...]]) -> None:
        """Put many keys, each under its values; as `add` for each, without a call for each."""
        if self._remembered is not None:
            for key, under in zip(keys, values, strict=True):
                if under:
                    first, *more = under
                    self._remembered[key] = self._shared(under if more else first)
        for key, under in zip(keys, values, strict=True):
            for value in under:
                held = self._held.get(value)
                if held is None:
                    self._held[value] = key
                elif isinstance(held, dict):
                    held[key] = None
                elif held != key:
                    self._held[value] = {held: None, key: None}

    def _shared(self, values: Remembered) -> Remembered:
        """Return what is equal and there already, where there are few different ones."""
        if len(self._common) < _FEW:
            return self._common.setdefault(values, values)
        return self._common.get(values, values)

    def discard(self, key: Key, values: Iterable[str]) -> None:
        """Take the key away from each of the values, which are all it is under."""
        if self._remembered is not None:
            self._remembered.pop(key, None)
        for value in values:
            held = self._held.get(value)
            if isinstance(held, dict):
                held.pop(key, None)
                if len(held) == 1:
                    self._held[value] = next(iter(held))
            elif held == key:
                del self._held[value]


def _items(found: Iterable[str]) -> tuple[str, ...]:
    if isinstance(found, str):
        raise TypeError(f"expected an iterable of texts, found the text {found!r}")
    return tuple(found)
