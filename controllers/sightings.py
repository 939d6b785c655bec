"""All Shards and APIExports as last seen, in the form that controllers ask for."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import msgspec

from controllers.bounded import Bounded, BoundedMap
from controllers.entries import EXPORT, SHARD, Entry, Gone, Kind, Malformed, Name, Place, Reference, SeenExport, State
from controllers.evidence import News, There, judged
from controllers.keeping import GONE_KEPT, Changes, Kept
from controllers.publishing import SeenShard, Shards
from controllers.urls import Frame, frame_of
from informers.api.objects import Key

_NEVER = datetime.min.replace(tzinfo=UTC)


class Exports:
    """APIExports, found by what slices reference them by; those that are held or leaving among them."""

    def __init__(self) -> None:
        """Begin without any."""
        self._found: dict[Reference, dict[Place, Entry]] = {}
        self._gone: BoundedMap[Reference, str] = BoundedMap(GONE_KEPT)

    def find(self, reference: str, name: str) -> list[Entry]:
        """Return all exports that are, or may be, called that: the most certain one first."""
        return sorted(self._found.get((reference, name), {}).values(), key=_certainty)

    def seen(self, reference: str, name: str) -> Entry | None:
        """Return the export as last seen: one that is there, else one that was there and has not evidently gone."""
        return next(iter(self.find(reference, name)), None)

    def clusters(self, reference: str, name: str) -> set[str]:
        """Return the clusters of all exports that are, or may be, called that."""
        return {place.key.cluster for place in self._found.get((reference, name), ())}

    def evidently_gone(self, reference: str, name: str) -> bool:
        """Say whether the export was deleted before our eyes."""
        return (reference, name) in self._gone and (reference, name) not in self._found

    def last_uid(self, reference: str, name: str) -> str:
        """Return the uid of the export that was called that and evidently went last; "" where nobody knows it."""
        return self._gone.get((reference, name)) or ""

    def replace(self, place: Place, before: Entry | None, after: Entry | None) -> None:
        """Have one entry take the other's place."""
        for pair in references(before):
            found = self._found[pair]
            del found[place]
            if not found:
                del self._found[pair]
        if after is not None:
            for pair in references(after):
                self._found.setdefault(pair, {})[place] = after

    def note_gone(self, gone: Gone) -> None:
        """Remember what exports were referenced by that evidently are no more."""
        for pair in gone.references:
            self._gone.put(pair, gone.uid)


def references(entry: Entry | None) -> tuple[Reference, ...]:
    """Return what slices may reference an export by."""
    return entry.what.references if entry is not None and isinstance(entry.what, SeenExport) else ()


def _certainty(entry: Entry) -> tuple[bool, Key]:
    return (entry.state is not State.PRESENT, entry.key)


class Sightings:
    """What is known: as it was kept, and everything that was applied since.

    Invariant: `shards()` is the same value until a Shard changes.
    """

    def __init__(self, home: str = "", kept: Kept | None = None) -> None:
        """Begin with what was kept; `home` is the local shard's name."""
        kept = kept or Kept()
        self.home = home
        self.exports = Exports()
        self.standing = kept.standing
        self._entries: dict[Kind, dict[Place, Entry]] = {SHARD: {}, EXPORT: {}}
        self._named: dict[Name, set[Place]] = {}
        self._malformed: dict[Place, Malformed] = {}
        self._retired: Bounded[Frame] = Bounded(GONE_KEPT)
        self._made: Shards | None = None
        self.apply(Changes({entry.place: entry for entry in kept.entries}, kept.gone))

    # What is known

    @property
    def complete(self) -> bool:
        """Whether all shards and exports were known once, now or in an earlier life; how long ago does not matter."""
        return self.standing.complete_since is not None

    @property
    def local_is_doubted(self) -> bool:
        """Whether the local store is another one than what was followed, or older, and nobody has adopted it yet.

        What it does not hold may exist all the same.
        """
        return self.standing.doubted_since is not None

    def shards(self) -> Shards:
        """Return all shards."""
        if self._made is None:
            self._made = self._collapsed()
        return self._made

    def only(self, name: str) -> Shards:
        """Return that one shard, if the local server holds it: all that is known before the cache was ever seen."""
        here = (entry for entry in self.entries(SHARD) if entry.source == "local" and entry.state is State.PRESENT)
        return Shards(tuple(_shard(entry) for entry in here if entry.key.name == name))

    def entries(self, kind: Kind) -> list[Entry]:
        """Return everything that is remembered of a kind, source by source."""
        return list(self._entries[kind].values())

    def held(self) -> list[Entry]:
        """Return all that is not there, or leaving, and counts nevertheless."""
        return [one for kind in (SHARD, EXPORT) for one in self.entries(kind) if one.state is not State.PRESENT]

    def malformed(self, kind: Kind) -> list[Malformed]:
        """Return the objects of a kind that cannot be read now."""
        return [one for one in self._malformed.values() if one.place.kind == kind]

    def get(self, place: Place) -> Entry | None:
        """Return what is remembered of a place."""
        return self._entries[place.kind].get(place)

    def tells_already(self, news: News) -> bool:
        """Say whether the news change nothing."""
        if not isinstance(news, There) or news.place in self._malformed:
            return False
        entry = self.get(news.place)
        if entry is None or any(place.former for place in self.named(news.place.name)):
            return False
        return judged(entry, news, _NEVER, home=self.home) is entry

    def named(self, name: Name) -> Iterable[Place]:
        """Return the places of everything that is called that."""
        return self._named.get(name, ())

    def has_twin(self, entry: Entry) -> bool:
        """Say whether another shard has an object of the same kind, cluster and name."""
        return has_twin(entry, map(self.get, self.named(entry.place.name)), self.home)

    def __iter__(self) -> Iterator[Entry]:
        """Go through everything that is remembered."""
        for entries in self._entries.values():
            yield from entries.values()

    # What changes

    def apply(self, changes: Changes) -> None:
        """Let what was decided, and is safe, be known."""
        for gone in changes.gone:
            self._retired_by(gone)
            self.exports.note_gone(gone)
        for place, entry in changes.entries.items():
            self._replace(place, entry)
        if changes.standing is not None:
            self.standing = changes.standing
            self._made = None

    def set_aside(self, place: Place, malformed: Malformed | None) -> None:
        """Note that an object cannot be read, or that it can."""
        if malformed is None:
            self._malformed.pop(place, None)
        else:
            self._malformed[place] = malformed

    def _replace(self, place: Place, after: Entry | None) -> None:
        entries = self._entries[place.kind]
        before = entries.pop(place, None) if after is None else entries.get(place)
        if after is not None:
            entries[place] = after
            self._named.setdefault(place.name, set()).add(place)
        elif before is not None:
            self._unname(place)
        if place.kind == SHARD:
            self._made = None
        else:
            self.exports.replace(place, before, after)

    def _unname(self, place: Place) -> None:
        places = self._named[place.name]
        places.discard(place)
        if not places:
            del self._named[place.name]

    def _retired_by(self, gone: Gone) -> None:
        for url in gone.urls:
            frame = frame_of(url)
            if isinstance(frame, Frame):
                self._retired.add(frame)
                self._made = None

    # Shards, collapsed

    def _collapsed(self) -> Shards:
        by_name: dict[str, list[Entry]] = {}
        for entry in sorted(self._entries[SHARD].values(), key=self._preference):
            by_name.setdefault(entry.key.name, []).append(entry)
        seen: list[SeenShard] = []
        outdone: list[SeenShard] = []
        for _, (preferred, *others) in sorted(by_name.items()):
            seen.append(_shard(preferred))
            for entry in others:
                (outdone if self._is_outdone(entry, preferred) else seen).append(_shard(entry))
        frames = frozenset(frame for one in outdone if isinstance(frame := frame_of(one.url), Frame))
        return Shards(tuple(_once(seen)), self._retired, self.standing.complete_since, frames)

    def _is_outdone(self, entry: Entry, preferred: Entry) -> bool:
        """Say whether a Shard counts for nothing beside the preferred one of its name.

        What a shard says of itself goes before what is there of it elsewhere. What is held, or leaving, is not there to
        be compared; only the process' own Shard says at home all there is to say.
        """
        if not self._is_at_home(preferred) or preferred.state is not State.PRESENT:
            return False
        return entry.state is State.PRESENT or (preferred.source == "local" and preferred.key.name == self.home)

    def _is_at_home(self, entry: Entry) -> bool:
        """Say whether a Shard is stored at the very shard that it names."""
        return entry.place.shard(self.home) == entry.key.name

    def _preference(self, entry: Entry) -> tuple[bool, bool, bool, Key]:
        """Order twins: one that is there; one stored at the very shard that it names; the local one; by key."""
        return (entry.state is not State.PRESENT, not self._is_at_home(entry), entry.source != "local", entry.key)


def has_twin(entry: Entry, called: Iterable[Entry | None], home: str) -> bool:
    """Say whether one of those that are called the same is there, and stored at another shard than the entry."""
    shard = entry.place.shard(home)
    return any(one is not None and one.state is State.PRESENT and one.place.shard(home) != shard for one in called)


def _once(seen: Iterable[SeenShard]) -> Iterator[SeenShard]:
    """Yield one Shard for each name and URL, the first."""
    found: set[tuple[str, str]] = set()
    for one in seen:
        if (one.name, one.url) not in found:
            found.add((one.name, one.url))
            yield one


def _shard(entry: Entry) -> SeenShard:
    assert isinstance(entry.what, SeenShard), entry.place  # kinds and what is seen of them go together
    if entry.state is not State.HELD:
        return entry.what
    return msgspec.structs.replace(entry.what, held_since=entry.since, why=entry.why)
