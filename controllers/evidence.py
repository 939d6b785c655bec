"""What was last seen of objects, over several sources, and on what evidence it went.

Informers drop an object that a list does not show any more. Here it is remembered as held: absence is not deletion.
Only a DELETED event, or the object's own newer form, makes it go.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

from informers.api.objects import Key, Object
from informers.cache.notices import Evidence, Handler, Notice
from informers.clock import Clock

T = TypeVar("T")
W = TypeVar("W")

_KEPT = 10_000
_ABSENT = (Evidence.ABSENT_FROM_LIST, Evidence.ABSENT_IN_NEW_HISTORY)


class Sighting(msgspec.Struct, Generic[W], frozen=True):
    """An object as last seen in one source."""

    source: str
    """`local` or `cache`."""
    key: Key
    what: W
    held_since: datetime | None = None
    """When a list stopped showing it; None while it is there."""


class Malformed(msgspec.Struct, frozen=True):
    """An object that does not read as what it should be; what was known of it before stays."""

    source: str
    key: Key
    error: str


class Memory(Generic[T, W]):
    """Remembers the objects of one kind.

    Invariants: an object leaves only by a DELETED event; what a list does not show is held from then on; a malformed
    newer form changes nothing that was known. `version` grows with every change of what is remembered.
    """

    def __init__(self, read: Callable[[Object[T]], W], clock: Clock, changed: Callable[[W, W | None], None]) -> None:
        """Take how to read an object, and whom to tell (old, new or None) of an evident change."""
        self._read = read
        self._clock = clock
        self._changed = changed
        self._seen: dict[tuple[str, Key], Sighting[W]] = {}
        self._malformed: dict[tuple[str, Key], Malformed] = {}
        self.version = 0

    def __iter__(self) -> Iterator[Sighting[W]]:
        """Go through all that is there or held."""
        return iter(self._seen.values())

    @property
    def malformed(self) -> list[Malformed]:
        """Objects that cannot be read now."""
        return list(self._malformed.values())

    def handler(self, source: str) -> Handler[T]:
        """Return the handler for the informer of one source."""

        def notice(notice: Notice[T]) -> None:
            self.version += 1
            place = (source, notice.key)
            if notice.new is not None:
                self._see(place, notice.new)
            elif notice.evidence in _ABSENT:
                self._hold(place)
            else:
                self._forget(place)

        return notice

    def _see(self, place: tuple[str, Key], obj: Object[T]) -> None:
        try:
            what = self._read(obj)
        except (msgspec.ValidationError, TypeError, ValueError) as error:
            self._malformed[place] = Malformed(*place, str(error))
            return
        self._malformed.pop(place, None)
        before = self._seen.get(place)
        self._seen[place] = Sighting(*place, what)
        if before is not None and before.what != what:
            self._changed(before.what, what)

    def _hold(self, place: tuple[str, Key]) -> None:
        self._malformed.pop(place, None)
        before = self._seen.get(place)
        if before is not None and before.held_since is None:
            self._seen[place] = msgspec.structs.replace(before, held_since=self._clock.now())

    def _forget(self, place: tuple[str, Key]) -> None:
        self._malformed.pop(place, None)
        before = self._seen.pop(place, None)
        if before is not None:
            self._changed(before.what, None)


class Bounded:
    """A set that forgets its oldest member when it is full."""

    def __init__(self, size: int = _KEPT) -> None:
        """Start empty."""
        self._members: OrderedDict[Any, None] = OrderedDict()
        self._size = size

    def add(self, member: Any) -> None:
        """Take it in, as the newest."""
        self._members[member] = None
        self._members.move_to_end(member)
        if len(self._members) > self._size:
            self._members.popitem(last=False)

    def __contains__(self, member: Any) -> bool:
        return member in self._members

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members)
