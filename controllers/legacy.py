"""What a shard's segment may hold of earlier stores: copies that the local store cannot account for."""

from datetime import datetime

from controllers.holding import Holder
from informers.api.histories import Lineage


class Legacy:
    """What the process that has the segment knows of those that had it before."""

    def __init__(self) -> None:
        """Begin with a segment that holds nothing of anybody."""
        self.since: datetime | None = None
        """Since when the segment may hold what another store left there; None if all of it is this store's own."""
        self.is_unsure = False
        """Whether that is said as a precaution: the copies show whether the local store is older than they."""
        self.ended: int | None = None
        """The revision at which the local store's history left that of the earlier holder; None where nobody knows."""

    @property
    def told(self) -> datetime | None:
        """Since when, for people: None while it is unsure."""
        return None if self.is_unsure else self.since

    def take_over(self, now: datetime) -> None:
        """Have the segment from a process over another store."""
        self.since, self.is_unsure = now, False

    def follow(self, holder: Holder | None, lineage: Lineage, now: datetime) -> None:
        """Go on from an earlier process over the same store; or over a copy of it that is older than the segment."""
        inherited = holder.inherited if holder is not None else None
        begun = lineage.terms[-1][1] if lineage.terms else None
        self.ended = begun if holder is None else lineage.end_of(holder.moment.term)
        is_same_opening = holder is not None and holder.moment.term == lineage.term
        self.is_unsure = inherited is None and bool(lineage.term) and not is_same_opening
        self.since = now if self.is_unsure else inherited

    def adopt(self) -> None:
        """Take what the segment holds for this store's own."""
        self.since, self.is_unsure = None, False

    def confirm(self) -> None:
        """Say that the local store is older than what the segment holds: the precaution was right."""
        self.is_unsure = False
