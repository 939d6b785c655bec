"""The WorkQueue against a model of it, under any mix of adds, delays, visits, cancellations and closing."""

import asyncio
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from informers.clock import VirtualClock
from informers.queue.ratelimit import Exponential
from informers.queue.workqueue import QueueClosed, WorkQueue

KEYS = st.sampled_from("abcd")
SECONDS = st.integers(0, 12).map(lambda quarters: quarters / 4)


class Taker:
    """A worker that stays with its key until told how to leave."""

    def __init__(self, loop: asyncio.AbstractEventLoop, queue: WorkQueue[str]) -> None:
        self.key: str | None = None
        self.closed = False
        self.leave: asyncio.Future[None] = loop.create_future()
        self.task = loop.create_task(self.visit(queue))

    async def visit(self, queue: WorkQueue[str]) -> None:
        try:
            async with queue.take() as key:
                self.key = key
                await self.leave
        except QueueClosed:
            self.closed = True
        except RuntimeError:
            pass  # what `fail` threw in


class QueueMachine(RuleBasedStateMachine):
    """Every rule does the same to the queue and to the model, lets the loop come to rest, and compares."""

    @initialize()
    def begin(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.clock = VirtualClock()
        self.queue: WorkQueue[str] = WorkQueue(clock=self.clock, limiter=Exponential(base=0.25, cap=2))
        self.takers: list[Taker] = []
        self.ready: list[str] = []
        self.again: set[str] = set()
        self.due: dict[str, float] = {}
        self.active: set[str] = set()
        self.failures: dict[str, int] = {}
        self.idle_takers = 0
        self.open = True
        self.steps = 0

    def run(self, awaitable: Any) -> None:
        self.loop.run_until_complete(awaitable)

    def rest(self) -> None:
        self.run(self.clock.run_until_idle())

    # The model

    def model_add(self, key: str) -> None:
        if not self.open:
            return
        self.due.pop(key, None)
        if key in self.active:
            self.again.add(key)
        elif key not in self.ready:
            self.ready.append(key)

    def model_delay(self, key: str, seconds: float) -> None:
        if seconds <= 0:
            self.model_add(key)
        elif self.open and key not in self.ready and key not in self.again:
            due = self.clock.monotonic() + seconds
            if due < self.due.get(key, due + 1):
                self.due.pop(key, None)
                self.due[key] = due

    def model_let_go(self, key: str, *, undone: bool) -> None:
        self.active.remove(key)
        if key in self.again:
            self.again.remove(key)
            self.ready.append(key)
        elif undone:
            self.model_add(key)

    def model_hand_out(self) -> None:
        while self.ready and self.idle_takers:
            self.active.add(self.ready.pop(0))
            self.idle_takers -= 1
        if not self.open and not self.ready and not self.again:
            self.idle_takers = 0

    def after(self) -> None:
        self.steps += 1
        self.rest()
        self.model_hand_out()

    # What may happen

    @rule(key=KEYS)
    def add(self, key: str) -> None:
        self.queue.add(key)
        self.model_add(key)
        self.after()

    @rule(key=KEYS, seconds=SECONDS)
    def add_after(self, key: str, seconds: float) -> None:
        self.queue.add_after(key, seconds)
        self.model_delay(key, seconds)
        self.after()

    @rule(key=KEYS)
    def add_rate_limited(self, key: str) -> None:
        delay = min(0.25 * 2 ** self.failures.get(key, 0), 2)
        self.failures[key] = self.failures.get(key, 0) + 1

        assert self.queue.add_rate_limited(key) == delay
        self.model_delay(key, delay)
        self.after()

    @rule(key=KEYS)
    def forget(self, key: str) -> None:
        self.queue.forget(key)
        self.failures.pop(key, None)
        self.after()

    @rule(seconds=SECONDS)
    def advance(self, seconds: float) -> None:
        now = self.clock.monotonic() + seconds
        self.run(self.clock.advance(seconds))
        for key, due in sorted(self.due.items(), key=lambda item: item[1]):
            if due <= now:
                self.model_add(key)
        self.after()

    @rule()
    def take(self) -> None:
        self.takers.append(Taker(self.loop, self.queue))
        self.idle_takers += 1
        self.after()

    @precondition(lambda self: self.active)
    @rule(data=st.data(), how=st.sampled_from(["done", "failed", "cancelled"]))
    def leave(self, data: st.DataObject, how: str) -> None:
        taker = data.draw(st.sampled_from([t for t in self.takers if t.key and not t.task.done()]), "taker")
        if how == "done":
            taker.leave.set_result(None)
        elif how == "failed":
            taker.leave.set_exception(RuntimeError())
        else:
            taker.task.cancel()
        self.model_let_go(taker.key or "", undone=how == "cancelled")
        self.after()

    @precondition(lambda self: self.idle_takers)
    @rule(data=st.data(), key=KEYS, woken=st.booleans())
    def cancel_a_waiting_taker(self, data: st.DataObject, key: str, woken: bool) -> None:
        taker = data.draw(st.sampled_from([t for t in self.takers if not t.key and not t.task.done()]), "taker")
        if woken:  # the key is there, the taker has not had its turn yet
            self.queue.add(key)
            self.model_add(key)
        taker.task.cancel()
        self.idle_takers -= 1
        self.after()

    @precondition(lambda self: self.steps > 25)
    @rule(drain=st.booleans())
    def close(self, drain: bool) -> None:
        self.queue.close(drain=drain)
        self.open = False
        self.due.clear()
        if not drain:
            self.ready.clear()
            self.again.clear()
        self.after()

    # What always holds

    @invariant()
    def the_queue_is_as_the_model_says(self) -> None:
        seen = self.queue.statistics()
        holding = [t.key for t in self.takers if t.key and not t.task.done()]

        assert sorted(holding) == sorted(self.active), "no key twice, none forgotten"
        assert set(self.queue.active()) == self.active
        assert list(self.queue._order._keys) == self.ready  # type: ignore[attr-defined]
        assert self.queue._waiting.times == self.due
        assert set(self.queue._dirty) == {*self.ready, *self.again}
        assert (seen.ready, seen.active, seen.waiting) == (len(self.ready), len(self.active), len(self.due))
        assert self.queue.idle == (not self.ready and not self.active)

    @invariant()
    def no_taker_waits_beside_a_ready_key(self) -> None:
        waiting = [t for t in self.takers if not t.key and not t.task.done()]

        assert len(waiting) == self.idle_takers
        assert not (waiting and self.ready)

    @invariant()
    def a_timer_is_armed_for_the_earliest_time(self) -> None:
        if self.due:
            assert self.queue._waiting._armed_for <= min(self.due.values())
            assert self.queue._waiting._timer is not None

    def teardown(self) -> None:
        if not hasattr(self, "loop"):
            return
        for taker in self.takers:
            taker.task.cancel()
        self.rest()
        for taker in self.takers:
            assert taker.task.cancelled() or taker.task.exception() is None
        self.loop.close()


QueueMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=50, deadline=None)
test_any_history_of_a_queue = QueueMachine.TestCase
