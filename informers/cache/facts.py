"""What a reflector and an informer tell whoever observes them; they never log."""

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from informers.api.objects import Key
from informers.api.resources import Collection
from informers.cache.histories import Continuity
from informers.cache.recovery import Action, Phase, Trouble


class Origin(msgspec.Struct, frozen=True):
    """Whose facts they are: one collection on one server."""

    server: str
    collection: Collection[Any]

    def __str__(self) -> str:
        return f"{self.server}:{self.collection}" if self.server else str(self.collection)


class Listed(msgspec.Struct, frozen=True):
    """The store was made equal to the whole state on the server."""

    origin: Origin
    revision: str
    objects: int
    quarantined: int
    """Objects of the state that could not be read or indexed."""
    pages: int
    """How many answers it took; 0 for a streamed state."""
    took: float
    """Seconds from the request until the store had it."""
    initial: bool
    """Whether it is the first one: the informer has synced now."""
    afresh: bool
    """Whether what was known before counted for nothing."""
    continuity: Continuity = Continuity.NEW
    """Whether it goes on with the history that was known; the first one begins a history."""


class WatchStarted(msgspec.Struct, frozen=True):
    """The server accepted a watch."""

    origin: Origin
    revision: str
    timeout: float
    """Seconds after which the server is to end it."""


class WatchEnded(msgspec.Struct, frozen=True):
    """A watch that had been accepted has ended."""

    origin: Origin
    reason: Trouble
    error: Exception
    events: int
    lived: float
    """Seconds since it was accepted."""


class Checked(msgspec.Struct, frozen=True):
    """The server was asked for its revision before a watch resumed."""

    origin: Origin
    ours: str
    theirs: str
    behind: bool


class FellBack(msgspec.Struct, frozen=True):
    """The state could not be had as a stream, and is listed."""

    origin: Origin
    reason: Trouble
    error: Exception


class Relisted(msgspec.Struct, frozen=True):
    """The whole state has to be fetched again; `Listed` follows once it is there."""

    origin: Origin
    phase: Phase
    reason: Trouble
    error: Exception


class Backed(msgspec.Struct, frozen=True):
    """An attempt failed; the next one comes after a pause."""

    origin: Origin
    phase: Phase
    reason: Trouble
    error: Exception
    seconds: float
    then: Action
    failures: int
    """How many attempts have failed in a row."""


class Quarantined(msgspec.Struct, frozen=True):
    """An object was set aside: what it is now cannot be read, transformed, indexed or handled."""

    origin: Origin
    key: Key
    error: str
    handler: str = ""
    """The handler that raised; "" where nobody gets to see the object."""


class Released(msgspec.Struct, frozen=True):
    """An object that was set aside is healthy again, or gone."""

    origin: Origin
    key: Key
    handler: str = ""


Fact: TypeAlias = Listed | WatchStarted | WatchEnded | Checked | FellBack | Relisted | Backed | Quarantined | Released
Observe: TypeAlias = Callable[[Fact], None]


def ignore(_: Fact) -> None:
    """Observe nothing."""
