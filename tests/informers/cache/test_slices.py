"""Long work lets others run, and those who share a slice take turns."""

import asyncio
from time import perf_counter

from informers.cache.slices import Slices
from informers.tasks import background, together


async def test_those_who_share_a_used_up_slice_get_on_one_in_each_turn() -> None:
    slices, turns, worked = Slices(0), 0, list[tuple[int, str]]()

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def work(name: str) -> None:
        for _ in range(3):
            await slices.turn()
            worked.append((turns, name))

    async with background(count()):
        await together(*(work(name) for name in "abc"))

    assert len({turn for turn, _ in worked}) == 9
    assert [name for _, name in worked] == list("abc" * 3)


async def test_a_slice_that_is_not_used_up_is_shared_within_a_turn() -> None:
    slices, worked = Slices(60), list[str]()

    async def work(name: str) -> None:
        await slices.turn()
        worked.append(name)

    await together(*(work(name) for name in "abc"))

    assert worked == ["a", "b", "c"]
    assert not slices.over()


async def test_a_slice_is_over_after_its_time_until_the_next_turn() -> None:
    slices = Slices(0.001)
    until = perf_counter() + 0.001
    while perf_counter() < until:
        pass

    assert slices.over()
    await slices.turn()
    assert not slices.over()


async def test_whoever_leaves_the_line_early_holds_up_nobody() -> None:
    slices, worked = Slices(0), list[str]()

    async def work(name: str) -> None:
        await slices.turn()
        worked.append(name)

    first, second, third, fourth = (asyncio.create_task(work(name)) for name in "abcd")
    await asyncio.sleep(0)
    second.cancel()
    first.cancel()
    await asyncio.wait([first, second, third, fourth])

    assert worked == ["c", "d"]
