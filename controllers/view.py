"""The shard view: the one component between informers of Shards and APIExports and the controllers that publish URLs.

It remembers each object as last seen, durably, and judges what becomes known by the rules of `controllers.evidence`.
"""

from asyncio import Event
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from controllers.beginning import Beginning
from controllers.entries import SHARD, Entry, Kind, Origin, Place, Reference, Removal, Source
from controllers.evidence import News
from controllers.feeding import Ask, Feed
from controllers.homestore import HomeStore
from controllers.inbox import Group, Inbox, carried_out
from controllers.judging import Draft
from controllers.keeping import Changes, Judged, Keeper, Unkept, saved
from controllers.names import ROOT
from controllers.publishing import Shards
from controllers.settling import Answered, Settling
from controllers.sightings import Exports, Sightings
from controllers.telling import Telling
from informers.api.objects import Key, Object
from informers.cache.gate import Gate
from informers.cache.informer import SharedInformer
from informers.cache.slices import Slices
from informers.clock import Clock, SystemClock
from informers.runtime.channels import Channel
from informers.tasks import background

_SYSTEM = SystemClock()


class View:
    """What all slices and exports are computed from.

    Invariants: nothing is known to anybody before its keeper has it, so that whatever was published can be accounted
    for after a restart at any moment; and news are judged in the order in which they came, object by object.
    """

    def __init__(
        self,
        keeper: Keeper | None = None,
        *,
        home: str = "",
        clock: Clock = _SYSTEM,
        removal_settle: float = 2.0,
        patience: float = 2.0,
        is_new_store: bool = False,
        observe: Callable[[Any], None] = lambda fact: None,
    ) -> None:
        """Begin with what the keeper has; without one nothing is kept beyond the process.

        `home` is the local shard's name. Evidence of a deletion in the cache counts after `removal_settle` seconds.
        Controllers wait for the cache for `patience` seconds, less when the first contact with it fails; they do not
        wait where all was known in an earlier life. `is_new_store`: the local store held nothing when the process
        started; what to make of that where no earlier life has kept anything of it.
        """
        self._keeper = keeper or Unkept()
        kept = self._keeper.load()
        self.sightings = Sightings(home, kept)
        """All that is known, for who reads it."""
        self.shard_changes: Channel[None] = Channel()
        """Told when what is known of Shards has changed, or of the whole: all is known at last, or the local store is
        doubted, or is not any more."""
        self.export_changes: Channel[frozenset[Reference]] = Channel()
        """Told what slices may reference exports by of which something has changed."""
        self.changes: Channel[frozenset[Kind]] = Channel()
        """Told after each group of news, malformed objects included."""
        self.home = home
        self._clock = clock
        places = (entry.place for entry in self.sightings)
        self._beginning = Beginning(places, clock, patience, is_complete=lambda: self.complete)
        self._home_store = HomeStore(is_new=is_new_store)
        self._observe = observe
        self._feeds: list[Feed] = []
        self._inbox = Inbox()
        self._slices = Slices()
        self._judging = False
        self._settling = Settling(removal_settle, clock, has_twin=self.sightings.has_twin, settled=self._settle)
        self._telling = Telling(
            removal_settle, clock, tell=self._tell, known=self.sightings.get, waited=lambda: observe(Judged(Changes()))
        )
        for entry in kept.entries:
            self._settling.note(entry.place, entry, 0)

    # What is known

    def shards(self) -> Shards:
        """Return all shards; the same value until something changes."""
        return self.sightings.shards()

    @property
    def exports(self) -> Exports:
        """All exports, by what slices reference them by."""
        return self.sightings.exports

    @property
    def ready(self) -> Gate:
        """Opens once controllers may begin."""
        return self._beginning.ready

    @property
    def complete(self) -> bool:
        """Whether all shards and exports were known once, in this life or an earlier one."""
        return self.sightings.complete

    @property
    def local_is_doubted(self) -> bool:
        """Whether the local store is new, or older than what was seen of it, and nobody has adopted it."""
        return self.sightings.local_is_doubted

    def held(self) -> list[Entry]:
        """Return everything that counts although it is not there: what is held, and what is leaving."""
        return self.sightings.held()

    def last_copy(self) -> Origin:
        """Return of which original the own Shard's copy was, as it was seen last."""
        entry = self.sightings.get(Place(SHARD, "cache", Key(self.home, ROOT, "", self.home)))
        return entry.origin if entry is not None else Origin()

    # Where it is from

    def feed(
        self,
        kind: Kind,
        source: Source,
        informer: SharedInformer[Any],
        ask: Ask,
        failed: Event,
        *,
        is_right: Callable[[Object[Any]], bool] = lambda obj: True,
    ) -> None:
        """Hear of a kind in a source from now on; all four feeds have to be there before `run` begins.

        `failed` is set once an attempt of the informer has failed. What is not right, and about to be made so, is not
        heard of.
        """
        feed = Feed(kind, source, informer, ask, failed, home=self.home, is_right=is_right)
        feed.register(self.hear)
        self._feeds.append(feed)

    def hear(self, news: News) -> None:
        """Take news in, to be judged by `run`; of several of one object the last counts."""
        self._beginning.confirm(news.place)
        if self._judging or news.place in self._inbox or not self.sightings.tells_already(news):
            self._inbox.put(news)

    # What people say

    async def forget(self, removal: Removal) -> int:
        """Let go at once, and for good, what somebody says is gone; return how many entries that were.

        Raises `StillThere` for what is there. Something with another uid is something else, and stays.
        """
        return await self._inbox.ask(lambda draft: draft.forget(removal))

    async def adopt_local(self) -> int:
        """Take the local store for what it is: let go what it lacks; return how many entries that were."""
        return await self._inbox.ask(lambda draft: draft.adopt(self._home_store.adopted(draft.standing)))

    # Judging

    async def run(self) -> None:
        """Judge news as they come, until cancelled; to run beside the Manager whose informers feed it."""
        beginning = self._beginning.jobs(self._feeds, hear=self.hear, tell=self._inbox.tell)
        async with background(self._settling.run(self._feeds), *beginning):
            self._settling.look()
            try:
                while True:
                    await self._judge(await self._inbox.take())
                    if self._slices.over():
                        await self._slices.turn()
            finally:
                self._telling.stop()

    async def _judge(self, group: Group) -> None:
        """Judge a group of news, keep what they change, and then let it be known."""
        self._judging = True
        draft = Draft(self.sightings, self._clock.now())
        for one in group.news:
            draft.take(one)
        self._stand(draft, group.told)
        answers = [carried_out(order, draft, answer) for order, answer in group.orders]
        changes = draft.changes()
        if changes:
            await saved(changes, self._keeper, self._clock, self._observe)
        for feed in group.told:
            feed.processed = True
        self._judging = False
        self._publish(draft, changes)
        for answer in answers:
            answer()

    def _publish(self, draft: Draft, changes: Changes) -> None:
        """Let the changes be known, and tell everybody whom they concern."""
        outdone, standing = self.shards().outdone, (self.complete, self.local_is_doubted)
        before = {place: self.sightings.get(place) for place in changes.entries}
        self.sightings.apply(changes)
        for place, malformed in draft.malformed.items():
            self.sightings.set_aside(place, malformed)
        for place, entry in changes.entries.items():
            self._settling.note(place, entry, draft.numbers.get(place, 0))
        self._settling.look()
        is_new = any(one.urls for one in changes.gone) or standing != (self.complete, self.local_is_doubted)
        self._telling.shards(self.shards(), is_new=is_new or self.shards().outdone != outdone)
        self._telling.changed(before, changes.entries, (pair for gone in changes.gone for pair in gone.references))
        if kinds := frozenset(place.kind for place in (*changes.entries, *draft.malformed)):
            self.changes.send(kinds)
        self._beginning.open_when_ready(self._feeds)
        self._observe(Judged(changes))

    def _tell(self, shards: bool, exports: frozenset[Reference]) -> None:
        if shards:
            self.shard_changes.send(None)
        if exports:
            self.export_changes.send(exports)

    def _stand(self, draft: Draft, told: Sequence[Feed]) -> None:
        """Note what all this says of the whole: whether everything is known, and how the local store goes on."""
        now = self._clock.now()
        processed = [feed for feed in self._feeds if feed.processed or feed in told]
        if draft.standing.complete_since is None and processed and len(processed) == len(self._feeds):
            draft.standing = msgspec.structs.replace(draft.standing, complete_since=now)
        if local := [feed for feed in processed if feed.source == "local"]:
            draft.standing = self._home_store.follow(draft.standing, local, now)

    def _settle(self, answered: Answered) -> None:
        """Judge what has been leaving for long enough."""

        def order(draft: Draft) -> int:
            number = answered.feed.number
            for entry, known in answered.leaving:
                draft.settle(entry, answered.lineage, answered.revision, is_same=known == number != 0)
            return 0

        self._inbox.order(order)

    # What is still to be done

    def busy(self) -> Iterator[tuple[str, bool]]:
        """Yield what is still to be done, and whether that takes nothing but turns of the loop."""
        if self._inbox or self._judging:
            yield "the view has news to judge", True
        if any(feed.told and not feed.processed for feed in self._feeds):
            yield "the view is to judge a first state", True
        if self._settling.pending:
            yield "the view waits for removals to settle", False
        if self._telling.pending:
            yield "the view waits whether losses stand", False
