"""Copies in the cache: how soon many are there, how soon one is, and what a shard takes that has many."""

import asyncio
import time
from asyncio import Event
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

from informers.tasks import background
from tests.bench.api import Api
from tests.bench.kcpctl_process import Running
from tests.bench.laboratory import Sizes
from tests.bench.load import EXPORTS, SLICES, create_all, many_exports, many_slices
from tests.bench.measure import peak_of, resident_of
from tests.bench.programs import Figures, Missing
from tests.bench.sites import all_list, cache, settled, shard, spent, talk

_HOME = "home"
_BETWEEN = 1 / 3
"""Seconds between two writes whose way is timed."""
_WITHIN = 300.0


class Arrivals:
    """When copies came to the cache, by name, as `time.perf_counter` counts."""

    def __init__(self) -> None:
        """Begin with none."""
        self.at: dict[str, float] = {}
        self._more = Event()

    async def follow(self, segments: Api, path: str, revision: str) -> None:
        """Watch one kind from that revision on, until cancelled."""
        async for event in segments.watch(path, revision):
            if event.meta.name not in self.at:
                self.at[event.meta.name] = time.perf_counter()
                self._more.set()

    async def wait(self, names: Collection[str]) -> None:
        """Wait until copies of all these are there; raises `Missing`."""
        try:
            async with asyncio.timeout(_WITHIN):
                while not self.at.keys() >= set(names):
                    self._more.clear()
                    await self._more.wait()
        except TimeoutError as late:
            missing = len(set(names) - self.at.keys())
            raise Missing(f"after {_WITHIN:g} s {missing} of {len(names)} copies are not in the cache") from late


@asynccontextmanager
async def _pair(site: Path) -> AsyncIterator[tuple[Running, Api, Api]]:
    """Have a shard, its workspace, and all segments of its cache server, as two processes with nothing to do."""
    with cache(site) as cached, shard(site, _HOME) as home:
        async with talk(cached) as segments, talk(home) as workspace:
            await settled(segments, workspace)
            yield home, workspace, segments


async def many(site: Path, sizes: Sizes) -> Figures:
    """Create APIExports as fast as they are taken, and wait until all are in the cache."""
    arrivals = Arrivals()
    names = [body["metadata"]["name"] for _, body in many_exports(sizes.objects)]
    async with _pair(site) as (home, workspace, segments):
        revision, used = await segments.revision(EXPORTS), spent(home)
        async with background(arrivals.follow(segments, EXPORTS, revision)):
            began = time.perf_counter()
            await create_all(workspace, many_exports(sizes.objects))
            answered = time.perf_counter()
            await arrivals.wait(names)
            cpu = spent(home) - used
    return {"seconds": max(arrivals.at.values()) - began, "answered": answered - began, "cpu": cpu}


async def each(site: Path, sizes: Sizes) -> Figures:
    """Create APIExports three times a second, and time the way of each from its answer to its copy."""
    arrivals = Arrivals()
    answered: dict[str, float] = {}
    async with _pair(site) as (_, workspace, segments):
        revision = await segments.revision(EXPORTS)
        async with background(arrivals.follow(segments, EXPORTS, revision)):
            for path, body in many_exports(sizes.delays):
                await workspace.send("POST", path, body)
                answered[body["metadata"]["name"]] = time.perf_counter()
                await asyncio.sleep(_BETWEEN)
            await arrivals.wait(answered)
    delays = sorted(arrivals.at[name] - when for name, when in answered.items())
    return {"median_ms": median(delays) * 1e3, "longest_ms": delays[-1] * 1e3}


async def footprint(site: Path, sizes: Sizes) -> Figures:
    """Let a shard have exports and slices, all of them in the cache as well, and see what it takes."""
    async with _pair(site) as (home, workspace, segments):
        await create_all(workspace, many_exports(sizes.objects))
        await create_all(workspace, many_slices(sizes.objects))
        await all_list(workspace, 1)
        await settled(segments, workspace)
        for path in (EXPORTS, SLICES):
            found = len((await segments.read(path))["items"])
            if found != sizes.objects:
                raise Missing(f"expected {sizes.objects} copies of {path}, found {found}")
        return {"resident": resident_of(home.pid), "peak": peak_of(home.pid)}
