"""The worker: takes a key, lets the reconciler wish, makes the wish true, and decides when to come back."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec

from informers.api.errors import AlreadyExists, Conflict, TerminalError, Undeclared, is_kind
from informers.api.objects import Key, Object
from informers.cache.listers import Lister
from informers.cache.slices import Slices
from informers.client.records import Write
from informers.clock import Clock
from informers.queue.workqueue import QueueClosed, WorkQueue
from informers.runtime.cluster import Cluster, World
from informers.runtime.commit import Committed, Target, commit
from informers.runtime.contests import Contests
from informers.runtime.controller import Controller
from informers.runtime.facts import Outcome, Reconciled
from informers.runtime.notes import WriteNotes
from informers.runtime.result import Result

T = TypeVar("T")


class Verdict(msgspec.Struct, frozen=True):
    """How a visit ended, and what it asks for."""

    outcome: Outcome
    requeue_after: float = 0.0
    error: BaseException | None = None


class Work(msgspec.Struct, Generic[T], frozen=True):
    """All that the workers of one controller share."""

    controller: Controller[T]
    queue: WorkQueue[Key]
    objects: Lister[T]
    """Its own resource, over all clusters."""
    world: World
    notes: WriteNotes
    notice: Callable[[Reconciled], None]
    """Told of each visit."""
    clock: Clock
    contests: Contests
    slices: Slices = msgspec.field(default_factory=Slices)
    """When others must have a turn; the workers of all controllers of a Manager share them."""


async def work(shared: Work[Any]) -> None:
    """Visit keys, one after the other, until the queue is closed.

    Visits that find nothing to do wait for nothing: thousands of them in a row would hold the loop. So would many
    workers that begin at once. A cancellation that a reconciler swallows is made good: it was the worker's.
    """
    while not _being_cancelled():
        try:
            async with shared.queue.take() as key:
                if shared.slices.over():
                    await shared.slices.turn()
                await _visit(shared, key)
        except QueueClosed:
            return
    raise asyncio.CancelledError


async def _visit(shared: Work[Any], key: Key) -> None:
    attempt = shared.queue.limiter.failures(key) + 1
    started = shared.clock.monotonic()
    writes: list[Write] = []
    try:
        verdict = await _judge(shared, key, writes)
    finally:
        shared.notes.keep(key, writes)
    retry_in = settle(shared.queue, key, verdict)
    took = shared.clock.monotonic() - started
    shared.notice(
        Reconciled(shared.controller.name, key, attempt, took, verdict.outcome, retry_in, verdict.error, tuple(writes))
    )


def settle(queue: WorkQueue[Key], key: Key, verdict: Verdict) -> float | None:
    """Decide when the key is visited again; return the delay in seconds, None where only a change brings it back.

    This is the whole retry policy. Only what went well resets the backoff; a terminal error keeps it, so that a change
    which leads to an error again does not start from the shortest delay.
    """
    match verdict.outcome:
        case Outcome.SUCCESS | Outcome.GONE:
            queue.forget(key)
            return None
        case Outcome.REQUEUED | Outcome.UNDONE:
            queue.forget(key)
            queue.add_after(key, verdict.requeue_after)
            return verdict.requeue_after
        case Outcome.TERMINAL:
            return None
        case Outcome.CONFLICT | Outcome.ERROR | Outcome.TIMEOUT:
            return queue.add_rate_limited(key)


async def _judge(shared: Work[Any], key: Key, writes: list[Write]) -> Verdict:
    """Reconcile the key's newest object, and commit the wish; whatever the user's code raises becomes a verdict."""
    limit = shared.controller.timeout
    scope = asyncio.timeout(None) if limit is not None else None
    try:
        if scope is None or limit is None:
            return await _reconcile(shared, key, writes)
        async with scope:
            with _deadline(scope, shared.clock, limit):
                return await _reconcile(shared, key, writes)
    except asyncio.CancelledError:
        if _being_cancelled():
            raise
        return Verdict(Outcome.ERROR, error=RuntimeError("the reconciler let a CancelledError of its own escape"))
    except SystemExit as error:  # it would end the loop at once, with everything else that runs in the process
        return Verdict(Outcome.ERROR, error=_exiting(error))
    except Exception as error:  # noqa: BLE001 - the user's code: any error is a verdict on this key, not on the process
        if scope is not None and scope.expired():
            return Verdict(Outcome.TIMEOUT, error=TimeoutError(f"expected the visit to end within {limit} s"))
        return _verdict_on(error)


def _exiting(error: SystemExit) -> RuntimeError:
    """Return the error of a visit that wanted to end the process, a decision that is the program's around it.

    So controller-runtime does with a panic; `os._exit` is there for those who know better, as `os.Exit` is in Go.
    """
    code = f"{error.code!r}" if error.code is not None else ""
    told = RuntimeError(
        f"the reconciler called sys.exit({code}), which fails the visit; signal.raise_signal(signal.SIGTERM) stops "
        "the process in order"
    )
    return told.with_traceback(error.__traceback__)


def _verdict_on(error: Exception) -> Verdict:
    if is_kind(error, TerminalError, Undeclared):  # what is not declared is not there before the code is another
        return Verdict(Outcome.TERMINAL, error=error)
    if isinstance(error, Conflict) and _is_race(error):
        return Verdict(Outcome.CONFLICT)
    return Verdict(Outcome.ERROR, error=error)


def _is_race(error: Conflict) -> bool:
    """Say whether the newer object, which is on its way, settles it; a taken name or field manager does not go away."""
    causes = error.status.details.causes if error.status.details else []
    return not isinstance(error, AlreadyExists) and all(cause.reason != "FieldManagerConflict" for cause in causes)


async def _reconcile(shared: Work[Any], key: Key, writes: list[Write]) -> Verdict:
    cluster = Cluster(key.cluster, shared.world, writes.append)
    shared.notes.expect_nothing(key)
    seen = _find(shared, key)
    if seen is None:
        if shared.controller.gone is None:
            return Verdict(Outcome.GONE)
        return _verdict_of(_checked(await shared.controller.gone(key, cluster)))
    result = _checked(await shared.controller.reconcile(seen, cluster))
    committed = await _commit(shared, cluster, seen, result)
    if committed is Committed.OUTDATED:
        return Verdict(Outcome.CONFLICT)
    if committed is Committed.PAUSED and result.error is None:
        pause = shared.contests.pause(seen, result)
        return Verdict(Outcome.UNDONE, pause if result.requeue_after is None else min(pause, result.requeue_after))
    return _verdict_of(result)


def _verdict_of(result: Result) -> Verdict:
    if result.error is not None:
        return _verdict_on(result.error)
    if result.requeue_after is not None:
        return Verdict(Outcome.REQUEUED, result.requeue_after)
    return Verdict(Outcome.SUCCESS)


async def _commit(shared: Work[T], cluster: Cluster, seen: Object[T], result: Result) -> Committed:
    if result.status is None and result.fields is None:
        return Committed.TRUE
    newest = _find(shared, seen.key)
    if newest is None:
        return Committed.GONE
    work = shared.controller
    client = cluster.client.shard(newest.key.shard) if newest.key.shard else cluster.client
    wrote = None if work.echoes else partial(_expect, shared)
    to = Target(work.resource, client, work.name, shared.clock.now(), shared.contests, wrote)
    return await commit(seen, newest, result, to=to)


def _expect(shared: Work[T], old: Object[T], written: Object[T]) -> None:
    """Expect the event of a commit, unless it is here already."""
    known = _find(shared, written.key)
    if known is None or known.rv != written.rv:
        shared.notes.expect(old, written)


def _find(shared: Work[T], key: Key) -> Object[T] | None:
    return shared.objects.cluster(key.cluster).find(key.name, key.namespace)


def _checked(result: Result | None) -> Result:
    if result is None:
        return _NOTHING
    if not isinstance(result, Result):
        raise TypeError(f"expected a Result or None from the reconciler, found {type(result).__name__}")
    return result


_NOTHING = Result()


def _being_cancelled() -> bool:
    """Say whether somebody cancels this task; if not, a CancelledError is only the user's code letting one escape."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


@contextmanager
def _deadline(scope: asyncio.Timeout, clock: Clock, seconds: float) -> Iterator[None]:
    """Have the scope expire after that many seconds of the clock, if the block lasts so long."""
    loop = asyncio.get_running_loop()
    timer = clock.call_at(clock.monotonic() + seconds, lambda: scope.reschedule(loop.time()))
    try:
        yield
    finally:
        timer.cancel()
