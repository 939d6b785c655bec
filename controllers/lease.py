"""The lease of a shard's segment of the cache: one process at a time writes there, told apart by its store.

It stands in an annotation of the Shard's own copy, which nobody else writes, and every write of it is made upon the
copy that was seen last. No two clocks are compared: a holder stops writing when its renewals have not succeeded for
`GIVEN_UP_AFTER` seconds, and others wait until they have watched it do nothing for `SILENT_AFTER`, also after it has
released it. A segment that is empty is nobody's, or was lost with the cache: who finds it so takes it at once, and
gives way for a while to who had it before.
"""

from asyncio import Event
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any, TypeVar
from uuid import uuid4

from controllers.claiming import NOTHING, Claimant
from controllers.copies import HOLDER
from controllers.entries import Origin
from controllers.holding import RENEWED_EVERY, Claim, Finder, Holder, Taken, claim, holder_of
from controllers.kinds import Shard
from controllers.leasenote import LeaseNote
from controllers.legacy import Legacy
from controllers.names import ROOT
from controllers.rivals import Rivals
from controllers.tenure import Tenure
from informers.api.errors import ApiError, Conflict, DecodeError, InformersError, NotFound, TransportError
from informers.api.objects import Object
from informers.cache.informer import SharedInformer
from informers.cache.notices import Notice
from informers.cache.revisions import is_older
from informers.client.client import Client
from informers.clock import Clock, SystemClock
from informers.runtime.channels import Channel
from informers.tasks import first

T = TypeVar("T")

_SYSTEM = SystemClock()
_PAUSE = 1.0
"""Seconds between two looks at a segment that is not held, or cannot be reached."""
_RELEASED_WITHIN = 1.0
"""Seconds that a stop may take for it."""
_FAILURES = (ApiError, TransportError, DecodeError)


class Lease:
    """Takes and keeps one shard's segment.

    Invariants: of two processes over different stores, at most one has it `held`, but for the moment until a holder
    hears that the cache was emptied; and what holds for the segment is written in the cache before it is held.
    """

    def __init__(
        self,
        shard: str,
        *,
        clock: Clock = _SYSTEM,
        observe: Callable[[Any], None] = lambda fact: None,
        is_right: Callable[[Object[Any]], bool] = lambda obj: True,
        last: Origin | None = None,
    ) -> None:
        """Make the lease of a shard's segment for this process; it is not held yet.

        `observe` is told of others that have it. `is_right` says whether the Shard is as it should be; another form of
        it is not copied. `last` says of which original the copy was that an earlier process has seen last: one over the
        same store has the segment before others.
        """
        self.shard = shard
        self.taken: Channel[Taken] = Channel()
        """Told whenever it is held that was not."""
        self.recovered: Channel[None] = Channel()
        """Told when the cache answers that did not."""
        self.trouble: InformersError | None = None
        """What keeps it from being renewed now."""
        self.legacy = Legacy()
        """What the segment may hold of earlier stores."""
        self._clock = clock
        self._is_right = is_right
        self._tenure = Tenure(str(uuid4()), clock, last or Origin())
        self._note: LeaseNote | None = None
        self._claimant: Claimant | None = None
        self._rv = ""
        self._rivals = Rivals(shard, clock, observe)
        self._is_closing = False
        self._closed = Event()
        self._wake = Event()

    def feed(self, client: Client, home: SharedInformer[Shard], copies: SharedInformer[Shard]) -> None:
        """Say where the segment is, and where the Shard is at home; to be told before `run`.

        The client is one of the cluster root in the shard's segment.
        """
        self._note = note = LeaseNote(self.shard, client, home)
        self._claimant = Claimant(note, self._tenure, self._rivals, self.legacy, self._clock)
        copies.add_handler(self._hear, name="lease")

    # What is known

    @property
    def held(self) -> bool:
        """Whether this process may write into the segment at this moment."""
        return self._tenure.held

    @property
    def inherited(self) -> datetime | None:
        """Since when the segment may hold what another store left there; None if all of it is this store's own."""
        return self.legacy.since

    @property
    def holder(self) -> Holder | None:
        """What this process wrote last; None before it has ever held the segment."""
        return self._tenure.holder

    @property
    def state(self) -> str:
        """What it does, for people."""
        if self.held:
            return "held"
        if self._own() is None:
            return f"not held: there is no Shard {self.shard} at home yet"
        if self._rivals.are_watched:
            return "not held: another process is watched for whether it is still there"
        return f"not held: {self.trouble}" if self.trouble else "not held yet"

    @property
    def awaited(self) -> float | None:
        """For how many seconds another process has still to show no life; None where none is watched."""
        return self._rivals.remaining

    def annotations(self) -> dict[str, str]:
        """Return what the own Shard's copy is made with, where it has to be made."""
        return {HOLDER: self.holder.text} if self.holder is not None else {}

    def adopt(self) -> None:
        """Take what the segment holds for this store's own, from now on and with the next renewal for good."""
        self.legacy.adopt()
        self._wake.set()

    def confirm(self) -> None:
        """Say that the local store is older than what the segment holds: the precaution was right."""
        self.legacy.confirm()
        self.taken.send(Taken(self.shard, self.legacy.told))

    # Keeping it

    async def run(self) -> None:
        """Take the segment and keep it, until cancelled or released.

        Raises `ConfigurationError` when another process, over another store, is there.
        """
        while not self._is_closing:
            self._wake.clear()
            pause = await self._attempt()
            await first(self._clock.sleep(pause), self._wake.wait())
        with suppress(*_FAILURES):  # others wait a little longer then
            await self._release()
        self._closed.set()

    async def release(self) -> None:
        """Let the segment go, within a second; for when nothing is to be written any more."""
        if not self.held:
            return
        self._tenure.end()
        self._is_closing = True
        self._wake.set()
        await first(self._closed.wait(), self._clock.sleep(_RELEASED_WITHIN))

    async def _attempt(self) -> float:
        """Renew it, or look who has it, and return how many seconds to wait until the next attempt."""
        try:
            await (self._write(self._rv) if self._rv else self._look())
        except (Conflict, NotFound):
            was_known, self._rv = bool(self._rv), ""
            return 0.0 if was_known else _PAUSE  # somebody else has written: at once a look at what
        except _FAILURES as error:
            self.trouble = error
            self._rivals.lose_sight()
            return _PAUSE
        return RENEWED_EVERY if self.held else _PAUSE

    async def _look(self) -> None:
        """Look at the segment, and take it if that is right."""
        own = self._own()
        if own is None:
            return  # registration makes it
        rv = await self._at_work(self._claimant).look()
        if rv is None:
            return
        if rv != NOTHING:
            await self._write(rv)
        elif self._is_right(own):  # else registration makes it so, and nobody is to see it as it is
            await self._make(own)

    # Writing

    async def _make(self, own: Object[Shard]) -> None:
        """Make the Shard's copy, and have the segment by that."""
        began = self._clock.monotonic()
        self._tenure.begin(self._finder())
        holder = self._renewed()
        self._hold(holder, await self._at_work(self._note).make(own, holder), began)

    async def _write(self, rv: str) -> None:
        """Say upon the copy at that revision that the segment is held; raises `Conflict` when it has changed."""
        began, holder = self._clock.monotonic(), self._renewed()
        self._hold(holder, await self._at_work(self._note).write(rv, holder), began)

    def _hold(self, holder: Holder, rv: str, began: float) -> None:
        """Have the segment, as of the moment before it was asked for."""
        was_held, was_away = self.held, self.trouble is not None
        self._rv, self.trouble = rv, None
        self._tenure.written(holder)
        self._rivals.forget()
        if was_away:
            self.recovered.send(None)
        if self._is_closing:
            return
        self._tenure.extend(began)
        if not was_held and self.held:
            self.taken.send(Taken(self.shard, self.legacy.told))

    async def _release(self) -> None:
        if self._rv:
            await self._at_work(self._note).write(self._rv, self._tenure.released(self._finder(), self.legacy))

    def _renewed(self) -> Holder:
        return self._tenure.next(self._finder(), self.legacy)

    # What it sees

    def _hear(self, notice: Notice[Any]) -> None:
        """Look at once where the cache shows that somebody else has the segment, or that the cache is back."""
        key, copy = notice.key, notice.new
        if (key.shard, key.cluster, key.name) != (self.shard, ROOT, self.shard):
            return
        if copy is not None and self.held and holder_of(copy) is not None:
            found, is_late = claim(copy, self._finder()), is_older(copy.rv, self._rv)
            if found is Claim.HELD or (found is Claim.NEXT and not is_late):
                self._tenure.end()
                self._rv = self._rv if is_late else ""  # it may be an emptied cache's, which counts from anew
        if not self.held:
            self._wake.set()

    def _finder(self) -> Finder:
        return self._at_work(self._note).finder(self._tenure.process)

    def _own(self) -> Object[Shard] | None:
        """Return the Shard at home."""
        return self._note.own() if self._note is not None else None

    def _at_work(self, part: T | None) -> T:
        assert part is not None  # told before it runs
        return part
