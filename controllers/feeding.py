"""How news of Shards and APIExports comes from an informer, for whoever judges it."""

from asyncio import Event
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import msgspec

from controllers.bounded import Bounded
from controllers.copies import HOLDER, ORIGINAL_RV, ORIGINAL_UID
from controllers.entries import EXPORT, SHARD, Kind, Malformed, Moment, Origin, Place, Seen, SeenExport, Source
from controllers.evidence import Missing, News, There
from controllers.holding import holder_of
from controllers.keeping import GONE_KEPT
from controllers.publishing import SeenShard
from informers.api.histories import UNTOLD, Lineage
from informers.api.objects import PATH, Key, Object
from informers.cache.handlers import Registration
from informers.cache.informer import SharedInformer
from informers.cache.notices import Evidence, Notice
from informers.cache.source import BoundSource, Readable

Ask: TypeAlias = Callable[[], Awaitable[tuple[Lineage, str]]]
"""Makes sure that a collection is served: asks the server now for its history and revision. Raises `InformersError`."""


class Feed:
    """One informer as the view hears of it.

    `processed` says that all its first state showed has been judged, and what it did not show.
    """

    def __init__(
        self,
        kind: Kind,
        source: Source,
        informer: SharedInformer[Any],
        ask: Ask,
        failed: Event,
        *,
        home: str,
        is_right: Callable[[Object[Any]], bool],
    ) -> None:
        """Hear of one kind in one source; `failed` is set once an attempt to reach the server has failed.

        Of an object that is not right nothing is told: it is about to be made so.
        """
        self.kind = kind
        self.source = source
        self.informer = informer
        self.ask = ask
        self.failed = failed
        self.processed = False
        self.registration: Registration[Any] | None = None
        self._home = home
        self._is_right = is_right
        self._seen: Bounded[tuple[int, Key]] = Bounded(GONE_KEPT)
        """What was seen in which history, for a server that says nothing of it."""

    def register(self, hear: Callable[[News], None]) -> None:
        """Have news told from now on: first of all that is there, then of each change in the step that made it."""

        def handle(notice: Notice[Any]) -> None:
            if counts(self.place_of(notice), self._home) and (notice.new is None or self._is_right(notice.new)):
                hear(self._news(notice))

        self.registration = self.informer.add_handler(handle, name="view")

    @property
    def told(self) -> bool:
        """Whether everything of the first state has been told."""
        return self.registration is not None and self.registration.synced

    def place_of(self, notice: Notice[Any]) -> Place:
        """Return the place that a notice is of."""
        return Place(self.kind, self.source, notice.key)

    def missing(self, place: Place) -> Missing | None:
        """Return the news that the first state does not show something that was known; None if it may be there."""
        if place.key in self.informer.quarantined:
            return None
        return self._missing(place, Evidence.ABSENT_IN_NEW_HISTORY)

    @property
    def lineage(self) -> Lineage:
        """What the server says of the history that the informer follows."""
        return self.informer.lineage

    @property
    def moment(self) -> Moment:
        """How far the informer has followed which history."""
        return Moment(self.lineage.store, self.lineage.term, self.informer.store.revision)

    @property
    def number(self) -> int:
        """Which history of its server the informer follows, in this process; for servers that say nothing of it."""
        history = self.informer.history
        return history.number if history else 0

    def _news(self, notice: Notice[Any]) -> News:
        place, obj = self.place_of(notice), notice.new
        if obj is None:
            return self._missing(place, notice.evidence)
        try:
            what = read(self.kind, obj)
        except (msgspec.ValidationError, TypeError, ValueError) as error:
            return Malformed(place, str(error))
        lineage, origin = self.lineage, origin_of(obj) if self.source == "cache" else Origin()
        moment = Moment(lineage.store, lineage.term, obj.rv)
        return There(place, obj.uid, what, moment, origin, lineage, not lineage.store and self._was_seen(place.key))

    def _was_seen(self, key: Key) -> bool:
        """Say whether something was there before in the same history, and note that it is now."""
        seen = (self.number, key)
        was_seen = seen in self._seen
        self._seen.add(seen)
        return was_seen

    def _missing(self, place: Place, evidence: Evidence) -> Missing:
        is_sure = all(key.name for key in self.informer.quarantined)  # else it may be one of those without a name
        lineage = self.lineage if is_sure else UNTOLD
        return Missing(place, evidence, lineage, self.informer.store.revision, self.number)


def asking(client: Readable, informer: SharedInformer[Any]) -> Ask:
    """Return what asks a server about an informer's collection, with a list of one object."""

    async def ask() -> tuple[Lineage, str]:
        source = BoundSource(client, informer.origin.collection)
        page = await source.list_page(limit=1)
        return source.lineage, page.revision

    return ask


def counts(place: Place, home: str) -> bool:
    """Say whether news of a place count, `home` being the local shard.

    Of what is stored there the local server says all there is to say. The one copy in the cache that counts is that of
    the process' own Shard, for the time until it is there.
    """
    is_own_shard = place.kind == SHARD and place.key.name == home
    return place.source == "local" or not home or place.key.shard != home or is_own_shard


def origin_of(copy: Object[Any]) -> Origin:
    """Return which form of its original a copy shows."""
    notes = copy.annotations
    uid, holder = notes.get(ORIGINAL_UID, ""), holder_of(copy) if HOLDER in notes else None
    store = holder.moment.store if holder is not None and holder.uid == uid else ""
    return Origin(uid, notes.get(ORIGINAL_RV, ""), store)


def read(kind: Kind, obj: Object[Any]) -> Seen:
    """Return what counts of an object; raises `ValidationError` and others for one that does not read."""
    if kind == EXPORT:
        return SeenExport(obj.cluster, obj.annotations.get(PATH, ""), obj.name)
    return SeenShard(obj.name, obj.value.spec.virtual_workspace_url, dict(obj.labels))
