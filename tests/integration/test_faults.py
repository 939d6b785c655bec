"""Whatever the network does to the controllers, nothing published is lost and everything becomes right."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.kinds import EXPORTS, SLICES
from tests.faults import Network, lists, watches, writes
from tests.integration.objects import REPLICATED, conditions, export, published, slice_of, urls
from tests.integration.site import ShardProcess, Site

Fault = Callable[[Network], Awaitable[None]]


async def cut(network: Network) -> None:
    await network.cut()


async def tear(network: Network) -> None:
    network.tear()


async def expire_in_the_stream(network: Network) -> None:
    network.stream_error(410, "Expired", watches())
    await network.cut()


async def expire_at_once(network: Network) -> None:
    network.answer(410, "Expired", watches())
    await network.cut()


async def fail(network: Network) -> None:
    network.answer(500, "InternalError", times=7)
    await network.cut()


async def be_unavailable(network: Network) -> None:
    network.answer(503, "ServiceUnavailable", lists(), times=3)
    network.answer(503, "ServiceUnavailable", watches(), times=3)
    await network.cut()


async def throttle(network: Network) -> None:
    network.answer(429, "TooManyRequests", times=5, retry_after=2)
    await network.cut()


async def refuse(network: Network) -> None:
    network.refuse(times=6)
    await network.cut()


async def fail_writes(network: Network) -> None:
    network.answer(500, "InternalError", writes(), times=4)


async def outrun(network: Network) -> None:
    network.answer(409, "Conflict", writes(), times=4)


FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        cut,
        tear,
        expire_in_the_stream,
        expire_at_once,
        fail,
        be_unavailable,
        throttle,
        refuse,
        fail_writes,
        outrun,
    )
}


@pytest.mark.parametrize("where", ["local", "cache"])
@pytest.mark.parametrize("fault", FAULTS)
async def test_one_fault_in_the_middle_of_changes_loses_nothing(site: Site, fault: str, where: str) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        for shard in (amber, violet):
            await shard.client.create(EXPORTS, export())
            await shard.client.create(SLICES, slice_of())
        await site.settle()
        await site.clock.advance(10)

        for shard in (amber, violet):
            await FAULTS[fault](getattr(shard, where))
        await amber.client.create(EXPORTS, export("new"))
        await amber.client.create(SLICES, slice_of("new", export="new"))
        await violet.client.create(SLICES, slice_of("far", export="new", path=amber.workspace))
        async with site.shard("green"):
            await site.settle()

            for shard, name in ((amber, "widgets"), (violet, "widgets"), (amber, "new"), (violet, "far")):
                found = await shard.client.get(SLICES, name)
                cluster = shard.workspace if name != "far" else amber.workspace
                expected = published(cluster, "amber", "green", "violet", export=found.at("spec", "export", "name"))
                assert urls(found) == expected
                assert conditions(found)["EndpointURLsReady"] == ("True", "")
            assert site.losses() == []
            site.forget_requests()
            await site.clock.advance(1200)
            await site.settle()
            assert site.writes == []


# The property


STEPS = st.one_of(
    st.tuples(
        st.just("fault"),
        st.sampled_from(sorted(FAULTS)),
        st.sampled_from(["amber", "violet"]),
        st.sampled_from(["local", "cache"]),
    ),
    st.tuples(st.just("away"), st.booleans(), st.sampled_from(["amber", "violet"])),
    st.tuples(st.just("export"), st.integers(0, 2), st.sampled_from(["amber", "violet"])),
    st.tuples(st.just("unexport"), st.integers(0, 2), st.sampled_from(["amber", "violet"])),
    st.tuples(st.just("time"), st.sampled_from([0.0, 0.5, 3.0, 400.0])),
    st.tuples(st.just("restart"), st.sampled_from(["amber", "violet"]), st.sampled_from(["", "away"])),
    st.tuples(st.just("empty cache")),
    st.tuples(st.just("restart cache")),
    st.tuples(st.just("compact")),
)


@given(st.lists(STEPS, max_size=8))
@settings(max_examples=15, deadline=None)
def test_whatever_happens_everything_is_right_in_the_end_and_no_slice_of_a_living_export_ever_lost_a_url(
    steps: list[tuple[object, ...]],
) -> None:
    asyncio.run(_survive(steps))


class Processes:
    """Shards that are restarted in the middle of a test."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._blocks: dict[str, AsyncExitStack] = {}

    async def restart(self, name: str, cache: str = "") -> None:
        """End the shard's process, if it runs, and begin another one."""
        if name in self._blocks:
            await self._blocks.pop(name).aclose()
        block = AsyncExitStack()
        await block.enter_async_context(self.site.shard(name, cache=cache))
        self._blocks[name] = block

    async def end(self) -> None:
        """End all of them."""
        for block in self._blocks.values():
            await block.aclose()


async def _survive(steps: list[tuple[object, ...]]) -> None:
    site = Site()
    processes = Processes(site)
    try:
        for name in ("amber", "violet"):
            await processes.restart(name)
        amber = site.shards["amber"]
        for shard in site.shards.values():
            await shard.client.create(EXPORTS, export("kept"))
            await shard.client.create(SLICES, slice_of("kept", export="kept"))
            for number in range(3):
                await shard.client.create(SLICES, slice_of(f"s{number}", export=f"e{number}"))
            await shard.client.create(SLICES, slice_of("far", export="kept", path=amber.workspace))
        await site.settle()
        for step in steps:
            await _step(processes, *step)

        for shard in site.shards.values():
            shard.cache.come_back()
        await site.settle()
        await site.clock.advance(60)
        await site.settle()

        await _check(site)
    finally:
        await processes.end()


async def _step(processes: Processes, *step: object) -> None:
    site = processes.site
    match step:
        case "restart", str(name), str(cache):
            await processes.restart(name, cache)
        case "fault", str(fault), str(name), str(where):
            await FAULTS[fault](getattr(site.shards[name], where))
        case "away", bool(is_away), str(name):
            network = site.shards[name].cache
            await network.go_away() if is_away else network.come_back()
        case "export", int(number), str(name):
            if number not in await exports_of(site.shards[name]):
                await site.shards[name].client.create(EXPORTS, export(f"e{number}"))
        case "unexport", int(number), str(name):
            if number in await exports_of(site.shards[name]):
                await site.shards[name].client.delete(EXPORTS, f"e{number}")
        case "time", float(seconds):
            await site.clock.advance(seconds)
        case ("empty cache",):
            await site.restart_cache(empty=True)
        case ("restart cache",):
            await site.restart_cache()
        case ("compact",):
            await site.cache.storage.compact(site.cache.storage.revision)


async def exports_of(shard: ShardProcess) -> set[int]:
    return {int(obj.name[1:]) for obj in await shard.client.list(EXPORTS) if obj.name != "kept"}


async def _check(site: Site) -> None:
    """Every slice of an export that is there lists both shards, and of no other; copies are there; all is at rest."""
    amber = site.shards["amber"]
    for shard in site.shards.values():
        there = await exports_of(shard)
        for number in range(3):
            found = await shard.client.get(SLICES, f"s{number}")
            both = published(shard.workspace, "amber", "violet", export=f"e{number}")
            assert urls(found) == (both if number in there else [])
        assert urls(await shard.client.get(SLICES, "kept")) == published(
            shard.workspace, "amber", "violet", export="kept"
        )
        assert urls(await shard.client.get(SLICES, "far")) == published(
            amber.workspace, "amber", "violet", export="kept"
        )
        for resource in REPLICATED:
            names = {obj.name for obj in await shard.client_of("*").list(resource)}
            copies = await site.cache.client().list(resource)
            assert {obj.name for obj in copies if obj.key.shard == shard.name} == names
    assert [url for url in site.losses() if url.endswith("/kept")] == []
    site.forget_requests()
    await site.clock.advance(1200)
    await site.settle()
    assert site.writes == []
