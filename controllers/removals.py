"""Removal records are acted upon: each process lets go what a record says is gone, and acknowledges that, once.

What is there is not let go: a record waits until its object is missed. At the object's home, where it is there with the
uid that is said to be gone, the record turned out to be wrong, and is deleted; where it is not, its copy goes.
"""

from asyncio import Event
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeAlias

import msgspec

from controllers.entries import Kind, Removal
from controllers.lettinggo import LettingGo
from controllers.names import CACHE
from controllers.records import (
    REMOVALS,
    Acknowledged,
    Disproved,
    Kept,
    NotAcknowledged,
    NotFollowed,
    NotWritable,
    Record,
    said_by,
)
from controllers.view import View
from informers.api.clusters import WILDCARD
from informers.api.conditions import timestamp
from informers.api.errors import ApiError, Conflict, DecodeError, InformersError, NotFound, TransportError
from informers.api.objects import Key, Object
from informers.cache.notices import Notice
from informers.clock import Clock, SystemClock
from informers.runtime.manager import Manager
from informers.tasks import background, first

_SYSTEM = SystemClock()
_FAILURES = (ApiError, TransportError, DecodeError, NotWritable)
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
"""Seconds between attempts."""
_ASKED_AGAIN = 300.0
"""Seconds after which a cache server that does not keep removals is asked again: it may be another one by then."""


Drop: TypeAlias = Callable[[Removal], Awaitable[None]]
"""Has the copy go of what is said to be gone; raises `NotWritable` while that cannot be."""


class Removals:
    """One process' part in it."""

    def __init__(
        self,
        view: View,
        *,
        drop: Drop | None = None,
        clock: Clock = _SYSTEM,
        observe: Callable[[Any], None] = lambda fact: None,
    ) -> None:
        """Let go what this view knows; `drop` has copies go whose originals were at home."""
        self.are_kept: bool | None = None
        """Whether the cache server keeps removals; None until it has answered."""
        self._view = view
        self._letting = LettingGo(view)
        self._drop = drop
        self._clock = clock
        self._observe = observe
        self._manager: Manager | None = None
        self._open: dict[Key, Object[Record]] = {}
        self._unrecorded: list[Removal] = []
        self._wake = Event()
        self._is_working = False
        self._pause = 0.0

    def feed(self, manager: Manager) -> None:
        """Say whose servers and informers are used; the Manager need not have begun."""
        self._manager = manager
        self._letting.feed(manager)

    @property
    def waiting(self) -> list[Removal]:
        """What is said to be gone, and is not let go yet."""
        return [*map(said_by, self._open.values()), *self._unrecorded]

    def say(self, removal: Removal) -> None:
        """Act upon a removal that no cache server keeps: for as long as this process lives."""
        self._unrecorded.append(removal)
        self._wake.set()

    async def run(self) -> None:
        """Act upon every record, until cancelled; to run beside the Manager."""
        await self._view.ready.wait()
        with self._view.changes.listening(self._look_again):
            async with background(self._await_kind()):
                await self._follow()

    def busy(self) -> Iterator[tuple[str, bool]]:
        """Yield what is still to be done, and whether that takes nothing but turns of the loop."""
        if self.are_kept is None:
            yield "it is not known whether the cache server keeps removals", False
        if self._wake.is_set() or self._is_working:
            yield "removals are to be acted upon", True
        elif self._pause:
            yield "removals are to be acknowledged", False

    # Whether there are any

    async def _await_kind(self) -> None:
        """Follow the records once the cache server keeps any; others than ours do not."""
        pause = _FIRST_PAUSE
        while not await self._is_kind_served(pause):
            await self._clock.sleep(_ASKED_AGAIN if self.are_kept is False else pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        self._at_work().informer(REMOVALS, CACHE).add_handler(self._hear, name="removals")

    async def _is_kind_served(self, pause: float) -> bool:
        client = self._at_work().servers[CACHE].client(WILDCARD, WILDCARD)
        try:
            found = msgspec.json.decode(await client.raw("GET", f"/apis/{REMOVALS.api_version}"))
        except NotFound:
            found = {}
        except (*_FAILURES, msgspec.DecodeError) as error:
            self._observe(NotFollowed(error, pause))
            return False
        self.are_kept = any(one["name"] == REMOVALS.plural for one in found.get("resources", ()))
        self._observe(Kept(self.are_kept))
        return self.are_kept

    # What they say

    def _hear(self, notice: Notice[Record]) -> None:
        record = notice.new
        if record is not None and self._view.home not in record.value.status.acknowledged:
            self._open[notice.key] = record
            self._wake.set()
        else:
            self._open.pop(notice.key, None)

    def _look_again(self, changed: frozenset[Kind]) -> None:
        if self._open or self._unrecorded:
            self._wake.set()

    async def _follow(self) -> None:
        while True:
            await first(self._wake.wait(), *([self._clock.sleep(self._pause)] if self._pause else ()))
            self._is_working = True
            self._wake.clear()
            try:
                await self._work()
                self._pause = 0.0
            except _FAILURES as error:
                self._pause = min(2 * self._pause or _FIRST_PAUSE, _LONGEST_PAUSE)
                self._observe(NotAcknowledged(error, self._pause))
            finally:
                self._is_working = False

    async def _work(self) -> None:
        failures: list[InformersError] = []
        for removal in list(self._unrecorded):
            try:
                forgotten = await self._let_go(removal)
            except _FAILURES as error:
                failures.append(error)
                continue
            if forgotten is not None:
                self._unrecorded.remove(removal)
                self._observe(Acknowledged(removal, forgotten))
        for key, record in list(self._open.items()):
            try:
                is_done = await self._act_upon(record)
            except _FAILURES as error:
                failures.append(error)  # which is no reason to leave the others
                continue
            if is_done and self._open.get(key) is record:
                del self._open[key]
        if failures:
            raise failures[0]

    async def _act_upon(self, record: Object[Record]) -> bool:
        """Do what a record asks for, and say so in it; return whether that is done."""
        removal = said_by(record)
        if self._letting.is_at_home(removal):
            await self._delete(record)
            self._observe(Disproved(removal))
            return True
        if (forgotten := await self._let_go(removal)) is None:
            return False
        await self._acknowledge(record)
        self._observe(Acknowledged(removal, forgotten))
        return True

    async def _let_go(self, removal: Removal) -> int | None:
        """Forget what a removal is about, and have its copy go where this is its home; None while that cannot be."""
        forgotten = await self._letting.let_go(removal)
        if forgotten is not None and self._drop is not None and removal.shard == self._view.home:
            await self._drop(removal)
        return forgotten

    # What becomes of them

    async def _acknowledge(self, record: Object[Record]) -> None:
        """Say in the record that it was acted upon; nothing where it is another one by now."""
        said = {"acknowledged": {self._view.home: timestamp(self._clock.now())}}
        patch = {"metadata": {"uid": record.uid}, "status": said}
        client = self._at_work().servers[CACHE].client(record.key.cluster, record.key.shard)
        try:
            await client.patch(REMOVALS, record.name, patch, subresource="status")
        except (Conflict, NotFound):
            return  # its event is on the way

    async def _delete(self, record: Object[Record]) -> None:
        client = self._at_work().servers[CACHE].client(record.key.cluster, record.key.shard)
        try:
            await client.delete(REMOVALS, record.name, uid=record.uid)
        except (Conflict, NotFound):
            return  # its event is on the way

    def _at_work(self) -> Manager:
        assert self._manager is not None  # told before it runs
        return self._manager
