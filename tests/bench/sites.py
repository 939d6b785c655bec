"""A cache server and shards over it, each a process of its own, and what can be asked of all of them."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from pathlib import Path

from tests.bench.api import Api, Body, connected
from tests.bench.kcpctl_process import Running, running
from tests.bench.load import EXPORTS, SHARDS, SLICES
from tests.bench.measure import cpu_of
from tests.bench.programs import Missing

COPIED = (SHARDS, EXPORTS, SLICES)
"""What has copies in the cache."""
_CACHE = "cache"
_WITHIN = 300.0
_PAUSE = 0.05
_SILENCE = 1.0
"""Seconds; shards renew their leases every five, so that a cache server of three is silent for so long now and then."""


def cache(site: Path, *, port: int = 0) -> AbstractContextManager[Running]:
    """Run the cache server of a site."""
    return running(site / _CACHE, command="cache", port=port)


def shard(site: Path, name: str, *, port: int = 0) -> AbstractContextManager[Running]:
    """Run a shard of a site, whose cache server must have run; its port is in the URLs that it publishes."""
    kubeconfig = site / _CACHE / "cache.kubeconfig"
    return running(site / name, "--shard-name", name, "--cache-kubeconfig", str(kubeconfig), port=port)


def talk(process: Running) -> AbstractAsyncContextManager[Api]:
    """Connect to a process as its administrator does: to the workspace of a shard, or to all segments of a cache."""
    name = "cache.kubeconfig" if process.data_dir.name == _CACHE else "admin.kubeconfig"
    return connected(process.data_dir / name)


def segment(name: str, cluster: str) -> str:
    """Return the prefix of one cluster in a shard's segment of the cache."""
    return f"/services/cache/shards/{name}/clusters/{cluster}"


def spent(*processes: Running) -> float:
    """Return the seconds of CPU time that processes have used together; what else the machine does is not in it."""
    return sum(cpu_of(process.pid) for process in processes)


async def until(what: str, check: Callable[[], Awaitable[bool]]) -> None:
    """Wait until the check holds; raises `Missing`, with what was waited for, after long enough."""
    end = time.perf_counter() + _WITHIN
    while not await check():
        if time.perf_counter() > end:
            raise Missing(f"expected {what} within {_WITHIN:g} s")
        await asyncio.sleep(_PAUSE)


async def settled(*servers: Api) -> None:
    """Wait until no store has taken a write for a second; raises `Missing` when there always is another."""
    found: list[str] = []
    since = time.perf_counter()

    async def is_silent() -> bool:
        nonlocal since
        newest = [await server.revision(SHARDS) for server in servers]
        if newest != found:
            since, found[:] = time.perf_counter(), newest
        return time.perf_counter() - since >= _SILENCE

    await until("that everything is done", is_silent)


async def published(workspace: Api) -> dict[str, list[str]]:
    """Return the URLs that each slice of a workspace lists."""
    return {one["metadata"]["name"]: _urls(one) for one in (await workspace.read(SLICES))["items"]}


def _urls(one: Body) -> list[str]:
    return [endpoint["url"] for endpoint in one.get("status", {}).get("endpoints") or ()]


async def all_list(workspace: Api, urls: int) -> None:
    """Wait until every slice of a workspace lists so many URLs."""

    async def do_they() -> bool:
        return all(len(found) == urls for found in (await published(workspace)).values())

    await until(f"{urls} URLs in every slice", do_they)
