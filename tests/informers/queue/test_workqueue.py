"""The WorkQueue's promises, one by one."""

import asyncio
import math

import pytest

from informers.clock import SystemClock, VirtualClock
from informers.queue.facts import Delayed, Visited
from informers.queue.ratelimit import Exponential
from informers.queue.workqueue import QueueClosed, QueueEmpty, WorkQueue
from informers.tasks import background
from tests.informers.queue.conftest import drain

Queue = WorkQueue[str]


# One entry a key


def test_a_key_added_ten_times_is_visited_once(queue: Queue) -> None:
    for _ in range(10):
        queue.add("a")

    assert drain(queue) == ["a"]
    assert queue.statistics().adds == 1


def test_keys_are_visited_in_the_order_of_their_first_add(queue: Queue) -> None:
    for key in ("b", "a", "b", "c", "a"):
        queue.add(key)

    assert drain(queue) == ["b", "a", "c"]


def test_a_key_added_while_active_is_visited_once_more(queue: Queue) -> None:
    queue.add("a")
    with queue.take_nowait() as key:
        queue.add(key)
        queue.add(key)
        queue.add("b")

        assert len(queue) == 1, "an active key is not ready"

    assert drain(queue) == ["b", "a"]


def test_an_active_key_is_not_handed_out_a_second_time(queue: Queue) -> None:
    queue.add("a")
    with queue.take_nowait():
        queue.add("a")

        with pytest.raises(QueueEmpty), queue.take_nowait():
            pass


# Time


async def test_the_earlier_time_wins_whichever_comes_first(queue: Queue, clock: VirtualClock) -> None:
    queue.add_after("later first", 70)
    queue.add_after("later first", 30)
    queue.add_after("sooner first", 30)
    queue.add_after("sooner first", 70)

    await clock.advance(29.9)
    assert drain(queue) == []
    await clock.advance(0.1)
    assert drain(queue) == ["later first", "sooner first"]
    await clock.advance(1000)
    assert drain(queue) == []


async def test_a_timer_that_comes_late_makes_a_key_ready_once(queue: Queue, clock: VirtualClock) -> None:
    queue.add_after("a", 70)
    queue.add_after("a", 30)

    clock._elapsed = 100  # the loop was blocked
    await clock.run_until_idle()
    await clock.advance(0)
    assert drain(queue) == ["a"]
    assert queue.statistics().adds == 1


async def test_an_immediate_add_ends_the_waiting(queue: Queue, clock: VirtualClock) -> None:
    queue.add_after("a", 60)
    queue.add("a")

    assert drain(queue) == ["a"]
    await clock.advance(1000)
    assert drain(queue) == [], "the delayed visit was superseded"


async def test_a_delay_asked_for_during_a_visit_counts_from_then(queue: Queue, clock: VirtualClock) -> None:
    queue.add("a")
    with queue.take_nowait() as key:
        queue.add_after(key, 10)

    assert drain(queue) == []
    await clock.advance(10)
    assert drain(queue) == ["a"]


async def test_a_key_that_comes_due_while_active_is_visited_once_more(queue: Queue, clock: VirtualClock) -> None:
    queue.add("a")
    with queue.take_nowait() as key:
        queue.add_after(key, 1)
        await clock.advance(5)

    assert drain(queue) == ["a"]


async def test_a_delay_does_not_postpone_a_key_that_is_ready(queue: Queue, clock: VirtualClock) -> None:
    queue.add("a")
    queue.add_after("a", 5)

    assert drain(queue) == ["a"]
    await clock.advance(100)
    assert drain(queue) == []


@pytest.mark.parametrize("seconds", [0, -1, -math.inf])
def test_a_delay_of_nothing_is_now(queue: Queue, seconds: float) -> None:
    queue.add_after("a", seconds)

    assert drain(queue) == ["a"]


async def test_a_day_and_more_is_waited_for_exactly(queue: Queue, clock: VirtualClock) -> None:
    queue.add_after("a", 400_000)

    await clock.advance(399_999)
    assert drain(queue) == []
    await clock.advance(1)
    assert drain(queue) == ["a"]


async def test_a_delay_without_end_is_no_error_on_a_real_loop() -> None:
    queue: Queue = WorkQueue(clock=SystemClock())

    queue.add_after("a", math.inf)
    queue.add_after("b", 1e300)

    assert queue.statistics().waiting == 2
    queue.close()


async def test_real_timers_make_keys_ready() -> None:
    queue: Queue = WorkQueue(clock=SystemClock())
    queue.add_after("a", 0.001)

    async with asyncio.timeout(30), queue.take() as key:
        assert key == "a"


async def test_delays_that_are_always_superseded_take_no_memory(queue: Queue) -> None:
    for _ in range(10_000):
        queue.add_after("a", 3600)
        queue.add("a")
        drain(queue)
    for n in range(10_000):
        queue.add_after("b", 10_000 - n)

    assert len(queue._waiting._heap) < 100


def test_times_of_keys_that_were_visited_sooner_are_not_kept_either(queue: Queue) -> None:
    """Ten thousand keys that wait for a day, all changed before that: the heap held them till the next day."""
    for number in range(10_000):
        queue.add_after(str(number), 86_400)
    for number in range(9_999):
        queue.add(str(number))

    assert queue.statistics().waiting == 1
    assert len(queue._waiting._heap) < 100


def armed(clock: VirtualClock) -> int:
    """Count the timers that would still call."""
    return sum(timer.callback is not None for _, _, timer in clock._timers)


def test_one_timer_serves_all_that_wait(queue: Queue, clock: VirtualClock) -> None:
    for number in range(100):
        queue.add_after(str(number), 1000 - number)

    assert armed(clock) == 1


@pytest.mark.parametrize("end", ["add", "close"])
def test_no_timer_is_left_when_nothing_waits(queue: Queue, clock: VirtualClock, end: str) -> None:
    queue.add_after("a", 3600)
    if end == "add":
        queue.add("a")
    else:
        queue.close()

    assert armed(clock) == 0


async def test_failures_wait_longer_and_longer_until_forgotten(queue: Queue, clock: VirtualClock) -> None:
    delays = [queue.add_rate_limited("a") for _ in range(3)]
    queue.forget("a")
    delays.append(queue.add_rate_limited("a"))

    assert delays == [0.005, 0.01, 0.02, 0.005]
    await clock.advance(0.005)
    assert drain(queue) == ["a"], "forgetting drops the count, not the entry"


# Cancellation


async def test_a_taker_cancelled_while_waiting_takes_nothing_along(queue: Queue, clock: VirtualClock) -> None:
    async with background(visit(queue, [])) as [task]:
        await clock.run_until_idle()
        task.cancel()
        await clock.run_until_idle()
        queue.add("a")

    assert drain(queue) == ["a"]


async def test_a_taker_cancelled_just_as_it_was_woken_passes_the_key_on(queue: Queue, clock: VirtualClock) -> None:
    first: list[str] = []
    second: list[str] = []
    async with background(visit(queue, first), visit(queue, second)) as [task, _]:
        await clock.run_until_idle()
        queue.add("a")
        task.cancel()
        await clock.run_until_idle()

    assert (first, second) == ([], ["a"])


async def test_a_key_added_right_after_a_takers_cancellation_goes_to_the_next(
    queue: Queue, clock: VirtualClock
) -> None:
    first: list[str] = []
    second: list[str] = []
    async with background(visit(queue, first), visit(queue, second)) as [task, _]:
        await clock.run_until_idle()
        task.cancel()
        queue.add("a")
        await clock.run_until_idle()

        assert task.cancelled()

    assert (first, second) == ([], ["a"])


async def test_a_cancelled_visit_is_made_up_for(queue: Queue, clock: VirtualClock) -> None:
    queue.add("a")
    async with background(visit(queue, [], asyncio.Event())) as [task]:
        await clock.run_until_idle()
        assert queue.active() == ["a"]
        task.cancel()
        await clock.run_until_idle()

        assert drain(queue) == ["a"]


async def test_a_block_that_raises_lets_the_key_go(queue: Queue) -> None:
    queue.add("a")

    with pytest.raises(RuntimeError):
        async with queue.take():
            raise RuntimeError

    assert queue.active() == []
    assert drain(queue) == [], "what a failure means is the visitor's business"
    queue.add("a")
    assert drain(queue) == ["a"]


# The end


async def test_closing_hands_out_what_is_ready_and_drops_what_waits(queue: Queue, clock: VirtualClock) -> None:
    queue.add("a")
    queue.add("b")
    queue.add_after("c", 1)
    queue.close()
    queue.add("d")
    queue.add_after("e", 1)
    await clock.advance(10)

    visited: list[str] = []
    ends = [await visit(queue, visited) for _ in range(3)]

    assert visited == ["a", "b"]
    assert ends == ["done", "done", "closed"]


async def test_closing_without_draining_hands_out_nothing_more(queue: Queue) -> None:
    queue.add("a")
    queue.add("b")
    async with queue.take() as key:
        queue.add(key)
        queue.close(drain=False)

        with pytest.raises(QueueClosed), queue.take_nowait():
            pass

    assert queue.idle


async def test_closing_ends_the_wait_of_every_taker(queue: Queue, clock: VirtualClock) -> None:
    visited: list[str] = []
    async with background(*(visit(queue, visited) for _ in range(3))) as tasks:
        await clock.run_until_idle()
        queue.close()
        await clock.run_until_idle()

        assert [task.result() for task in tasks] == ["closed"] * 3


async def test_draining_waits_for_active_keys_and_for_those_that_became_dirty(
    queue: Queue, clock: VirtualClock
) -> None:
    queue.add("a")
    async with queue.take() as key:
        queue.add(key)
        queue.close()
        async with background(queue.wait_drained()) as [drained]:
            await clock.run_until_idle()
            assert not drained.done(), "a key is active"

    async with background(queue.wait_drained()) as [drained]:
        await clock.run_until_idle()
        assert not drained.done(), "it wanted one more visit"
        with queue.take_nowait() as key:
            assert key == "a"
        await clock.run_until_idle()
        assert drained.done()


async def test_a_closed_queue_keeps_takers_while_an_active_key_wants_another_visit(
    queue: Queue, clock: VirtualClock
) -> None:
    queue.add("a")
    visited: list[str] = []
    async with asyncio.TaskGroup() as group, queue.take() as key:
        queue.add(key)
        queue.close()
        takers = [group.create_task(visit(queue, visited)) for _ in range(3)]
        await clock.run_until_idle()

        assert not any(taker.done() for taker in takers)

    assert visited == ["a"]
    assert sorted(taker.result() for taker in takers) == ["closed", "closed", "done"]


async def test_idle_means_neither_ready_nor_active(queue: Queue, clock: VirtualClock) -> None:
    queue.add_after("b", 60)
    queue.add("a")
    async with background(queue.wait_idle()) as [idle]:
        await clock.run_until_idle()
        assert not idle.done()
        async with queue.take():
            await clock.run_until_idle()
            assert not idle.done()
        await clock.run_until_idle()
        assert idle.done()


# What can be seen


async def test_observers_learn_how_long_a_key_was_ready_and_how_long_it_took(clock: VirtualClock) -> None:
    facts: list[Visited[str] | Delayed[str]] = []
    queue: Queue = WorkQueue(clock=clock, limiter=Exponential(base=4), name="q", observer=facts.append)

    queue.add_rate_limited("a")
    await clock.advance(4)
    await clock.advance(2)
    async with queue.take():
        await clock.advance(3)

    assert facts == [Delayed("q", "a", 4, 1), Visited("q", "a", waited=2, took=3)]


async def test_statistics_show_every_state_and_the_longest_visit(queue: Queue, clock: VirtualClock) -> None:
    queue.add("a")
    queue.add("b")
    queue.add("c")
    queue.add_after("d", 60)
    with queue.take_nowait():
        await clock.advance(5)
        with queue.take_nowait():
            await clock.advance(1)
            seen = queue.statistics()

    assert (seen.ready, seen.active, seen.waiting) == (1, 2, 1)
    assert (seen.oldest_active, seen.unfinished) == (6, 7)
    assert (seen.adds, seen.delays, seen.visits, seen.closed) == (3, 1, 0, False)
    assert queue.statistics().visits == 2


async def visit(queue: Queue, visited: list[str], until: asyncio.Event | None = None) -> str:
    """Visit one key, staying with it until the event."""
    try:
        async with queue.take() as key:
            visited.append(key)
            if until is not None:
                await until.wait()
    except QueueClosed:
        return "closed"
    return "done"
