"""Orders: which of the ready keys goes next."""

from collections import deque
from typing import Generic, Protocol, TypeVar

K = TypeVar("K")


class Order(Protocol[K]):
    """Holds the ready keys of a WorkQueue. The queue pushes a key only when it is not held already."""

    def push(self, key: K, /) -> None:
        """Take in one more key."""
        ...

    def pop(self) -> K:
        """Give out the key whose turn it is; only called when there is one."""
        ...

    def __len__(self) -> int:
        """Count the keys held."""
        ...


class Fifo(Generic[K]):
    """First come, first served."""

    __slots__ = ("_keys", "pop", "push")

    def __init__(self) -> None:
        self._keys: deque[K] = deque()
        # The deque's own methods: a Python frame around each would cost a tenth of a whole queue cycle.
        self.push = self._keys.append
        self.pop = self._keys.popleft

    def __len__(self) -> int:
        """Count the keys held."""
        return len(self._keys)
