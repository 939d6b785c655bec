"""The full watch history of every slice, taken at its home server itself, past all faults of the network."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import aiohttp

from tests.chaos.api import JSON, Refused
from tests.chaos.processes import Process
from tests.chaos.truth import Place

SLICES = "/clusters/*/apis/apis.kcp.io/v1alpha1/apiexportendpointslices"
_AGAIN = 0.02


class Seen(NamedTuple):
    """A slice after one change. What is gone publishes nothing, and was not emptied."""

    at: float
    """Monotonic seconds."""
    how: str
    """ADDED, MODIFIED, DELETED; LISTED where history did not reach back; BROKEN where the store was replaced."""
    revision: str
    urls: frozenset[str] = frozenset()

    @property
    def begins(self) -> bool:
        """Whether nothing before it counts."""
        return self.how in ("ADDED", "BROKEN", "DELETED")


class Recorder:
    """Follows the slices of one shard for as long as `run` runs.

    Invariant: over a restart it goes on from the last revision, so that what was written at the very end is seen as
    well; only a store that was replaced begins a new history, and whoever replaces it says so by `replaced`.
    """

    def __init__(self, process: Process) -> None:
        """Follow the slices of that shard."""
        self.histories: dict[Place, list[Seen]] = {}
        self._process = process
        self._revision = ""
        self._epoch = 0

    def replaced(self) -> None:
        """Take note that the store is another one from here on; nothing is compared over that."""
        self._epoch += 1
        self._revision = ""
        for history in self.histories.values():
            history.append(Seen(time.monotonic(), "BROKEN", ""))

    def newest(self) -> dict[Place, Seen]:
        """Return the last state of each slice that is there."""
        last = {place: history[-1] for place, history in self.histories.items()}
        return {place: seen for place, seen in last.items() if seen.how not in ("DELETED", "BROKEN")}

    async def run(self) -> None:
        """Record until cancelled."""
        while True:
            with suppress(aiohttp.ClientError, OSError, TimeoutError, Refused, ValueError):
                if self._process.port:
                    await self._follow(self._epoch)
            await asyncio.sleep(_AGAIN)

    async def _follow(self, epoch: int) -> None:
        if not self._revision:
            await self._list(epoch)
        query = f"?watch=1&allowWatchBookmarks=true&timeoutSeconds=600&resourceVersion={self._revision}"
        async for event in self._process.api.lines(SLICES + query):
            if epoch != self._epoch:
                return  # it is the old store that speaks
            obj = event["object"]
            if event["type"] == "ERROR":
                self._revision = ""  # history does not reach back so far
                return
            self._revision = obj["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                self._note(event["type"], obj)

    async def _list(self, epoch: int) -> None:
        found = await self._process.api.call("GET", SLICES)
        if epoch != self._epoch:
            return
        there = {_place(obj): obj for obj in found["items"]}
        for place, seen in self.newest().items():
            if place not in there:
                self.histories[place].append(Seen(time.monotonic(), "DELETED", seen.revision))
        for obj in there.values():
            self._note("LISTED", obj)
        self._revision = found["metadata"]["resourceVersion"]

    def _note(self, how: str, obj: JSON) -> None:
        urls = frozenset(endpoint["url"] for endpoint in obj.get("status", {}).get("endpoints") or ())
        seen = Seen(time.monotonic(), how, obj["metadata"]["resourceVersion"], urls)
        self.histories.setdefault(_place(obj), []).append(seen)


def _place(obj: JSON) -> Place:
    metadata = obj["metadata"]
    return metadata["annotations"]["kcp.io/cluster"], metadata["name"]


class Loss(NamedTuple):
    """A URL that was listed, and then was not."""

    at: float
    home: str
    place: Place
    url: str


def losses(home: str, place: Place, history: list[Seen], since: float) -> Iterator[Loss]:
    """Yield every URL that disappeared from a slice since then, also those that came back."""
    before: frozenset[str] = frozenset()
    for seen in history:
        if seen.at > since and not seen.begins:
            yield from (Loss(seen.at, home, place, url) for url in sorted(before - seen.urls))
        before = seen.urls
