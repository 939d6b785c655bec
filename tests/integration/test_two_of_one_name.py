"""Two processes of one name over two stores, whatever happens to their networks: never do both have the segment.

Where the cache is emptied, its lease is lost, and both may have it until the holder hears of that, or gives up.
"""

import asyncio
from collections.abc import Sequence
from typing import Literal, TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.holding import GIVEN_UP_AFTER
from controllers.kinds import EXPORTS
from informers import ConfigurationError
from informers.tasks import background
from tests.integration.objects import export
from tests.integration.site import ShardProcess, Site

Name: TypeAlias = Literal["first", "second"]
Step: TypeAlias = (
    tuple[Literal["hold", "release", "cut", "leave", "return"], Name]
    | tuple[Literal["wait"], int]
    | tuple[Literal["empty"]]
)
NAMES: tuple[Name, ...] = ("first", "second")
_LONG_ENOUGH = 120

networks: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.sampled_from(["hold", "release", "cut", "leave", "return"]), st.sampled_from(NAMES)),
    st.tuples(st.just("wait"), st.integers(1, 20)),
)
emptied: st.SearchStrategy[Step] = st.tuples(st.just("empty"))


class Pair:
    """Two processes named amber, each until it ends by itself or is told to."""

    def __init__(self) -> None:
        self.site = Site()
        self.refused: list[str] = []
        self._running: dict[str, ShardProcess] = {}
        self._emptied = float("-inf")
        self._stop = asyncio.Event()

    async def play(self, taken: Sequence[Step]) -> None:
        """Take the steps, then let both reach the cache for long."""
        async with background(*map(self._run, NAMES)):
            await self._wait(1)
            for step in taken:
                await self._take(step)
            for process in self._running.values():
                process.cache.come_back()
                process.cache.release()
            await self._wait(_LONG_ENOUGH)
            assert len(self.refused) == 1
            [left] = self._running.values()
            found = {obj.name for obj in await self.site.cache.client().list(EXPORTS)}
            assert left.name in found
            await left.client.create(EXPORTS, export("last"))
            await self.site.settle()
            assert "last" in {obj.name for obj in await self.site.cache.client().list(EXPORTS)}
            self._stop.set()
            await self._wait(1)

    async def _run(self, name: str) -> None:
        try:
            async with self.site.shard(name, called="amber", is_killed=True) as process:
                self._running[name] = process
                await process.client.create(EXPORTS, export(name))
                await self._stop.wait()
        except ConfigurationError as error:
            assert "only shard named 'amber'" in str(error)  # noqa: PT017 - which of the two it is nobody knows before
            self.refused.append(name)
        finally:
            self._running.pop(name, None)

    async def _take(self, step: Step) -> None:
        if step[0] == "empty":
            await self.site.restart_cache(empty=True)
            self._emptied = self.site.clock.monotonic()
            return
        if step[0] == "wait":
            await self._wait(step[1])
            return
        process = self._running.get(step[1])
        match process, step[0]:
            case None, _:
                return
            case ShardProcess(cache=cache), "hold":
                cache.hold()
            case ShardProcess(cache=cache), "release":
                cache.release()
            case ShardProcess(cache=cache), "cut":
                await cache.cut()
            case ShardProcess(cache=cache), "leave":
                await cache.go_away()
            case ShardProcess(cache=cache), _:
                cache.come_back()
        await self._wait(0)

    async def _wait(self, seconds: int) -> None:
        self._check()
        for _ in range(2 * seconds):
            await self.site.clock.advance(0.5)
            self._check()

    def _check(self) -> None:
        if self.site.clock.monotonic() - self._emptied <= GIVEN_UP_AFTER:
            return
        segments = [process.ours.segment for process in self._running.values()]
        assert sum(segment is not None and segment.held for segment in segments) <= 1


@settings(max_examples=15, deadline=None)
@given(st.lists(networks, max_size=10))
def test_never_do_two_processes_hold_one_segment_and_in_the_end_one_is_left(taken: list[Step]) -> None:
    asyncio.run(Pair().play(taken))


@settings(max_examples=15, deadline=None)
@given(st.lists(st.one_of(networks, networks, emptied), max_size=10))
def test_nor_for_long_where_the_cache_is_emptied_and_in_the_end_one_is_left_as_well(taken: list[Step]) -> None:
    asyncio.run(Pair().play(taken))
