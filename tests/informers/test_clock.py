"""Promises of the clocks."""

import asyncio

import pytest

from informers.clock import SystemClock, VirtualClock
from informers.tasks import background


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


async def test_sleepers_wake_in_the_order_of_their_due_times(clock: VirtualClock) -> None:
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic()))

    async with background(sleeper("late", 3), sleeper("early", 1), sleeper("middle", 2), sleeper("never", 9)):
        await clock.advance(5)

    assert woken == [("early", 1.0), ("middle", 2.0), ("late", 3.0)]
    assert clock.monotonic() == 5.0


async def test_a_chain_of_sleeps_inside_one_advance_is_exact(clock: VirtualClock) -> None:
    """A task that sleeps again right after waking does so from the time it woke at, not from the end of the advance."""
    ticks: list[float] = []

    async def ticker() -> None:
        while True:
            await clock.sleep(0.5)
            ticks.append(clock.monotonic())

    async with background(ticker()):
        await clock.advance(1.75)

    assert ticks == [0.5, 1.0, 1.5]


async def test_consequences_of_waking_happen_before_the_time_moves_on(clock: VirtualClock) -> None:
    """Tasks that hand on to each other through many turns of the loop see one and the same time."""
    seen: list[float] = []
    queues: list[asyncio.Queue[None]] = [asyncio.Queue() for _ in range(20)]

    async def relay(number: int) -> None:
        await queues[number].get()
        seen.append(clock.monotonic())
        if number + 1 < len(queues):
            queues[number + 1].put_nowait(None)

    clock.call_at(1.0, lambda: queues[0].put_nowait(None))
    async with background(*(relay(number) for number in range(20))):
        await clock.advance(100)

    assert seen == [1.0] * 20


async def test_wall_time_and_monotonic_time_advance_together(clock: VirtualClock) -> None:
    before = clock.now()

    await clock.advance(90.5)

    assert (clock.now() - before).total_seconds() == 90.5
    assert clock.now().tzinfo is not None


async def test_a_timer_called_off_does_not_call(clock: VirtualClock) -> None:
    called: list[str] = []
    timer = clock.call_at(1, lambda: called.append("off"))
    clock.call_at(1, lambda: called.append("on"))

    timer.cancel()
    await clock.advance(2)

    assert called == ["on"]


async def test_a_cancelled_sleeper_leaves_nothing_behind(clock: VirtualClock) -> None:
    async with background(clock.sleep(10)):
        await clock.run_until_idle()

    await clock.advance(20)

    assert clock.monotonic() == 20.0


async def test_run_lets_as_much_time_pass_as_the_job_needs(clock: VirtualClock) -> None:
    async def job() -> str:
        await clock.sleep(3600)
        await clock.sleep(60)
        return "done"

    assert await clock.run(job()) == "done"
    assert clock.monotonic() == 3660.0


async def test_run_says_when_no_time_helps(clock: VirtualClock) -> None:
    with pytest.raises(TimeoutError, match="virtual seconds"):
        await clock.run(asyncio.Event().wait())


async def test_run_hands_on_what_the_job_raises(clock: VirtualClock) -> None:
    async def job() -> None:
        await clock.sleep(1)
        raise LookupError("not here")

    with pytest.raises(LookupError, match="not here"):
        await clock.run(job())


async def test_the_system_clock_calls_back_in_the_next_turn_when_the_time_has_passed() -> None:
    clock = SystemClock()
    called = asyncio.Event()

    clock.call_at(clock.monotonic() - 1, called.set)

    assert not called.is_set()
    await called.wait()
