"""What a process may do about its shard's segment, by one look at it: wait, write upon what is there, or make it."""

from controllers.holding import Claim, Holder, claim, holder_of
from controllers.kinds import Shard
from controllers.leasenote import LeaseNote
from controllers.legacy import Legacy
from controllers.rivals import Rivals
from controllers.tenure import Tenure
from informers.api.objects import Object
from informers.clock import Clock

NOTHING = ""
"""The revision of a copy that is not there."""


class Claimant:
    """Looks on behalf of one process."""

    def __init__(self, note: LeaseNote, tenure: Tenure, rivals: Rivals, legacy: Legacy, clock: Clock) -> None:
        """Look at what the note stands in; what is found is told to the others."""
        self._note = note
        self._tenure = tenure
        self._rivals = rivals
        self._legacy = legacy
        self._clock = clock

    async def look(self) -> str | None:
        """Return the revision of the copy upon which the lease may be written, `NOTHING` to make it, None to wait.

        Raises `ConfigurationError` when another process, over another store, has the segment to keep.
        """
        copy = await self._note.find()
        if copy is None:
            return None if self._rivals.may_return() else NOTHING
        holder, finder = holder_of(copy), self._note.finder(self._tenure.process)
        found = claim(copy, finder)
        if found is Claim.HELD and not self._may_take(copy, holder):
            return None
        if found is Claim.NEXT and (holder is not None or self._tenure.holder is None):
            self._legacy.follow(holder, finder.lineage, self._clock.now())
        return copy.rv

    def _may_take(self, copy: Object[Shard], holder: Holder | None) -> bool:
        """Say whether another's segment may be taken, which until then is not ours.

        One that was lost with the cache, and taken by another since, is taken back, with nothing of earlier stores.
        """
        self._tenure.end()
        if holder is not None and holder.unproven and self._tenure.is_by_right(self._note.finder(self._tenure.process)):
            return True
        if not self._rivals.is_silent(copy):
            return False
        self._legacy.take_over(self._clock.now())
        return True
