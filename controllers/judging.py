"""What a group of news changes, worked out beside what is known until it is safe."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from controllers.entries import SHARD, Entry, Gone, Malformed, Name, Place, Removal, SeenExport, State
from controllers.evidence import (
    ABSENT,
    Missing,
    News,
    There,
    continuity,
    displaced,
    held,
    judged,
    parted,
    returned,
)
from controllers.keeping import Changes, Standing
from controllers.sightings import Sightings, has_twin
from informers.api.errors import InformersError
from informers.api.histories import Lineage
from informers.cache.histories import Continuity


class StillThere(InformersError):
    """What was to be forgotten is there; the message says where."""


class Draft:
    """What is known, with changes that nobody sees yet."""

    def __init__(self, known: Sightings, now: datetime) -> None:
        """Begin with what is known now."""
        self._known = known
        self._now = now
        self._entries: dict[Place, Entry | None] = {}
        self._named: dict[Name, set[Place]] = {}
        self._gone: list[Gone] = []
        self.malformed: dict[Place, Malformed | None] = {}
        """Objects that cannot be read, or can again (None)."""
        self.standing = known.standing
        self.numbers: dict[Place, int] = {}
        """For what is leaving: the history of a server that says nothing of it, as its informer counts them."""

    def get(self, place: Place) -> Entry | None:
        """Return what is remembered of a place, changes included."""
        return self._entries[place] if place in self._entries else self._known.get(place)

    def changes(self) -> Changes:
        """Return everything that has changed."""
        before, after = self._known.standing, self.standing
        is_further = before.home is not None and after.home is not None and _history(before) == _history(after)
        if is_further and not self._entries and not self._gone:
            after = before  # how far the local store was followed is kept together with what was seen there
        return Changes(self._entries, tuple(self._gone), after if after != before else None)

    def take(self, news: News) -> None:
        """Take one piece of news in."""
        place = news.place
        self.malformed[place] = news if isinstance(news, Malformed) else None
        if isinstance(news, Missing):
            self.numbers[place] = news.number
        before = self.get(place)
        after = judged(before, news, self._now, home=self._known.home)
        if isinstance(news, There) and after is not None and after is not before and self._is_held_beside(before, news):
            self._put(place, after)
        else:
            self.change(place, after)
        if isinstance(news, There) and after is not None:
            self._let_formers_go(news, after)

    def change(self, place: Place, after: Entry | None) -> None:
        """Have this remembered of the place from now on, and note what has evidently gone by that."""
        before = self.get(place)
        if before is after:
            return
        self._put(place, after)
        if before is not None:
            self._note_gone(before, after)

    def _put(self, place: Place, after: Entry | None) -> None:
        self._entries[place] = after
        self._named.setdefault(place.name, set()).add(place)

    def _note_gone(self, before: Entry, after: Entry | None) -> None:
        if gone := parted(before, after, self._now):
            self._gone.append(gone)

    # What had its place taken

    def _is_held_beside(self, before: Entry | None, news: There) -> bool:
        """Hold what was there beside what has taken its place, and say so, unless that is a newer form of it.

        What comes back drives out what had taken its place.
        """
        if before is None or any(not one.is_another(news.uid, news.origin) for one in self._formers(news.place)):
            return False
        stays = displaced(before, news, self._now)
        if stays is not None:
            self._put(stays.place, stays)
        return stays is not None

    def _let_formers_go(self, news: There, after: Entry) -> None:
        for former in self._formers(news.place):
            if returned(former, news):
                self._put(former.place, None)
                self._note_gone(former, after)

    def _formers(self, place: Place) -> list[Entry]:
        """Return what was at the place before, and counts beside what is there."""
        found = (self.get(one) for one in self._all_named(place.name) if one.former)
        return [one for one in found if one is not None and (one.source, one.key) == (place.source, place.key)]

    def _all_named(self, name: Name) -> set[Place]:
        return {*self._known.named(name), *self._named.get(name, ())}

    # Removals that have to settle

    def settle(self, entry: Entry, lineage: Lineage, revision: str, *, is_same: bool) -> None:
        """Let something go that has been leaving for long enough, unless its history is lost or it has a twin.

        `is_same`: whether the history is the same, for a server that says nothing of it.
        """
        if self.get(entry.place) != entry:
            return
        found = continuity(entry.moment, lineage, revision)
        if found is Continuity.NEW or (found is Continuity.UNPROVEN and not is_same):
            self.change(entry.place, held(entry, self._now, ABSENT))
        elif not has_twin(entry, map(self.get, self._all_named(entry.place.name)), self._known.home):
            self.change(entry.place, None)

    # What people say

    def forget(self, removal: Removal) -> int:
        """Let go what somebody says is gone, and return how many entries that were; raises `StillThere`."""
        found = [entry for place in self._places(removal) if (entry := self.get(place)) is not None]
        for entry in found:
            if entry.state is State.PRESENT and removal.uid in ("", entry.uid):
                raise StillThere(
                    f"expected {removal.kind} {entry.key} to be gone, found it at {entry.source}; "
                    "what is there is deleted at its home"
                )
        meant = [entry for entry in found if removal.uid in ("", entry.uid)]
        for entry in meant:
            self.change(entry.place, None)
        if not found:
            self._gone.extend(_told_gone(removal, self._now))
        return len(meant)

    def adopt(self, standing: Standing) -> int:
        """Let go what the local store lacks, and return how much that was."""
        lost = [entry for entry in self._known.held() if entry.source == "local" and entry.state is State.HELD]
        for entry in lost:
            self.change(entry.place, None)
        self.standing = standing
        return len(lost)

    def _places(self, removal: Removal) -> Iterable[Place]:
        every = self._all_named((removal.kind, removal.cluster, removal.name))
        keys = {removal.shard, ""} if removal.shard == self._known.home else {removal.shard}
        return sorted(place for place in every if place.key.shard in keys)


def _history(standing: Standing) -> Standing:
    """Return the standing without how far the local history was followed."""
    home = standing.home and msgspec.structs.replace(standing.home, revision="")
    return msgspec.structs.replace(standing, home=home)


def _told_gone(removal: Removal, now: datetime) -> Iterable[Gone]:
    """Yield what is no more by somebody's word alone, since nothing is remembered of it."""
    if removal.kind == SHARD:
        if removal.url:
            yield Gone(removal.kind, removal.uid, now, urls=(removal.url,))
        return
    what = SeenExport(removal.cluster, removal.path, removal.name)
    yield Gone(removal.kind, removal.uid, now, references=what.references)
