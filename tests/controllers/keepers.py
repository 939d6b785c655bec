"""Keepers of views for tests: what a file would have, without one."""

import msgspec

from controllers.entries import Entry, Gone, Place
from controllers.keeping import Changes, Kept, Standing


class MemoryKeeper:
    """Keeps a view as long as it lives itself, in the form in which a file has it."""

    def __init__(self) -> None:
        self.saves = 0
        self._entries: dict[Place, bytes] = {}
        self._gone: list[bytes] = []
        self._standing = msgspec.json.encode(Standing())

    def load(self) -> Kept:
        entries = tuple(msgspec.json.decode(one, type=Entry) for one in self._entries.values())
        gone = tuple(msgspec.json.decode(one, type=Gone) for one in self._gone)
        return Kept(entries, gone, msgspec.json.decode(self._standing, type=Standing))

    async def save(self, changes: Changes) -> None:
        self.saves += 1
        for place, entry in changes.entries.items():
            if entry is None:
                self._entries.pop(place, None)
            else:
                self._entries[place] = msgspec.json.encode(entry)
        self._gone += map(msgspec.json.encode, changes.gone)
        if changes.standing is not None:
            self._standing = msgspec.json.encode(changes.standing)
