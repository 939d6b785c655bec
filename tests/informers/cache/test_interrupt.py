"""Promises of interruptions, watchdogs and gates."""

import asyncio

import pytest

from informers.api.errors import NotSynced
from informers.cache.gate import Gate
from informers.cache.interrupt import Interrupt, watchdog
from informers.clock import VirtualClock
from informers.tasks import background


async def test_an_interruption_raises_its_error_where_the_block_waits() -> None:
    interrupt = Interrupt()
    cleaned: list[str] = []

    async def waiter() -> None:
        async with interrupt.block():
            try:
                await asyncio.Event().wait()
            finally:
                cleaned.append("up")

    waiting = asyncio.ensure_future(waiter())
    await asyncio.sleep(0)
    interrupt.interrupt(LookupError("enough"))
    interrupt.interrupt(KeyError("the first counts"))

    with pytest.raises(LookupError, match="enough"):
        await waiting
    assert cleaned == ["up"]


async def test_an_interruption_from_inside_takes_effect_at_the_next_await() -> None:
    interrupt = Interrupt()
    reached: list[int] = []

    async def block() -> None:
        async with interrupt.block():
            interrupt.interrupt(LookupError())
            reached.append(1)
            await asyncio.Event().wait()
            reached.append(2)

    with pytest.raises(LookupError):
        await block()
    assert reached == [1]


async def test_an_interruption_outside_a_block_is_nothing() -> None:
    interrupt = Interrupt()
    interrupt.interrupt(LookupError())

    async with interrupt.block():
        await asyncio.sleep(0)
    interrupt.interrupt(LookupError())
    await asyncio.sleep(0)


async def test_a_block_that_ends_in_time_is_not_interrupted_afterwards() -> None:
    interrupt = Interrupt()

    async with interrupt.block():
        interrupt.interrupt(LookupError())  # too late: the block does not wait any more

    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def test_a_timeout_of_the_blocks_own_stays_one() -> None:
    interrupt = Interrupt()

    with pytest.raises(TimeoutError):
        async with interrupt.block():
            raise TimeoutError


async def test_cancelling_goes_through_a_block() -> None:
    interrupt = Interrupt()

    async def waiter() -> None:
        async with interrupt.block():
            await asyncio.Event().wait()

    async with background(waiter()) as [task]:
        await asyncio.sleep(0)
        task.cancel()
        interrupt.interrupt(LookupError())
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_watchdog_barks_once_at_the_deadline_however_often_it_moved() -> None:
    clock = VirtualClock()
    barks: list[float] = []
    deadlines = [10.0]

    with watchdog(clock, lambda: deadlines[0], lambda: barks.append(clock.monotonic())):
        await clock.advance(9)
        deadlines[0] = 15.0
        await clock.advance(5)
        deadlines[0] = 20.0
        assert barks == []
        await clock.advance(100)

    assert barks == [20.0]


async def test_a_watchdog_notices_that_its_deadline_came_closer() -> None:
    clock = VirtualClock()
    barks: list[float] = []
    deadlines = [600.0]

    with watchdog(clock, lambda: deadlines[0], lambda: barks.append(clock.monotonic())):
        await clock.advance(60)
        deadlines[0] = 215.0
        await clock.advance(600)

    assert barks == [215.0]


async def test_a_watchdog_is_quiet_after_its_block() -> None:
    clock = VirtualClock()
    barks: list[float] = []

    with watchdog(clock, lambda: 10.0, lambda: barks.append(clock.monotonic())):
        await clock.advance(5)
    await clock.advance(50)

    assert barks == []


async def test_a_gate_lets_everybody_through_once_open() -> None:
    gate = Gate()
    gate.open()
    gate.shut()

    await gate.wait()
    assert gate.is_open


async def test_a_shut_gate_turns_those_who_wait_away() -> None:
    gate = Gate()

    waiting = asyncio.ensure_future(gate.wait())
    await asyncio.sleep(0)
    gate.shut()

    with pytest.raises(NotSynced, match="stopped before it had"):
        await waiting
