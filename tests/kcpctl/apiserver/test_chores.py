"""Chores: each moved on by itself, a few at once, and again when that fails."""

import asyncio
from collections import Counter

import pytest

from informers.clock import VirtualClock
from informers.tasks import background
from kcpctl.apiserver.chores import Chores
from kcpctl.apiserver.failures import bad_request
from kcpctl.apiserver.storage.base import Mismatch, Unavailable


class Work:
    """What is to be done about each thing, and how often it was tried."""

    def __init__(self, *, at_once: int = 2) -> None:
        self.clock = VirtualClock()
        self.chores = Chores(self.clock, self.move_on, at_once=at_once)
        self.fails: dict[str, Exception] = {}
        self.held: dict[str, asyncio.Event] = {}
        self.tried: Counter[str] = Counter()
        self.active = 0
        self.most = 0

    async def move_on(self, what: str) -> None:
        self.tried[what] += 1
        self.active += 1
        self.most = max(self.most, self.active)
        try:
            if what in self.held:
                await self.held[what].wait()
            if error := self.fails.get(what):
                raise error
        finally:
            self.active -= 1


async def test_a_few_are_moved_on_at_once_and_one_that_waits_holds_up_no_other() -> None:
    work = Work(at_once=2)
    work.held = {"a": asyncio.Event()}
    async with background(work.chores.run()):
        for what in "abcd":
            work.chores.soon(what)
        await work.clock.run_until_idle()

        assert work.tried == {"a": 1, "b": 1, "c": 1, "d": 1}
        assert work.most == 2
        assert not work.chores.at_rest
        work.held["a"].set()
        await work.chores.wait_at_rest()


async def test_what_is_asked_for_again_meanwhile_is_done_again_and_never_twice_at_a_time() -> None:
    work = Work()
    work.held = {"a": asyncio.Event()}
    async with background(work.chores.run()):
        work.chores.soon("a")
        await work.clock.run_until_idle()
        work.chores.soon("a")
        work.chores.soon("a")
        await work.clock.run_until_idle()
        assert work.tried["a"] == 1
        work.held["a"].set()
        await work.chores.wait_at_rest()

    assert (work.tried["a"], work.most) == (2, 1)


@pytest.mark.parametrize("error", [Unavailable("the disk is full"), bad_request("the disk is full")])
async def test_what_fails_is_tried_again_with_growing_pauses_and_its_trouble_is_told(error: Exception) -> None:
    work = Work(at_once=1)
    work.fails = {"a": error}
    async with background(work.chores.run()):
        work.chores.soon("a")
        work.chores.soon("b")
        await work.clock.run_until_idle()
        assert work.tried == {"a": 1, "b": 1}, "others go on meanwhile"
        assert work.chores.trouble == "the disk is full"
        assert not work.chores.at_rest

        seen = []
        for seconds in (0.05, 0.1, 0.2):
            await work.clock.advance(seconds)
            seen.append(work.tried["a"])
        assert seen == [2, 3, 4]
        await work.clock.advance(3600)
        assert work.tried["a"] - 4 == pytest.approx(3600 / 5, abs=10)

        work.fails.clear()
        await work.clock.advance(5)
        assert work.chores.at_rest
        assert work.chores.trouble == ""


async def test_news_of_what_waits_has_it_tried_at_once() -> None:
    work = Work()
    work.fails = {"a": Unavailable("no")}
    async with background(work.chores.run()):
        work.chores.soon("a")
        await work.clock.run_until_idle()
        work.fails.clear()
        work.chores.soon("a")
        await work.clock.run_until_idle()

        assert work.chores.at_rest
        await work.clock.advance(3600)
        assert work.tried["a"] == 2


async def test_whoever_was_too_slow_tries_again_at_once() -> None:
    work = Work()
    work.fails = {"a": Mismatch(None)}
    async with background(work.chores.run()):
        work.chores.soon("a")
        while work.tried["a"] < 5:
            await asyncio.sleep(0)
        work.fails.clear()
        await work.chores.wait_at_rest()


async def test_what_nobody_expects_ends_everything() -> None:
    work = Work()
    work.fails = {"a": ZeroDivisionError()}
    work.chores.soon("a")

    with pytest.raises(ExceptionGroup) as caught:
        await work.chores.run()

    assert caught.group_contains(ZeroDivisionError)


async def test_nothing_is_left_behind_when_it_is_cancelled() -> None:
    work = Work()
    work.fails = {"a": Unavailable("no")}
    async with background(work.chores.run()):
        work.chores.soon("a")
        await work.clock.run_until_idle()

    await work.clock.advance(3600)
    assert work.tried["a"] == 1
