"""Tasks beside a block: ended with it, and never silently dead."""

import asyncio

import pytest

from informers.clock import VirtualClock
from informers.tasks import apart, background, ended, first, together


async def fails(error: BaseException) -> None:
    raise error


async def test_leaving_the_block_cancels_the_jobs_and_waits_for_their_end() -> None:
    ended = []

    async def job() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    async with background(job(), job()) as tasks:
        await asyncio.sleep(0)

    assert ended == [True, True]
    assert all(task.cancelled() for task in tasks)


async def test_a_job_that_raises_ends_the_block_and_its_error_comes_out_bare_with_its_cause() -> None:
    cause = LookupError("cause")

    async def job() -> None:
        raise RuntimeError("job") from cause

    with pytest.raises(RuntimeError, match="job") as raised:
        async with background(together(job())):
            await asyncio.Event().wait()

    assert raised.value.__cause__ is cause


async def test_an_error_of_the_block_comes_out_and_a_group_that_was_raised_as_one_stays_one() -> None:
    with pytest.raises(LookupError):
        async with background(asyncio.sleep(0)):
            raise LookupError
    with pytest.raises(ExceptionGroup, match="mine"):
        async with background(fails(ExceptionGroup("mine", [LookupError()]))):
            await asyncio.Event().wait()


async def test_several_errors_come_out_together() -> None:
    async def fails_when_cancelled() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise LookupError

    with pytest.raises(ExceptionGroup) as raised:
        await together(fails_when_cancelled(), fails(RuntimeError()))

    assert {type(error) for error in raised.value.exceptions} == {LookupError, RuntimeError}


async def test_a_cancelled_block_is_cancelled_and_not_a_group() -> None:
    async def block() -> None:
        async with background(asyncio.Event().wait()):
            await asyncio.Event().wait()

    task = asyncio.ensure_future(block())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_first_ends_with_the_fastest_and_cancels_the_rest() -> None:
    clock = VirtualClock()
    slow = []

    async def job() -> None:
        await clock.sleep(9)
        slow.append(True)

    async with background(first(clock.sleep(2), job())) as [task]:
        await clock.advance(2)
        assert task.done()
        await clock.advance(10)

    assert slow == []


async def test_together_ends_with_the_slowest_or_with_the_first_error() -> None:
    clock = VirtualClock()

    async with background(together(clock.sleep(1), clock.sleep(3)), together()) as [task, nothing]:
        await clock.advance(2)
        assert not task.done()
        assert nothing.done()
        await clock.advance(1)
        assert task.done()

    with pytest.raises(LookupError):
        await together(clock.sleep(1), fails(LookupError()))


async def test_a_task_apart_outlives_who_started_it_until_it_is_ended() -> None:
    async def job() -> None:
        await asyncio.Event().wait()

    async def starter() -> asyncio.Task[None]:
        return apart(job())

    async with background(starter()) as [starting]:
        task = await starting

    assert not task.done()
    await ended(task)
    assert task.cancelled()
