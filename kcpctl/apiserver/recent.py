"""A mapping that keeps what was put into it last, up to a number of bytes."""

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """What is too old is forgotten without a word: ask again and make it again.

    Invariant: the sizes of what is kept add up to at most `limit`.
    """

    __slots__ = ("_entries", "_limit", "_size")

    def __init__(self, limit: int) -> None:
        """Keep at most that many bytes."""
        self._limit = limit
        self._size = 0
        self._entries: dict[K, tuple[V, int]] = {}

    def get(self, key: K) -> V | None:
        """Return what was put, or None."""
        found = self._entries.get(key)
        return None if found is None else found[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value that is `size` bytes big; a value over the limit is not kept."""
        if (old := self._entries.pop(key, None)) is not None:
            self._size -= old[1]
        if size > self._limit:
            return
        self._entries[key] = (value, size)
        self._size += size
        while self._size > self._limit:
            oldest = next(iter(self._entries))
            self._size -= self._entries.pop(oldest)[1]

    def __len__(self) -> int:
        return len(self._entries)
