"""Where the shard view is kept between two lives of a process."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol

import msgspec

from controllers.entries import Entry, Gone, Moment, Place
from informers.api.errors import InformersError
from informers.clock import Clock

GONE_KEPT = 100_000
"""How much of what has gone is remembered, the latest. To forget one means that a URL stays which could go."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
"""Seconds between two attempts to keep something."""


class Standing(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a view knows besides single objects."""

    complete_since: datetime | None = None
    """When all shards and exports were known for the first time."""
    home: Moment | None = None
    """How far the local store was followed: the last moment of a history that nobody doubts."""
    doubted_since: datetime | None = None
    """When the local store turned out to be another one, or older than what was seen of it; None once adopted."""


class Kept(msgspec.Struct, frozen=True):
    """A whole view."""

    entries: tuple[Entry, ...] = ()
    gone: tuple[Gone, ...] = ()
    """In the order in which it went."""
    standing: Standing = Standing()


class Changes(msgspec.Struct, frozen=True):
    """What one group of news changes: all of it is kept, or nothing."""

    entries: Mapping[Place, Entry | None] = {}
    """None has the entry go."""
    gone: tuple[Gone, ...] = ()
    standing: Standing | None = None
    """The new one, None where it did not change."""

    def __bool__(self) -> bool:
        return bool(self.entries or self.gone or self.standing)


class CannotKeep(InformersError):
    """The view could not be written; the message says where and why. Trying again later may help."""


class NotKept(msgspec.Struct, frozen=True):
    """Told when news could not be kept, and therefore are not known to anybody yet."""

    error: CannotKeep
    retry_in: float


class Judged(msgspec.Struct, frozen=True):
    """Told when a group of news is known, or has turned out to change nothing."""

    changes: Changes


class Keeper(Protocol):
    """Keeps one view."""

    def load(self) -> Kept:
        """Return what was kept last; asked for once, before anything is saved."""
        ...

    async def save(self, changes: Changes) -> None:
        """Keep the changes, all or none; returns once they are safe. Raises `CannotKeep`.

        A save that was cancelled may have been done, or not.
        """
        ...


async def saved(changes: Changes, keeper: Keeper, clock: Clock, observe: Callable[[Any], None]) -> None:
    """Have the changes kept, however long that takes; until then nothing new is known, and nothing is lost."""
    pause = _FIRST_PAUSE
    while True:
        try:
            return await keeper.save(changes)
        except CannotKeep as error:
            observe(NotKept(error, pause))
        await clock.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


class Unkept:
    """Keeps nothing beyond the process: for `--in-memory`, and for tests."""

    def __init__(self, kept: Kept | None = None) -> None:
        """Begin with a view that is known already."""
        self._kept = kept or Kept()

    def load(self) -> Kept:
        """Return what it began with."""
        return self._kept

    async def save(self, changes: Changes) -> None:
        """Return at once."""
