"""Keeps one store equal to one collection on the server; how it recovers is the table in `recovery`."""

from asyncio import Event
from datetime import datetime, timedelta
from random import Random
from typing import Generic, TypeVar

from informers.api.errors import ApiError, InformersError
from informers.cache.applying import Applier
from informers.cache.backoff import Backoff
from informers.cache.facts import Observe, Origin
from informers.cache.fetching import Fetched, Fetcher
from informers.cache.following import Follower
from informers.cache.gate import Gate
from informers.cache.histories import Continuity, Historian, replaced
from informers.cache.interrupt import Interrupt
from informers.cache.journal import Journal
from informers.cache.notices import Audience, Evidence
from informers.cache.policy import Policy
from informers.cache.quarantine import Quarantine
from informers.cache.recovery import AFRESH, Action, Happened, Pause, Phase, Trouble, decide, trouble_of
from informers.cache.revisions import is_older
from informers.cache.slices import Slices
from informers.cache.source import Source
from informers.cache.states import Backing, Checking, Listing, State, Stopped, Streaming, Synced, Watching
from informers.cache.store import Store
from informers.clock import Clock
from informers.tasks import first

T = TypeVar("T")


_STRIDE = 8  # notices between two looks at the clock


class Reflector(Generic[T]):
    """The one writer of a store.

    Invariants: it is always in one named state, and `step` leads to the next one. An error of the server, the network
    or the data leads to a state too; any other error comes out of `run`. The store changes in single steps, and each
    change is delivered in the same step; only what a whole state changed is delivered in slices, while events wait.
    """

    def __init__(
        self,
        source: Source[T],
        store: Store[T],
        quarantine: Quarantine,
        *,
        audience: Audience[T],
        origin: Origin,
        observe: Observe,
        clock: Clock,
        rng: Random,
        policy: Policy,
        careful: bool = False,
    ) -> None:
        """Write to the store, set objects aside in the quarantine, and tell the audience."""
        self._source = source
        self._store = store
        self._quarantine = quarantine
        self._audience = audience
        self._clock = clock
        self._policy = policy
        self._interrupt = Interrupt()
        self._hurried = Event()
        self._backoffs = {
            Pause.BACKOFF: Backoff(clock, rng),
            Pause.LONG: Backoff(clock, rng, base=2.0, cap=60.0, reset_after=600.0),
        }
        self.applier = Applier(store, quarantine, audience)
        self._follower = Follower(source, self.applier, self._interrupt, clock=clock, rng=rng, policy=policy)
        self.fetcher = Fetcher(source, store, self._follower, clock=clock, policy=policy)
        self.historian = Historian(source, store, quarantine, clock, careful=careful)
        self._phase = Phase.LIST
        self._streams = policy.stream
        self._afresh = False  # the last revision is of no use until the next whole state is in
        self._forced = False
        self._whole = False  # the list that runs, or ran last, is to do without pages
        self.journal = Journal(origin, observe)
        self.state: State[T] = Stopped()
        self.synced = Gate()
        """Opens once the store has had a whole state."""

    @property
    def live(self) -> bool:
        """Whether a watch is followed and was heard in time."""
        return self._follower.pulse.alive(self._clock.monotonic())

    @property
    def last_heard(self) -> datetime | None:
        """When the server last sent anything of this collection."""
        heard = self._follower.pulse.heard
        return None if heard is None else self._clock.now() - timedelta(seconds=self._clock.monotonic() - heard)

    def force_relist(self) -> None:
        """Drop the watch and what is known of revisions, and fetch the newest state now, whatever is going on."""
        self._forced = True
        self._interrupt.interrupt(_forced())

    def hurry(self) -> None:
        """Let a pause between two attempts be over now; no effect otherwise."""
        self._hurried.set()

    async def run(self) -> None:
        """Keep the store equal to the server until cancelled."""
        state: State[T] = self._first(Action.SYNC)
        try:
            while True:
                self.state = state
                state = await self.step(state)
        finally:
            self.state = Stopped()
            self.synced.shut()
            await self._follower.close()

    async def step(self, state: State[T]) -> State[T]:
        """Do what the state says, and return the state that follows from what happened."""
        if isinstance(state, Synced):  # not to be interrupted: handlers would miss what they have not yet been told
            return await self._hand_out(state)
        try:
            async with self._interrupt.block():
                if self._forced:
                    raise _forced()
                return await self._act(state)
        except InformersError as error:
            return await self._recover(error)
        finally:
            self.fetcher.done()

    async def _act(self, state: State[T]) -> State[T]:
        match state:
            case Streaming():
                self._enter(Phase.STREAM)
                return await self._judge(await self.fetcher.by_stream(afresh=self._afresh))
            case Listing():
                self._enter(Phase.LIST)
                self._whole = state.whole
                fetched = await self.fetcher.by_list(afresh=self._afresh, whole=self._whole, entered=self._enter)
                return await self._judge(fetched)
            case Checking():
                self._enter(Phase.CHECK)
                return await self._check()
            case Watching():
                return await self._watch(state)
            case Backing(seconds=seconds, then=then):
                self._hurried.clear()
                await first(self._clock.sleep(seconds), self._hurried.wait())
                return then
            case _:
                raise RuntimeError(f"expected a state with something to do, found {state}")

    def _enter(self, phase: Phase) -> None:
        self._phase = phase

    async def _judge(self, fetched: Fetched[T]) -> Synced[T]:
        """Find out whether the fetched state goes on with what the store holds, then let it become that."""
        self._enter(Phase.PROVE)
        continuity = await self.historian.judge(fetched.lineage, fetched.revision)
        if continuity is Continuity.NEW and self.synced.is_open and not self._afresh:
            raise replaced(fetched.revision)
        return self._take_over(fetched, continuity)

    def _take_over(self, fetched: Fetched[T], continuity: Continuity) -> Synced[T]:
        store, initial, afresh = self._store, not self.synced.is_open, self._afresh
        if initial or afresh or continuity is Continuity.NEW:
            store.epoch += 1
        if continuity is Continuity.SAME and all(key.name for key in fetched.errors):  # else it may be any of them
            fetched.replacement.absence = Evidence.ABSENT_FROM_LIST
        changes = store.swap(fetched.replacement, fetched.revision, initial=initial)
        self.historian.follow(fetched.lineage, continuity)
        self._quarantine.replace(fetched.errors)
        self._audience.swapped()
        self.synced.open()
        self._afresh = False
        self._backoffs[Pause.LONG].reset()
        self.journal.listed(fetched, objects=len(store), initial=initial, afresh=afresh, continuity=continuity)
        return Synced(changes, fetched.watch)

    async def _hand_out(self, state: Synced[T]) -> State[T]:
        slices = Slices(self._policy.slice)
        hand_out = self._audience.hand_out
        for number, notice in enumerate(state.changes):
            if notice is not None:
                hand_out(notice)
            if not number % _STRIDE and slices.over():
                await slices.turn()
        self._audience.handed_out()
        return Watching(state.stream)

    async def _check(self) -> State[T]:
        """Ask for the server's revision: a watch from one that is ahead of it would stay silent for ever."""
        ours = self._store.revision
        theirs = (await self._source.list_page(limit=1)).revision
        behind = is_older(theirs, ours)
        self.journal.checked(ours, theirs, behind=behind)
        if behind:
            raise Happened(Trouble.BEHIND, f"expected the server to be at {ours} or later, found it at {theirs}")
        if self.historian.compare(self._source.lineage, theirs) is Continuity.NEW:
            raise replaced(theirs)
        return Watching(doubted=True)

    async def _watch(self, state: Watching[T]) -> State[T]:
        """Follow a watch; how it ended is raised."""
        watch = state.stream
        if watch is None:
            self._enter(Phase.WATCH_START)
            watch = await self._follower.open(self._store.revision)
            if state.doubted:
                self._enter(Phase.PROVE)
            await self.historian.admit(watch.lineage, doubted=state.doubted)
        self._enter(Phase.WATCH)
        self.journal.watching(self._store.revision, watch.timeout)
        await self._follower.follow(watch)

    async def _recover(self, error: InformersError) -> State[T]:
        """Look up what to do, and do the bookkeeping."""
        phase = self._phase
        trouble = trouble_of(error, afresh=self._whole if phase is Phase.PAGE else self._afresh)
        await self._close_watch(phase, trouble, error)
        rule = decide(phase, trouble)
        self._streams &= trouble is not Trouble.UNMARKED  # whoever forgets that mark would do so every time
        self._forced &= trouble is not Trouble.FORCED
        self._afresh |= rule.action in AFRESH
        self.journal.trouble(phase, trouble, rule, error)
        then = self._first(rule.action)
        if rule.pause is Pause.NONE:
            return then
        seconds = self._backoffs[rule.pause].next()
        if isinstance(error, ApiError) and error.retry_after:
            seconds = max(seconds, min(error.retry_after, self._policy.longest_retry_after))
        self.journal.backing(phase, trouble, rule, error, seconds)
        return Backing(seconds, trouble, then)

    async def _close_watch(self, phase: Phase, trouble: Trouble, error: InformersError) -> None:
        watch = self._follower.watch
        if watch is not None:
            lived = self._clock.monotonic() - watch.opened
            await self._follower.close()
            if phase is Phase.WATCH:
                self.journal.watched(trouble, error, self._follower.brought, lived)

    def _first(self, action: Action) -> Streaming | Listing | Checking | Watching[T]:
        """Return the state that an action begins in."""
        match action:
            case Action.SYNC | Action.SYNC_AFRESH:
                return Streaming() if self._streams else Listing()
            case Action.LIST | Action.LIST_AFRESH:
                return Listing()
            case Action.LIST_WHOLE:
                return Listing(whole=True)
            case Action.CHECK:
                return Checking()
            case Action.WATCH:
                return Watching()


def _forced() -> Happened:
    return Happened(Trouble.FORCED, "a new list was asked for")
