"""What handlers of an informer are told: one change of one object."""

from collections.abc import Callable
from enum import Enum
from typing import Generic, Protocol, TypeAlias, TypeVar

import msgspec

from informers.api.objects import Key, Object

T = TypeVar("T")


class Evidence(Enum):
    """How a deletion is known."""

    NONE = "none"
    """It is no deletion."""
    DELETED_EVENT = "deleted event"
    """The server said that the object went, or that it no longer matches the selectors."""
    ABSENT_FROM_LIST = "absent from list"
    """A later list of the same history did not show it: it was deleted while nobody watched."""
    ABSENT_IN_NEW_HISTORY = "absent in a new history"
    """A list did not show it, and nothing shows that the list goes on with the history in which the object was known.
    It may have been deleted, or lost with the server's data."""


class Notice(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """One change: `old` to `new`. A deletion has no `new`; its key is always there, its last known state mostly."""

    old: Object[T] | None
    """What the store held. For a deletion that the server told: the state in which the object went."""
    new: Object[T] | None
    key: Key
    initial: bool = False
    """Whether the handler gets it as part of the state it started from."""
    evidence: Evidence = Evidence.NONE


Handler: TypeAlias = Callable[[Notice[T]], None]
"""Called in the same step that changed the store: it must be quick, such as adding keys to a queue."""


class Audience(Protocol[T]):
    """Who is told what a reflector does to its store."""

    def deliver(self, notice: Notice[T], /) -> None:
        """Take a change that an event brought, in the step that made it."""
        ...

    def swapped(self) -> None:
        """Learn, in the same step, that a whole state has replaced the store's content."""
        ...

    def hand_out(self, notice: Notice[T]) -> None:
        """Take one of the changes that the replacement made; events wait until all are handed out."""
        ...

    def handed_out(self) -> None:
        """Learn that all of them are."""
        ...
