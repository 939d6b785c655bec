"""Shards and APIExports as last seen, in the form that controllers ask for."""

from datetime import datetime
from typing import Protocol

import msgspec

from controllers.evidence import Bounded, Malformed, Memory, Sighting
from controllers.kinds import Export, Shard
from controllers.names import CACHE
from controllers.publishing import SeenShard, Shards
from controllers.urls import UnusableUrl, virtual_workspace_url
from informers.api.objects import PATH, Key, Object
from informers.cache.notices import Handler, Notice
from informers.clock import Clock


def _read_shard(obj: Object[Shard]) -> SeenShard:
    return SeenShard(obj.name, obj.value.spec.virtual_workspace_url, dict(obj.labels))


class Feed(Protocol):
    """A handler's place at an informer."""

    @property
    def synced(self) -> bool:
        """Whether the handler has been told everything that was there when it came."""


class ShardMemory:
    """All Shards, collapsed by name: a shard may be listed twice, at home and elsewhere.

    Of what is stored at `home` the local server says all there is to say; its copies in the cache do not count. The
    one exception is the Shard of home itself, which is made anew whenever somebody deletes it: its copy bridges that.
    """

    def __init__(self, clock: Clock, *, home: str = "") -> None:
        """Start knowing nothing; `home` is the local shard's name."""
        self._home = home
        self._retired = Bounded()
        self._memory: Memory[Shard, SeenShard] = Memory(_read_shard, clock, self._evident)
        self._clock = clock
        self._since: datetime | None = None
        self._feed: Feed | None = None
        self._made: tuple[int, datetime | None, Shards] = (-1, None, Shards())

    def handler(self, source: str) -> Handler[Shard]:
        """Return the handler for the Shard informer of one source."""
        handle = self._memory.handler(source)

        def foreign(notice: Notice[Shard]) -> None:
            if notice.key.shard != self._home or notice.key.name == self._home:
                handle(notice)

        return foreign if source == CACHE and self._home else handle

    @property
    def malformed(self) -> list[Malformed]:
        """Shards that cannot be read now."""
        return self._memory.malformed

    @property
    def sightings(self) -> list[Sighting[SeenShard]]:
        """Every Shard by source, for whoever shows them."""
        return list(self._memory)

    def only(self, name: str) -> Shards:
        """Return that one shard, if the local server holds it: all that is known before the cache was ever seen."""
        here = (s.what for s in self._memory if s.source == "local" and s.held_since is None)
        return Shards(tuple(shard for shard in here if shard.name == name))

    def fed_by(self, feed: Feed) -> None:
        """Take what says when the cache's whole first list has been told; a list that is only stored does not count."""
        self._feed = feed

    @property
    def complete(self) -> bool:
        """Whether all shards have been seen once in this process; how long ago does not matter."""
        return self._feed is not None and self._feed.synced

    def shards(self) -> Shards:
        """Return all that is known; the same value until something changes."""
        if self._since is None and self.complete:
            self._since = self._clock.now()
        if self._made[:2] != (self._memory.version, self._since):
            self._made = (self._memory.version, self._since, self._collapsed())
        return self._made[2]

    def _collapsed(self) -> Shards:
        by_name: dict[str, Sighting[SeenShard]] = {}
        for sighting in sorted(self._memory, key=self._preference):
            by_name.setdefault(sighting.what.name, sighting)
        seen = tuple(msgspec.structs.replace(s.what, held_since=s.held_since) for _, s in sorted(by_name.items()))
        borne = {s.what.url for s in self._memory}
        return Shards(seen, frozenset(url for url in self._retired if url not in borne), self._since)

    def _preference(self, sighting: Sighting[SeenShard]) -> tuple[bool, bool, bool, Key]:
        """Order twins: one that is there; one stored at the very shard that it names; the local one; by key."""
        is_local = sighting.source != CACHE
        at_home = (self._home if is_local else sighting.key.shard) == sighting.what.name
        return (sighting.held_since is not None, not at_home, not is_local, sighting.key)

    def _evident(self, old: SeenShard, new: SeenShard | None) -> None:
        if new is None or (new.url != old.url and _is_usable(new.url)):
            self._retired.add(old.url)


def _is_usable(url: str) -> bool:
    try:
        return bool(virtual_workspace_url(url, "", ""))
    except UnusableUrl:
        return False


class SeenExport(msgspec.Struct, frozen=True):
    """An APIExport's place: its cluster's name and path, and its own name."""

    cluster: str
    path: str
    name: str

    @property
    def references(self) -> tuple[tuple[str, str], ...]:
        """The (path or cluster, name) pairs that slices may reference it by."""
        return ((self.cluster, self.name), (self.path, self.name)) if self.path else ((self.cluster, self.name),)


def _read_export(obj: Object[Export]) -> SeenExport:
    return SeenExport(obj.cluster, obj.annotations.get(PATH, ""), obj.name)


class ExportMemory:
    """All APIExports, found by what slices reference them by.

    Of what is stored at `home` the local server says all there is to say; its copies in the cache do not count.
    """

    def __init__(self, clock: Clock, *, home: str = "") -> None:
        """Start knowing nothing; `home` is the local shard's name."""
        self._home = home
        self._gone = Bounded()
        self._memory: Memory[Export, SeenExport] = Memory(_read_export, clock, self._evident)
        self._made: tuple[int, dict[tuple[str, str], list[Sighting[SeenExport]]]] = (-1, {})
        self._feed: Feed | None = None

    def fed_by(self, feed: Feed) -> None:
        """Take what says when the cache's whole first list has been told."""
        self._feed = feed

    @property
    def complete(self) -> bool:
        """Whether all exports have been seen once in this process; how long ago does not matter."""
        return self._feed is not None and self._feed.synced

    def handler(self, source: str) -> Handler[Export]:
        """Return the handler for the APIExport informer of one source."""
        handle = self._memory.handler(source)

        def foreign(notice: Notice[Export]) -> None:
            if notice.key.shard != self._home:
                handle(notice)

        return foreign if source == CACHE and self._home else handle

    @property
    def malformed(self) -> list[Malformed]:
        """APIExports that cannot be read now."""
        return self._memory.malformed

    def seen(self, reference: str, name: str) -> Sighting[SeenExport] | None:
        """Return the export as last seen: one that is there, else one that was there and has not evidently gone."""
        return min(self._find(reference, name), key=lambda s: (s.held_since is not None, s.key), default=None)

    def clusters(self, reference: str, name: str) -> set[str]:
        """Return the clusters of all exports that are, or may be, called that: those that are held among them."""
        return {sighting.what.cluster for sighting in self._find(reference, name)}

    def evidently_gone(self, reference: str, name: str) -> bool:
        """Say whether the export was deleted before our eyes."""
        return (reference, name) in self._gone and not self._find(reference, name)

    def _find(self, reference: str, name: str) -> list[Sighting[SeenExport]]:
        if self._made[0] != self._memory.version:
            found: dict[tuple[str, str], list[Sighting[SeenExport]]] = {}
            for sighting in self._memory:
                for pair in sighting.what.references:
                    found.setdefault(pair, []).append(sighting)
            self._made = (self._memory.version, found)
        return self._made[1].get((reference, name), [])

    def _evident(self, old: SeenExport, new: SeenExport | None) -> None:
        kept = new.references if new else ()
        for pair in old.references:
            if pair not in kept:
                self._gone.add(pair)
