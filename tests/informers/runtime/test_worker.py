"""The worker: what each outcome of a visit leads to."""

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from informers.api.errors import Conflict, TerminalError, Undeclared, api_error
from informers.api.objects import Key, Object
from informers.api.status import Cause, Status, StatusDetails
from informers.cache.listers import Lister
from informers.cache.slices import Slices
from informers.cache.store import Store
from informers.clock import VirtualClock
from informers.queue.ratelimit import Exponential
from informers.queue.workqueue import WorkQueue
from informers.runtime.cluster import Cluster, World
from informers.runtime.contests import Contests
from informers.runtime.controller import Controller, controller
from informers.runtime.facts import Outcome, Reconciled, Undone
from informers.runtime.notes import WriteNotes
from informers.runtime.result import Result
from informers.runtime.worker import Work, work
from informers.tasks import background
from tests.informers.runtime.memory import MemoryServer
from tests.informers.runtime.objects import MEMBERS, TEAMS, made

KEY = Key("", "", "default", "blue")


class Bench:
    """One controller with one worker over a store that tests fill."""

    def __init__(self, made: Controller[Any], clock: VirtualClock, memory: MemoryServer) -> None:
        self.clock = clock
        self.memory = memory
        self.store: Store[Any] = Store()
        self.facts: list[Reconciled] = []
        self.undone: list[Undone] = []
        self.queue: WorkQueue[Key] = WorkQueue(clock=clock, limiter=Exponential(base=1, cap=8))
        objects = Lister(self.store, TEAMS, has_synced=lambda: True)
        self.notes = WriteNotes()
        self.shared = Work(
            made,
            self.queue,
            objects,
            World(made.name, "main", {"main": memory.server("main")}, {}, clock),
            self.notes,
            self.facts.append,
            clock,
            Contests(made.name, clock, self.undone.append),
        )

    def learn(self) -> None:
        """See what the server has."""
        obj = self.memory.get("blue")
        self.store.put(made(**{name: value for name, value in obj.items() if name not in ("apiVersion", "kind")}))

    async def visit(self) -> Reconciled:
        """Have the key visited once, and return how it went."""
        self.queue.add(KEY)
        async with background(work(self.shared)):
            await self.clock.run_until_idle()
        return self.last

    @property
    def last(self) -> Reconciled:
        return self.facts[-1]


Start = Callable[..., Bench]


@pytest.fixture
def start(clock: VirtualClock, memory: MemoryServer) -> Start:
    def begin(reconcile: Callable[[Object[Any], Cluster], Awaitable[Any]], **options: Any) -> Bench:
        memory.put("blue")
        bench = Bench(controller(TEAMS, name="team", **options)(reconcile), clock, memory)
        bench.learn()
        return bench

    return begin


def failing(error: BaseException) -> Callable[[Object[Any], Cluster], Awaitable[Any]]:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> None:
        raise error

    return reconcile


async def test_success_forgets_failures_and_waits_for_the_next_change(start: Start, clock: VirtualClock) -> None:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> None:
        assert (obj.name, cluster.name) == ("blue", "")

    bench = start(reconcile)
    bench.queue.limiter.next(KEY)

    seen = await bench.visit()

    assert (seen.controller, seen.key, seen.outcome, seen.attempt) == ("team", KEY, Outcome.SUCCESS, 2)
    assert (seen.retry_in, seen.error, seen.writes) == (None, None, ())
    assert bench.queue.limiter.failures(KEY) == 0
    assert bench.queue.statistics().waiting == 0


async def test_errors_come_back_with_growing_delays(start: Start, clock: VirtualClock) -> None:
    bench = start(failing(RuntimeError("no luck")))
    bench.queue.add(KEY)
    async with background(work(bench.shared)):
        await clock.advance(1 + 2 + 4 + 8 + 8)

    seen = [(fact.attempt, fact.outcome, fact.retry_in) for fact in bench.facts]
    assert seen == [(n + 1, Outcome.ERROR, delay) for n, delay in enumerate([1, 2, 4, 8, 8, 8])]
    assert str(bench.last.error) == "no luck"


async def test_a_terminal_error_waits_for_a_change_and_keeps_the_count(start: Start, clock: VirtualClock) -> None:
    bench = start(failing(TerminalError("never")))
    bench.queue.limiter.next(KEY)

    seen = await bench.visit()

    assert (seen.outcome, seen.retry_in) == (Outcome.TERMINAL, None)
    assert bench.queue.statistics().waiting == 0
    assert bench.queue.limiter.failures(KEY) == 1


async def test_a_group_of_terminal_errors_is_terminal_and_a_mixed_one_is_not(start: Start) -> None:
    bench = start(failing(ExceptionGroup("both", [TerminalError(), TerminalError()])))
    assert (await bench.visit()).outcome is Outcome.TERMINAL

    bench = start(failing(ExceptionGroup("both", [TerminalError(), RuntimeError()])))
    assert (await bench.visit()).outcome is Outcome.ERROR


async def test_what_only_another_code_would_declare_is_not_tried_again(start: Start) -> None:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> None:
        cluster.lister(MEMBERS)

    seen = await start(reconcile).visit()

    assert (seen.outcome, seen.retry_in, type(seen.error)) == (Outcome.TERMINAL, None, Undeclared)


async def test_requeue_after_is_a_clock_and_no_failure(start: Start, clock: VirtualClock) -> None:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        return Result(requeue_after=60)

    bench = start(reconcile)
    bench.queue.limiter.next(KEY)
    bench.queue.add(KEY)
    async with background(work(bench.shared)):
        await clock.advance(120)

    assert [(f.outcome, f.retry_in, f.attempt) for f in bench.facts[1:]] == [(Outcome.REQUEUED, 60, 1)] * 2


async def test_a_visit_that_takes_too_long_is_cancelled_and_retried(start: Start, clock: VirtualClock) -> None:
    cleaned = []

    async def reconcile(obj: Object[Any], cluster: Cluster) -> None:
        try:
            await clock.sleep(100)
        finally:
            cleaned.append(clock.monotonic())

    bench = start(reconcile, timeout=5)
    bench.queue.add(KEY)
    async with background(work(bench.shared)):
        await clock.advance(5)

    assert (bench.last.outcome, bench.last.retry_in, bench.last.took) == (Outcome.TIMEOUT, 1, 5)
    assert cleaned == [5]


async def test_a_timeout_of_the_users_own_is_an_ordinary_error(start: Start) -> None:
    bench = start(failing(TimeoutError("theirs")), timeout=5)

    seen = await bench.visit()

    assert (seen.outcome, str(seen.error)) == (Outcome.ERROR, "theirs")


async def test_an_escaped_cancellation_is_an_error_and_the_worker_lives_on(start: Start, clock: VirtualClock) -> None:
    """A worker that died of it would leave a process that looks healthy and does nothing."""
    bench = start(failing(asyncio.CancelledError()))
    bench.queue.add(KEY)
    async with background(work(bench.shared)) as [worker]:
        await clock.advance(1)

        assert not worker.done()

    assert [fact.outcome for fact in bench.facts] == [Outcome.ERROR] * 2


async def test_exit_in_a_reconciler_fails_the_visit_and_ends_nothing(start: Start, clock: VirtualClock) -> None:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> None:
        sys.exit("no license")

    bench = start(reconcile)
    bench.queue.add(KEY)
    async with background(work(bench.shared)) as [worker]:
        await clock.advance(1)

        assert not worker.done()

    assert [fact.outcome for fact in bench.facts] == [Outcome.ERROR] * 2
    assert str(bench.last.error).startswith("the reconciler called sys.exit('no license'), which fails the visit")
    assert traceback.extract_tb(bench.last.error.__traceback__)[-1].name == "reconcile"  # type: ignore[union-attr]


async def test_a_worker_whose_reconciler_swallows_its_cancellation_ends_with_the_visit(
    start: Start, clock: VirtualClock
) -> None:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> None:
        with suppress(asyncio.CancelledError):
            await clock.sleep(10)

    bench = start(reconcile)
    bench.queue.add(KEY)
    async with background(work(bench.shared)) as [worker]:
        await clock.advance(5)
        bench.queue.add(Key("", "", "default", "red"))

    assert worker.cancelled()
    assert [(fact.key, fact.outcome) for fact in bench.facts] == [(KEY, Outcome.SUCCESS)]


async def test_a_wish_is_committed_and_noted(start: Start, memory: MemoryServer) -> None:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        return Result(status={"members": 1})

    bench = start(reconcile)
    seen = await bench.visit()

    assert memory.get("blue")["status"] == {"members": 1}
    [write] = seen.writes
    assert (write.key, write.verb, write.rv) == (KEY, "patch", memory.get("blue")["metadata"]["resourceVersion"])
    assert bench.notes.of(KEY) == (write,)

    bench.learn()
    assert (await bench.visit()).writes == ()
    assert len(memory.writes) == 1


async def test_a_wish_that_comes_with_an_error_is_written_and_retried(start: Start, memory: MemoryServer) -> None:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        return Result(status={"message": "half of it"}, error=LookupError("the other half"), requeue_after=60)

    seen = await start(reconcile).visit()

    assert (seen.outcome, str(seen.error), seen.retry_in) == (Outcome.ERROR, "the other half", 1)
    assert memory.get("blue")["status"] == {"message": "half of it"}


async def test_writes_of_the_reconciler_itself_are_noted_even_if_it_fails(start: Start, memory: MemoryServer) -> None:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> None:
        await cluster.client.patch(TEAMS, "blue", {"spec": {"size": 1}}, namespace="default")
        raise RuntimeError

    bench = start(reconcile)
    seen = await bench.visit()

    assert (seen.outcome, [write.verb for write in seen.writes]) == (Outcome.ERROR, ["patch"])
    assert len(bench.notes.of(KEY)) == 1


async def test_a_conflict_is_a_quick_retry_without_an_error(start: Start, memory: MemoryServer) -> None:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        return Result(status={"members": obj.at("spec", "size", default=0)})

    bench = start(reconcile)
    memory.put("blue", spec={"size": 4})

    seen = await bench.visit()
    assert (seen.outcome, seen.error, seen.retry_in) == (Outcome.CONFLICT, None, 1)
    bench.learn()
    assert (await bench.visit()).outcome is Outcome.SUCCESS
    assert memory.get("blue")["status"] == {"members": 4}


def conflict(reason: str, cause: str = "") -> Conflict:
    causes = [Cause(reason=cause)] if cause else []
    error = api_error(Status(code=409, reason=reason, details=StatusDetails(causes=causes)))
    assert isinstance(error, Conflict)
    return error


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (conflict("Conflict"), Outcome.CONFLICT),
        (conflict("AlreadyExists"), Outcome.ERROR),
        (conflict("Conflict", "FieldManagerConflict"), Outcome.ERROR),
    ],
)
async def test_only_conflicts_that_go_away_by_themselves_are_quiet(
    start: Start, error: Conflict, outcome: Outcome
) -> None:
    assert (await start(failing(error)).visit()).outcome is outcome


async def test_the_object_is_the_newest_at_the_visit_and_the_status_is_compared_with_the_newest_at_its_end(
    start: Start, memory: MemoryServer
) -> None:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        memory.put("blue", spec={"size": 2})
        bench.learn()
        return Result(status={"members": obj.generation})

    bench = start(reconcile)
    seen = await bench.visit()

    assert seen.outcome is Outcome.SUCCESS
    assert memory.get("blue")["status"] == {"members": 1}


async def test_an_object_that_went_during_the_visit_is_not_written(start: Start, memory: MemoryServer) -> None:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        bench.store.drop(obj.key)
        return Result(status={"members": 1})

    bench = start(reconcile)

    assert (await bench.visit()).outcome is Outcome.SUCCESS
    assert memory.writes == []


async def test_a_key_without_an_object_ends_quietly(start: Start) -> None:
    bench = start(failing(RuntimeError()))
    bench.store.drop(KEY)
    bench.queue.limiter.next(KEY)

    assert (await bench.visit()).outcome is Outcome.GONE
    assert bench.queue.limiter.failures(KEY) == 0


async def test_a_controller_may_care_for_what_is_gone(start: Start) -> None:
    gone: list[tuple[Key, str]] = []

    async def bury(key: Key, cluster: Cluster) -> Result:
        gone.append((key, cluster.name))
        return Result(requeue_after=5)

    bench = start(failing(RuntimeError()), gone=bury)
    bench.store.drop(KEY)
    seen = await bench.visit()

    assert gone == [(KEY, "")]
    assert (seen.outcome, seen.retry_in) == (Outcome.REQUEUED, 5)


async def test_a_result_of_another_kind_is_an_error_that_names_it(start: Start) -> None:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Any:
        return {"status": {}}

    seen = await start(reconcile).visit()

    assert str(seen.error) == "expected a Result or None from the reconciler, found dict"


async def test_a_cancelled_worker_leaves_its_key_to_the_next(start: Start, clock: VirtualClock) -> None:
    async def reconcile(obj: Object[Any], cluster: Cluster) -> None:
        await clock.sleep(10)

    bench = start(reconcile)
    bench.queue.add(KEY)
    async with background(work(bench.shared)):
        await clock.advance(5)
    async with background(work(bench.shared)):
        await clock.advance(10)

    assert [fact.outcome for fact in bench.facts] == [Outcome.SUCCESS]


async def test_visits_that_wait_for_nothing_let_others_run_all_the_same(start: Start) -> None:
    """Twenty thousand objects that are as they should be, after a start: nothing else ran before the last visit."""

    async def reconcile(obj: Object[Any], cluster: Cluster) -> None: ...

    bench = start(reconcile)
    shared = msgspec.structs.replace(bench.shared, slices=Slices(0))
    for number in range(5):
        bench.queue.add(Key("", "", "default", f"team-{number}"))
    visited = []

    async with background(work(shared)):
        while not bench.queue.idle:
            visited.append(len(bench.facts))
            await asyncio.sleep(0)

    assert visited == [0, 0, 1, 2, 3, 4]
