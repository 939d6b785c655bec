"""A shard that is restarted while nothing has changed, without its cache server and again with it: what it writes."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from controllers.copies import HOLDER
from kcpctl.control import ask
from tests.bench.api import Body
from tests.bench.kcpctl_process import Running
from tests.bench.laboratory import Sizes
from tests.bench.load import SHARDS, create_all, many_exports, many_slices
from tests.bench.programs import Figures
from tests.bench.sites import all_list, cache, settled, shard, talk, until

_HOME = "home"
_OTHER = "other"
_LOOK = 1
"""Seconds that a look at what has happened takes."""
_NOT_COMPARED = ("resourceVersion", "managedFields")

Leased = Mapping[str, Body]
"""The copies of Shards by name, as they are apart from their leases."""


class Mark(NamedTuple):
    """Where the stores were when nothing was left to do."""

    home: int
    """The revision of the shard's store; each write takes the next one."""
    cache: int
    """That of the cache server's."""
    shards: Leased


async def restarts(site: Path, sizes: Sizes) -> Figures:
    """Restart one of two shards twice, and count all writes since everything was done, lease renewals apart."""
    with ExitStack() as processes:
        with cache(site) as cached:
            other = processes.enter_context(shard(site, _OTHER))
            with shard(site, _HOME) as home:
                mark = await _filled(cached, home, sizes)
        with shard(site, _HOME, port=home.port) as home:
            await _at_rest(home, with_cache=False)
            alone = await _revision(home)
        with cache(site, port=cached.port) as cached, shard(site, _HOME, port=home.port) as home:
            await _at_rest(other, with_cache=True)
            await _at_rest(home, with_cache=True)
            again = await _revision(home)
            copies = await _writes(cached, mark)
    return {"alone": alone - mark.home, "again": again - alone, "copies": copies}


async def _filled(cached: Running, home: Running, sizes: Sizes) -> Mark:
    async with talk(cached) as segments, talk(home) as workspace:
        await create_all(workspace, many_exports(sizes.objects))
        await create_all(workspace, many_slices(sizes.objects))
        await all_list(workspace, 2)
        await settled(segments, workspace)
        copies = await segments.read(SHARDS)
        leased = {one["metadata"]["name"]: without_lease(one) for one in copies["items"]}
        revision = int(copies["metadata"]["resourceVersion"])
        return Mark(int(await workspace.revision(SHARDS)), revision, leased)


async def _at_rest(process: Running, *, with_cache: bool) -> None:
    """Wait until a shard's controllers have begun and visited everything, and its store takes no write any more."""

    async def is_it() -> bool:
        return is_idle(await asyncio.to_thread(ask, process.data_dir, "status"), with_cache=with_cache)

    await until(f"the shard {process.data_dir.name} to be at rest", is_it)
    async with talk(process) as workspace:
        await settled(workspace)


def is_idle(status: Body, *, with_cache: bool) -> bool:
    """Say whether a process has visited everything; without its cache server, all that can be."""
    followed = [one["live"] for one in status["informers"] if with_cache or one["server"] != "cache"]
    idle = [one["started"] and not one["ready"] and not one["active"] for one in status["controllers"]]
    return all(followed) and all(idle)


async def _revision(process: Running) -> int:
    async with talk(process) as workspace:
        return int(await workspace.revision(SHARDS))


async def _writes(cached: Running, mark: Mark) -> int:
    """Return how many writes the cache server took since the mark, lease renewals apart."""
    async with talk(cached) as segments:
        newest = int(await segments.revision(SHARDS))
        events = [event async for event in segments.watch(SHARDS, str(mark.cache), seconds=_LOOK)]
    changed = [json.loads(event.line)["object"] for event in events if int(event.meta.resource_version) <= newest]
    return newest - mark.cache - renewals(mark.shards, changed)


def renewals(before: Leased, changed: Iterable[Body]) -> int:
    """Return how many of these changes of Shards' copies, in their order, changed nothing but the lease."""
    known, count = dict(before), 0
    for obj in changed:
        name, found = obj["metadata"]["name"], without_lease(obj)
        count += found == known.get(name)
        known[name] = found
    return count


def without_lease(obj: Body) -> Body:
    """Return a copy as it is apart from its lease and from what every write changes."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _NOT_COMPARED}
    notes = {key: value for key, value in metadata.get("annotations", {}).items() if key != HOLDER}
    return {**obj, "metadata": {**metadata, "annotations": notes}}
