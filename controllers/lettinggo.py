"""What a removal is about in one process' view, and letting that go."""

from asyncio import TaskGroup
from typing import Any

from controllers.copies import ORIGINAL_UID
from controllers.entries import EXPORT, SHARD, Entry, Place, Removal, State
from controllers.judging import StillThere
from controllers.kinds import EXPORTS
from controllers.names import CACHE
from controllers.view import View
from informers.api.objects import Key, Object
from informers.cache.informer import SharedInformer
from informers.runtime.manager import Manager


class LettingGo:
    """Finds and forgets what removals are about."""

    def __init__(self, view: View) -> None:
        """Let go what this view knows."""
        self._view = view
        self._copies: SharedInformer[Any] | None = None

    def feed(self, manager: Manager) -> None:
        """Say where copies are known from."""
        self._copies = manager.informer(EXPORTS, CACHE)

    async def let_go(self, removal: Removal) -> int | None:
        """Forget it and return how much that was; None while something of it is there.

        It says nothing of an object with another uid; nor, where it names none, of one that is there.
        """
        called, others = self._entries(removal)
        formers = [entry for entry in called if entry.place.former]
        if removal.uid and any(entry.uid == removal.uid for entry in formers):
            return await self._forget(removal)  # what has taken its place is another matter
        if any(self._is_another(entry, removal) for entry in called if entry not in formers):
            return 0
        if any(entry.state is State.PRESENT for entry in (*called, *others)):
            return None
        every = {_removal(entry, entry.place.shard(self._view.home)) for entry in (*called, *others)}
        async with TaskGroup() as group:  # all at once: the view keeps them in one go
            tasks = [group.create_task(self._forget(one)) for one in {removal, *every}]
        counts = [task.result() for task in tasks]
        return None if None in counts else sum(count for count in counts if count is not None)

    def is_at_home(self, removal: Removal) -> bool:
        """Say whether what is said to be gone is here, at its home; then its copy is of what is here."""
        if removal.shard != self._view.home or not removal.uid:
            return False
        place = Place(removal.kind, "local", Key("", removal.cluster, "", removal.name))
        entry = self._view.sightings.get(place)
        if entry is None or entry.state is not State.PRESENT:
            return False
        copy = self._copy(removal)
        return removal.uid in (entry.uid, copy.uid if copy is not None else "")

    async def _forget(self, removal: Removal) -> int | None:
        try:
            return await self._view.forget(removal)
        except StillThere:
            return None  # it came back just now

    def _entries(self, removal: Removal) -> tuple[list[Entry], list[Entry]]:
        """Return what is called that, and with a Shard all exports that it had in its segment.

        It may not be known at which shard an export was: then it is meant wherever it has that uid, or, where nobody
        knows that either, wherever it is, since a logical cluster is at one shard only.
        """
        known, home = self._view.sightings, self._view.home
        places = known.named((removal.kind, removal.cluster, removal.name))
        found = [entry for place in places if (entry := known.get(place)) is not None]
        called = [entry for entry in found if entry.place.shard(home) == removal.shard]
        if removal.kind == EXPORT and not (called and removal.uid):
            called = [entry for entry in found if entry in called or removal.uid in ("", entry.uid)]
        if removal.kind != SHARD or removal.name != removal.shard:
            return called, []
        return called, [entry for entry in known.entries(EXPORT) if entry.place.shard(home) == removal.shard]

    def _is_another(self, entry: Entry, removal: Removal) -> bool:
        if not removal.uid:
            return entry.state is State.PRESENT
        return entry.uid != removal.uid and not self._is_original(entry, removal)

    def _is_original(self, entry: Entry, removal: Removal) -> bool:
        """Say whether a removal that was said of a copy is about this original of it; their uids may differ."""
        copy = self._copy(removal) if entry.source == "local" else None
        return copy is not None and copy.uid == removal.uid and copy.annotations.get(ORIGINAL_UID) == entry.uid

    def _copy(self, removal: Removal) -> Object[Any] | None:
        """Return the copy of an export of the local shard."""
        if removal.kind != EXPORT or self._copies is None:
            return None
        return self._copies.store.get(Key(self._view.home, removal.cluster, "", removal.name))


def _removal(entry: Entry, shard: str) -> Removal:
    return Removal(entry.place.kind, shard, entry.key.cluster, entry.key.name, entry.uid)
