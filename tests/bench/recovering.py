"""A cache server that comes back empty: how long it takes three shards to fill it again."""

import asyncio
import time
from asyncio import Event
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import NamedTuple

from informers.tasks import background
from tests.bench.api import Api, Meta
from tests.bench.kcpctl_process import Running
from tests.bench.laboratory import Sizes
from tests.bench.load import SHARDS, create_all, many_exports, many_slices
from tests.bench.programs import Figures, Missing
from tests.bench.sites import COPIED, all_list, cache, published, settled, shard, spent, talk, until

_HOMES = ("amber", "green", "violet")
_WITHIN = 300.0


class Copy(NamedTuple):
    """A copy in the cache."""

    kind: str
    shard: str
    cluster: str
    name: str


class Copies:
    """The copies that watches show."""

    def __init__(self, wanted: frozenset[Copy] = frozenset()) -> None:
        """Wait until all these are there."""
        self.there: set[Copy] = set()
        self.back_at = 0.0
        self._wanted = wanted
        self._back = Event()

    async def follow(self, segments: Api, kind: str) -> None:
        """Watch one kind from what there is, until cancelled."""
        async for event in segments.watch(kind, "0"):
            copy = _copy(kind, event.meta)
            (self.there.discard if event.kind == "DELETED" else self.there.add)(copy)
            if not self._back.is_set() and self.there >= self._wanted:
                self.back_at = time.perf_counter()
                self._back.set()

    async def wait_back(self) -> None:
        """Wait until all are there; raises `Missing`."""
        try:
            async with asyncio.timeout(_WITHIN):
                await self._back.wait()
        except TimeoutError as late:
            missing = len(self._wanted - self.there)
            raise Missing(f"after {_WITHIN:g} s {missing} of {len(self._wanted)} copies are not back") from late


async def recovery(site: Path, sizes: Sizes) -> Figures:
    """Fill three shards, let the cache server come back empty, and wait until all is as it was."""
    with ExitStack() as processes:
        with cache(site) as cached:
            homes = [processes.enter_context(shard(site, name)) for name in _HOMES]
            copies = await _filled(cached, homes, sizes)
        before, used, written = await _published(homes), spent(*homes), await _revisions(homes)
        for file in cached.data_dir.glob("*.sqlite*"):
            file.unlink()
        with cache(site, port=cached.port) as again:
            found = await _recovered(again, homes, copies, before)
            return {**found, "cpu": spent(again, *homes) - used, "writes": await _revisions(homes) - written}


async def _filled(cached: Running, homes: list[Running], sizes: Sizes) -> frozenset[Copy]:
    """Give each shard its share of the exports and slices, and return the copies that there are in the end."""
    share = -(-sizes.objects // len(homes))
    async with AsyncExitStack() as stack:
        segments = await stack.enter_async_context(talk(cached))
        workspaces = [await stack.enter_async_context(talk(home)) for home in homes]
        for workspace in workspaces:
            await create_all(workspace, many_exports(share))
            await create_all(workspace, many_slices(share))
        for workspace in workspaces:
            await all_list(workspace, len(homes))
        await settled(segments, *workspaces)
        found = frozenset([one for kind in COPIED for one in await _listed(segments, kind)])
    if len(found) != (expected := len(homes) * (1 + 2 * share)):
        raise Missing(f"expected {expected} copies before the cache server is emptied, found {len(found)}")
    return found


async def _recovered(
    again: Running, homes: list[Running], wanted: frozenset[Copy], before: list[dict[str, list[str]]]
) -> Figures:
    copies = Copies(wanted)

    async def as_before() -> bool:
        return await _published(homes) == before

    async with talk(again) as segments:
        async with background(*(copies.follow(segments, kind) for kind in COPIED)):
            await copies.wait_back()
        was_right = await as_before()
        if not was_right:
            await until("every slice as it was", as_before)
    end = copies.back_at if was_right else time.perf_counter()
    return {"seconds": end - again.started, "ready": again.ready_after}


async def _revisions(homes: list[Running]) -> int:
    """Return the sum of the revisions of the shards' stores: each write adds one."""
    found = 0
    for home in homes:
        async with talk(home) as workspace:
            found += int(await workspace.revision(SHARDS))
    return found


async def _listed(segments: Api, kind: str) -> list[Copy]:
    items = (await segments.read(kind))["items"]
    return [_copy(kind, Meta(one["metadata"]["name"], "", one["metadata"]["annotations"])) for one in items]


def _copy(kind: str, meta: Meta) -> Copy:
    notes = meta.annotations
    return Copy(kind, notes.get("kcp.io/shard", ""), notes.get("kcp.io/cluster", ""), meta.name)


async def _published(homes: list[Running]) -> list[dict[str, list[str]]]:
    """Return what the slices of each shard list."""
    found = []
    for home in homes:
        async with talk(home) as workspace:
            found.append(await published(workspace))
    return found
