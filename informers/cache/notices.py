"""What handlers of an informer are told: one change of one object."""

from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

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
    """A later list did not show it. It may have been deleted, or lost with the server's history."""


class Notice(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """One change: `old` to `new`. A deletion has no `new`; its key is always there, its last known state mostly."""

    old: Object[T] | None
    """What the store held. For a deletion that the server told: the state in which the object went."""
    new: Object[T] | None
    key: Key
    initial: bool = False
    """Whether the handler gets it as part of the state it started from."""
    evidence: Evidence = Evidence.NONE


Handler = Callable[[Notice[T]], None]
"""Called in the same step that changed the store: it must be quick, such as adding keys to a queue."""
