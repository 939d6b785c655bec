"""One index of a store: from each value to the keys of the objects found under it."""

from collections.abc import Iterable
from typing import Generic, TypeVar

from informers.api.errors import CacheError
from informers.api.objects import Key, Object
from informers.cache.indexers import Indexer

T = TypeVar("T")


class IndexerFailed(CacheError):
    """An indexer raised for an object, or gave something other than texts; `__cause__` is what it raised."""

    def __init__(self, index: str, key: Key, cause: Exception) -> None:
        super().__init__(f"index {index!r} of {key}: {type(cause).__name__}: {cause}")
        self.index = index
        self.key = key


class Index(Generic[T]):
    """The keys under each value of one indexer.

    Invariants: a value that has keys is there, and no other. A value with one key holds the key itself, one with
    several a dict of them in the order they came, so that indexes of unique values stay small. Adding and discarding
    are idempotent.
    """

    __slots__ = ("_held", "indexer", "name", "unfinished")

    def __init__(self, name: str, indexer: Indexer[T], unfinished: list[Key] | None = None) -> None:
        """Start empty; `unfinished` are keys of objects that were stored before the index was there."""
        self.name = name
        self.indexer = indexer
        self.unfinished = unfinished
        self._held: dict[str, Key | dict[Key, None]] = {}

    def __len__(self) -> int:
        """Count the values."""
        return len(self._held)

    def values(self, obj: Object[T]) -> tuple[str, ...]:
        """Ask the indexer; raises `IndexerFailed`."""
        try:
            found = self.indexer(obj)
            values = found if type(found) is tuple else _items(found)
            for value in values:
                if type(value) is not str:
                    raise TypeError(f"expected texts, found a value of type {type(value).__name__}")
        except Exception as error:
            raise IndexerFailed(self.name, obj.key, error) from error
        return values

    def last_values(self, obj: Object[T]) -> tuple[str, ...]:
        """Return the values that the stored object is under."""
        try:
            found = self.indexer(obj)
            return found if type(found) is tuple else _items(found)
        except Exception:  # noqa: BLE001 — the user's; it gave values when the object came, so only looking tells
            return tuple(value for value in self._held if obj.key in self.keys(value))

    def values_if_any(self, obj: Object[T]) -> tuple[str, ...]:
        """Ask the indexer; no value where it raises, which whoever puts the object has reported."""
        try:
            return self.values(obj)
        except IndexerFailed:
            return ()

    def keys(self, value: str) -> list[Key]:
        """Return the keys under a value."""
        held = self._held.get(value)
        if held is None:
            return []
        return list(held) if isinstance(held, dict) else [held]

    def add(self, key: Key, values: tuple[str, ...]) -> None:
        """Put the key under each of the values."""
        for value in values:
            held = self._held.get(value)
            if held is None:
                self._held[value] = key
            elif isinstance(held, dict):
                held[key] = None
            elif held != key:
                self._held[value] = {held: None, key: None}

    def discard(self, key: Key, values: tuple[str, ...]) -> None:
        """Take the key away from each of the values."""
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
