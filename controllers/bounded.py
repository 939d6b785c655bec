"""Sets and maps with an end to their memory."""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)
V = TypeVar("V")


class Bounded(Generic[T]):
    """A set that forgets its oldest member when it is full."""

    def __init__(self, size: int) -> None:
        """Start empty."""
        self._members: OrderedDict[T, None] = OrderedDict()
        self._size = size

    def add(self, member: T) -> None:
        """Take it in, as the newest."""
        self._members[member] = None
        self._members.move_to_end(member)
        if len(self._members) > self._size:
            self._members.popitem(last=False)

    def discard(self, member: T) -> None:
        """Forget it, if it is known."""
        self._members.pop(member, None)

    def __contains__(self, member: object) -> bool:
        return member in self._members

    def __iter__(self) -> Iterator[T]:
        return iter(self._members)


class BoundedMap(Generic[T, V]):
    """A map that forgets its oldest member when it is full."""

    def __init__(self, size: int) -> None:
        """Start empty."""
        self._members: OrderedDict[T, V] = OrderedDict()
        self._size = size

    def put(self, member: T, value: V) -> None:
        """Take it in with its value, as the newest."""
        self._members[member] = value
        self._members.move_to_end(member)
        if len(self._members) > self._size:
            self._members.popitem(last=False)

    def get(self, member: T) -> V | None:
        """Return the value of a member; None for what is not one."""
        return self._members.get(member)

    def __contains__(self, member: object) -> bool:
        return member in self._members
