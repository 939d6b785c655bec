"""Who holds a shard's segment of the cache: what the holder writes there, and what another process may conclude."""

from datetime import datetime
from enum import Enum
from typing import Any

import msgspec

from controllers.copies import HOLDER, ORIGINAL_UID
from controllers.entries import Moment
from controllers.evidence import continuity
from informers.api.histories import Lineage
from informers.api.objects import Object
from informers.cache.histories import Continuity

RENEWED_EVERY = 5.0
"""Seconds between two renewals."""
GIVEN_UP_AFTER = 10.0
"""Seconds without a renewal after which a holder writes nothing any more."""
SILENT_AFTER = 15.0
"""Seconds without a renewal after which others may take a segment; by their own clocks, which nobody compares."""
UNPROVEN_FOR = SILENT_AFTER
"""Seconds for which who found a segment empty gives way to who had it before."""


class Holder(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the holder of a segment says of itself."""

    moment: Moment
    """How far it has followed its own store; without names where its server says nothing of that."""
    process: str
    """A name that no other process has, and no later one."""
    renewed: datetime
    released: bool = False
    """Whether it has stopped in order."""
    inherited: datetime | None = None
    """Since when the segment may hold what another store left there; None once that is adopted, or never was."""
    uid: str = ""
    """The uid of its Shard, at home. A copy of another one is what an earlier holder left, until it is written."""
    unproven: bool = False
    """Whether it found the segment empty, just now: what another had there may have been lost with the cache."""

    @property
    def text(self) -> str:
        """The annotation's value."""
        return msgspec.json.encode(self).decode()


class Taken(msgspec.Struct, frozen=True):
    """Told when a segment is held again, or that it holds more than was sure: all of it has to be compared."""

    shard: str
    inherited: datetime | None
    """Since when it may hold what another store left there; None where it does not, or that is unsure."""


class Claim(Enum):
    """What a process may do about a segment that it finds in the cache."""

    OWN = "it is held by this process"
    NEXT = "it was held by an earlier process over the same store"
    HELD = "it is, or was, held by a process over another store, which may come back to it"


class Finder(msgspec.Struct, frozen=True):
    """The process that looks."""

    process: str
    lineage: Lineage
    """What its local server says of its store."""
    revision: str
    uid: str
    """The uid of its own Shard, which tells stores apart where servers say nothing of them."""

    @property
    def moment(self) -> Moment:
        """How far it has followed its store."""
        return Moment(self.lineage.store, self.lineage.term, self.revision)


def holder_of(copy: Object[Any]) -> Holder | None:
    """Return who holds the segment of a Shard's copy; None where nobody says so in a form that makes sense."""
    try:
        return msgspec.json.decode(copy.annotations.get(HOLDER, ""), type=Holder)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None


def claim(copy: Object[Any], finder: Finder) -> Claim:
    """Say what the finder may do about the segment of that Shard's copy."""
    holder = holder_of(copy)
    if holder is not None and holder.process == finder.process:
        return Claim.OWN
    if _is_same_store(holder, copy, finder):
        return Claim.NEXT
    return Claim.HELD


def _is_same_store(holder: Holder | None, copy: Object[Any], finder: Finder) -> bool:
    """Say whether the finder's store goes on from the holder's: a copy of it that was restored does not."""
    if holder is not None and (holder.moment.store or finder.lineage.store):
        return continuity(holder.moment, finder.lineage, finder.revision) is Continuity.SAME
    return copy.annotations.get(ORIGINAL_UID) == finder.uid
