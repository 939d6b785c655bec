"""An informer at one moment, in numbers."""

from datetime import datetime

import msgspec

from informers.cache.facts import Origin
from informers.cache.histories import History
from informers.cache.recovery import Phase, Trouble


class HandlerStatistics(msgspec.Struct, frozen=True):
    """One handler of an informer."""

    name: str
    synced: bool
    pending: int
    """Objects that were there when it came and that it has still to be told."""
    failures: int
    """How often it raised."""
    quarantined: int
    """Objects that it raised for the last time it was told of them."""


class InformerStatistics(msgspec.Struct, frozen=True):
    """An informer; counts are since its start."""

    origin: Origin
    state: str
    """What its reflector does: Streaming, Listing, Synced, Checking, Watching, Backing or Stopped."""
    synced: bool
    live: bool
    last_heard: datetime | None
    last_error: Exception | None
    failures: int
    """Attempts that have failed in a row."""
    objects: int
    bytes: int
    """What the objects measured on the wire."""
    revision: str
    """The resourceVersion that the store has reached."""
    epoch: int
    """Runs of comparable revisions so far; a state that was fetched afresh begins another."""
    history: History | None
    """The history that is followed, and since when; None before the first whole state."""
    fetched: int
    """Objects of a whole state that is being fetched, so far; 0 while none is."""
    lists: int
    """Whole states fetched, as lists or as streams."""
    watches: int
    checks: int
    """How often the server was asked for its revision before a watch resumed."""
    events: dict[str, int]
    """Events of watches, by type."""
    repeats: int
    """Events that the store had already."""
    troubles: dict[tuple[Phase, Trouble], int]
    """What happened, and while doing what."""
    quarantined: int
    """Objects set aside now."""
    quarantined_total: int
    """How often an object was set aside."""
    handlers: tuple[HandlerStatistics, ...]
