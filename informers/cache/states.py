"""The states of a reflector: each says what is to be done next."""

from contextlib import AsyncExitStack
from typing import Generic, TypeAlias, TypeVar

import msgspec

from informers.api.decoding import WatchEvent
from informers.api.histories import Lineage
from informers.cache.recovery import Trouble
from informers.cache.replacement import Changes
from informers.cache.source import Batches

T = TypeVar("T")


class OpenWatch(msgspec.Struct, Generic[T]):
    """A watch that the server has accepted."""

    batches: Batches[T]
    closing: AsyncExitStack
    """Gives the connection back."""
    opened: float
    """Monotonic seconds."""
    timeout: float
    lineage: Lineage
    """What the server said of the store that is watched."""
    pending: list[WatchEvent[T]] = []
    """Events that arrived behind the end of the streamed state."""


class Streaming(msgspec.Struct, frozen=True):
    """Ask for the state as a stream of events; the watch follows in the same stream."""


class Listing(msgspec.Struct, frozen=True):
    """Ask for the state as a list."""

    whole: bool = False
    """Whether to ask for all of it in one page, since further pages had expired."""


class Synced(msgspec.Struct, Generic[T], frozen=True):
    """The store has just been made equal to the server; handlers are to be told what changed."""

    changes: Changes[T]
    stream: OpenWatch[T] | None = None
    """The watch that goes on from there, if there is one already."""


class Checking(msgspec.Struct, frozen=True):
    """Find out whether the server still has our history."""


class Watching(msgspec.Struct, Generic[T], frozen=True):
    """Apply events from the store's revision on; opens a watch unless there is one."""

    stream: OpenWatch[T] | None = None
    doubted: bool = False
    """Whether the server has first to show that it still has our history."""


class Backing(msgspec.Struct, Generic[T], frozen=True):
    """Wait, then go on with `then`."""

    seconds: float
    reason: Trouble
    then: Streaming | Listing | Checking | Watching[T]


class Stopped(msgspec.Struct, frozen=True):
    """It does not run: not yet, or no more."""


State: TypeAlias = Streaming | Listing | Synced[T] | Checking | Watching[T] | Backing[T] | Stopped
