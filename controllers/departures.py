"""What was deleted before our eyes in this life of the process: evidence also in a store that is doubted."""

from collections.abc import Iterable
from typing import Any

from controllers.bounded import Bounded
from informers.api.objects import Key
from informers.cache.listers import Lister
from informers.cache.notices import Evidence, Notice
from informers.runtime.sources import Lookup, Mapper

_REMEMBERED = 100_000
"""Deletions that are remembered, the latest; to forget one means that endpoints may be held which could go."""


class Departures:
    """Notes which objects of a watched resource were deleted; what is missing in a new history was not.

    A mapping of a `Watch` that is `careful`, around the one that says which keys a change concerns.
    """

    def __init__(self, to: Lookup) -> None:
        """Begin with none, and map changes as `to` does."""
        self._to = to
        self._deleted: Bounded[Key] = Bounded(_REMEMBERED)

    def __contains__(self, key: object) -> bool:
        """Say whether the object was deleted, and has not come back."""
        return key in self._deleted

    def among(self, objects: Lister[Any]) -> Mapper:
        """Return the mapper for these objects."""
        mapped = self._to.among(objects)

        def to(notice: Notice[Any]) -> Iterable[Key]:
            self._note(notice)
            return mapped(notice)

        return to

    def _note(self, notice: Notice[Any]) -> None:
        key = notice.key.shardless()
        if notice.new is not None:
            self._deleted.discard(key)
        elif notice.evidence is not Evidence.ABSENT_IN_NEW_HISTORY:
            self._deleted.add(key)
