"""The lease of a shard's segment of the cache: one process at a time writes there, told apart by its store.

It stands in an annotation of the Shard's own copy, which nobody else writes, and every write of it is made upon the
copy that was seen last. No two clocks are compared: a holder stops writing when its renewals have not succeeded for
`GIVEN_UP_AFTER` seconds, and others wait until they have watched it do nothing for `SILENT_AFTER`.
"""

from asyncio import Event
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any
from uuid import uuid4

import msgspec

from controllers.copies import HOLDER, wanted_copy
from controllers.holding import (
    GIVEN_UP_AFTER,
    RENEWED_EVERY,
    SILENT_AFTER,
    Claim,
    Finder,
    Holder,
    Watched,
    claim,
    holder_of,
)
from controllers.kinds import SHARDS, Shard
from controllers.names import ROOT
from informers.api.errors import (
    ApiError,
    ConfigurationError,
    Conflict,
    DecodeError,
    InformersError,
    NotFound,
    TransportError,
)
from informers.api.objects import Object
from informers.cache.informer import SharedInformer
from informers.cache.notices import Notice
from informers.cache.revisions import is_older
from informers.client.client import Client
from informers.clock import Clock, SystemClock
from informers.runtime.channels import Channel
from informers.tasks import first

_SYSTEM = SystemClock()
_PAUSE = 1.0
"""Seconds between two looks at a segment that is not held, or cannot be reached."""
_RELEASED_WITHIN = 1.0
"""Seconds that a stop may take for it."""
_FAILURES = (ApiError, TransportError, DecodeError)


class Taken(msgspec.Struct, frozen=True):
    """Told when a segment is held again, or that it holds more than was sure: all of it has to be compared."""

    shard: str
    inherited: datetime | None
    """As `Lease.inherited` says; None while that is unsure."""


class Lease:
    """Takes and keeps one shard's segment.

    Invariants: of two processes over different stores, at most one has it `held`; and what holds for the segment is
    written in the cache before it is held.
    """

    def __init__(
        self,
        shard: str,
        *,
        clock: Clock = _SYSTEM,
        process: str = "",
        is_right: Callable[[Object[Any]], bool] = lambda obj: True,
    ) -> None:
        """Make the lease of a shard's segment for this process; it is not held yet.

        `is_right` says whether the Shard is as it should be; another form of it is not copied.
        """
        self.shard = shard
        self.taken: Channel[Taken] = Channel()
        """Told whenever it is held that was not."""
        self.recovered: Channel[None] = Channel()
        """Told when the cache answers that did not."""
        self.trouble: InformersError | None = None
        """What keeps it from being renewed now."""
        self._process = process or str(uuid4())
        self._clock = clock
        self._is_right = is_right
        self._client: Client | None = None
        self._home: SharedInformer[Shard] | None = None
        self._holder: Holder | None = None
        self._until = clock.monotonic()
        self._rv = ""
        self._inherited: datetime | None = None
        self.is_unsure = False
        """Whether `inherited` is said as a precaution: the copies show whether the local store is older than they."""
        self.ended: int | None = None
        """The revision at which the local store's history left that of the earlier holder; None where nobody knows."""
        self._watched: Watched | None = None
        self._is_closing = False
        self._closed = Event()
        self._wake = Event()

    def feed(self, client: Client, home: SharedInformer[Shard], copies: SharedInformer[Shard]) -> None:
        """Say where the segment is, and where the Shard is at home; to be told before `run`.

        The client is one of the cluster root in the shard's segment.
        """
        self._client = client
        self._home = home
        copies.add_handler(self._hear, name="lease")

    # What is known

    @property
    def held(self) -> bool:
        """Whether this process may write into the segment at this moment."""
        return self._clock.monotonic() < self._until

    @property
    def inherited(self) -> datetime | None:
        """Since when the segment may hold what another store left there; None if all of it is this store's own."""
        return self._inherited

    @property
    def holder(self) -> Holder | None:
        """What this process wrote last; None before it has ever held the segment."""
        return self._holder

    @property
    def state(self) -> str:
        """What it does, for people."""
        if self.held:
            return "held"
        if self._own() is None:
            return f"not held: there is no Shard {self.shard} at home yet"
        if self._watched is not None:
            return "not held: another process is watched for whether it is still there"
        return f"not held: {self.trouble}" if self.trouble else "not held yet"

    def annotations(self) -> dict[str, str]:
        """Return what the own Shard's copy is made with, where it has to be made."""
        return {HOLDER: self._holder.text} if self._holder is not None else {}

    def adopt(self) -> None:
        """Take what the segment holds for this store's own, from now on and with the next renewal for good."""
        self._inherited, self.is_unsure = None, False
        self._wake.set()

    def confirm(self) -> None:
        """Say that the local store is older than what the segment holds: the precaution was right."""
        self.is_unsure = False
        self.taken.send(Taken(self.shard, self._inherited))

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
        self._until = self._clock.monotonic()
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
            if self._watched is not None:
                self._watched.lose_sight()
            return _PAUSE
        return RENEWED_EVERY if self.held else _PAUSE

    async def _look(self) -> None:
        """Look at the segment, and take it if that is right."""
        own = self._own()
        if own is None:
            return  # registration makes it
        copy = await self._find()
        if copy is None:
            await self._look_at_nothing(own)
            return
        holder, found = holder_of(copy), claim(copy, self._finder())
        if found is Claim.HELD and not self._is_silent(copy):
            return
        if found in (Claim.HELD, Claim.FREE):
            self._inherited, self.is_unsure = self._clock.now(), False
        elif found is Claim.NEXT and (holder is not None or self._holder is None):
            self._follow(holder)
        await self._write(copy.rv)

    def _follow(self, holder: Holder | None) -> None:
        """Go on from an earlier process over the same store; or over a copy of it that is older than the segment."""
        lineage, inherited = self._at_home().lineage, holder.inherited if holder is not None else None
        begun = lineage.terms[-1][1] if lineage.terms else None
        self.ended = begun if holder is None else lineage.end_of(holder.moment.term)
        is_same_opening = holder is not None and holder.moment.term == lineage.term
        self.is_unsure = inherited is None and bool(lineage.term) and not is_same_opening
        self._inherited = self._clock.now() if self.is_unsure else inherited

    async def _look_at_nothing(self, own: Object[Shard]) -> None:
        """Take a segment that nobody has, unless somebody had it until now, who may come back to it first."""
        if self._watched is not None and self._watched.silence(self._clock.monotonic()) < SILENT_AFTER:
            return
        if not self._is_right(own):
            return  # registration makes it so, and nobody is to see it as it is
        began, holder = self._clock.monotonic(), self._renewed()
        wanted = wanted_copy(own, self.shard)
        wanted["metadata"]["annotations"][HOLDER] = holder.text
        created = await self._cache().create(SHARDS, wanted)
        self._hold(holder, created.rv, began)

    def _is_silent(self, copy: Object[Shard]) -> bool:
        """Say whether another's segment was watched for long enough; raises when its holder turns out to be there."""
        now = self._clock.monotonic()
        if self._watched is None:
            self._watched = Watched(holder_of(copy), now)
        elif self._watched.shows_life(holder_of(copy)):
            where = copy.at("spec", "baseURL", default="an unknown URL")
            raise ConfigurationError(
                f"expected to be the only shard named {self.shard!r}, found another one at {where} in the cache; "
                "give this one a name of its own with --shard-name"
            )
        return self._watched.silence(now) >= SILENT_AFTER

    # Writing

    async def _write(self, rv: str) -> None:
        """Say upon the copy at that revision that the segment is held; raises `Conflict` when it has changed."""
        began, holder = self._clock.monotonic(), self._renewed()
        written = await self._cache().patch(SHARDS, self.shard, _change(rv, holder))
        self._hold(holder, written.rv, began)

    def _hold(self, holder: Holder, rv: str, began: float) -> None:
        """Have the segment, as of the moment before it was asked for."""
        was_held, was_away = self.held, self.trouble is not None
        self._holder, self._rv = holder, rv
        self._watched = self.trouble = None
        if was_away:
            self.recovered.send(None)
        if self._is_closing:
            return
        self._until = began + GIVEN_UP_AFTER
        if not was_held and self.held:
            self.taken.send(Taken(self.shard, None if self.is_unsure else self._inherited))

    async def _release(self) -> None:
        if self._rv:
            released = msgspec.structs.replace(self._renewed(), released=True)
            await self._cache().patch(SHARDS, self.shard, _change(self._rv, released))

    def _renewed(self) -> Holder:
        return Holder(self._finder().moment, self._process, self._clock.now(), inherited=self._inherited)

    # What it sees

    def _hear(self, notice: Notice[Any]) -> None:
        """Look at once where the cache shows that somebody else has the segment, or that the cache is back."""
        key, copy = notice.key, notice.new
        if (key.shard, key.cluster, key.name) != (self.shard, ROOT, self.shard):
            return
        if not self.held:
            self._wake.set()
        elif copy is not None and not is_older(copy.rv, self._rv):
            holder = holder_of(copy)
            if holder is not None and holder.process != self._process:
                self._until, self._rv = self._clock.monotonic(), ""
                self._wake.set()

    async def _find(self) -> Object[Shard] | None:
        try:
            return await self._cache().get(SHARDS, self.shard)
        except NotFound:
            return None

    def _own(self) -> Object[Shard] | None:
        """Return the Shard at home."""
        return self._at_home().lister.cluster(ROOT).find(self.shard)

    def _finder(self) -> Finder:
        home, own = self._at_home(), self._own()
        return Finder(self._process, home.lineage, home.store.revision, own.uid if own is not None else "")

    def _at_home(self) -> SharedInformer[Shard]:
        assert self._home is not None  # told before it runs
        return self._home

    def _cache(self) -> Client:
        assert self._client is not None  # told before it runs
        return self._client


def _change(rv: str, holder: Holder) -> dict[str, Any]:
    return {"metadata": {"resourceVersion": rv, "annotations": {HOLDER: holder.text}}}
