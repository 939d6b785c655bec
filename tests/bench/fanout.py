"""One Shard's URL changes: until every slice follows, and how often each is written for it."""

import asyncio
import time
from asyncio import Event
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from informers.tasks import background
from tests.bench.api import Api
from tests.bench.kcpctl_process import Running
from tests.bench.laboratory import Sizes
from tests.bench.load import SHARDS, SLICES, Creation, create_all, shard, workspace
from tests.bench.programs import Figures, Missing
from tests.bench.sites import all_list, cache, segment, settled, spent, talk
from tests.bench.sites import shard as running_shard

_HOME = "home"
_MOVED = "https://moved.example.com:6443"
_WITHIN = 300.0


class Following:
    """What a watch on the slices has shown since the change."""

    def __init__(self, slices: int, old: str, new: str) -> None:
        """Wait until so many list the new URL in place of the old one."""
        self.writes = 0
        self.done_at = 0.0
        self._slices = slices
        self._old, self._new = old.encode(), new.encode()
        self._right: set[str] = set()
        self._done = Event()

    async def follow(self, server: Api, revision: str) -> None:
        """Watch from that revision on, until cancelled."""
        async for event in server.watch(SLICES, revision):
            self.writes += 1
            is_right = self._new in event.line and self._old not in event.line
            (self._right.add if is_right else self._right.discard)(event.meta.name)
            if len(self._right) == self._slices and not self._done.is_set():
                self.done_at = time.perf_counter()
                self._done.set()

    async def wait_done(self) -> None:
        """Wait until all slices follow; raises `Missing`."""
        try:
            async with asyncio.timeout(_WITHIN):
                await self._done.wait()
        except TimeoutError as late:
            found = f"{len(self._right)} of {self._slices} slices"
            raise Missing(f"after {_WITHIN:g} s {found} list the Shard's new URL") from late


async def fanout(site: Path, sizes: Sizes) -> Figures:
    """Change one Shard of another process, and see a shard's slices follow."""
    with cache(site) as cached, running_shard(site, _HOME) as home:
        async with talk(cached) as segments, talk(home) as slices:
            await create_all(segments.at(""), _others(sizes.shards - 1))
            await create_all(slices, workspace(1 + sizes.objects, sizes.objects))
            await all_list(slices, sizes.shards)
            await settled(segments, slices)
            return await _changed(segments.at(""), slices, home, sizes)


async def _changed(segments: Api, slices: Api, home: Running, sizes: Sizes) -> Figures:
    name = _name(0)
    following = Following(sizes.objects, _url(name), _MOVED)
    revision = await slices.revision(SLICES)
    async with background(following.follow(slices, revision)):
        began, used = time.perf_counter(), spent(home)
        path = f"{segment(name, 'root')}{SHARDS}/{name}"
        await segments.send("PATCH", path, {"spec": {"virtualWorkspaceURL": _MOVED}})
        await following.wait_done()
        used = spent(home) - used
        await settled(segments.at(segment("*", "*")), slices)  # a slice may be written once more
    writes = following.writes / sizes.objects
    return {"fanout_seconds": following.done_at - began, "fanout_writes_per_slice": writes, "cpu": used}


def _others(count: int) -> Iterator[Creation]:
    """Yield the Shards of other processes, as these would write them into the cache."""
    for number in range(count):
        name = _name(number)
        path, body = shard(name, _url(name))
        body["metadata"] |= {"uid": str(uuid4()), "annotations": {"kcp.io/shard": name}}
        yield segment(name, "root") + path, body


def _name(number: int) -> str:
    return f"other-{number:03d}"


def _url(name: str) -> str:
    return f"https://{name}.example.com:6443"
