"""Tasks that run beside a block and end with it, or with the one who keeps them."""

from asyncio import FIRST_COMPLETED, CancelledError, Task, TaskGroup, get_running_loop, wait
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


@asynccontextmanager
async def background(*jobs: Coroutine[Any, Any, Any]) -> AsyncIterator[list[Task[Any]]]:
    """Run the coroutines beside the block; leaving it cancels them and waits until they have ended.

    A job that raises cancels the block; its error comes out bare when it is the only one, else as an ExceptionGroup.
    """
    failure: BaseException | None = None
    try:
        async with TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
            try:
                yield tasks
            finally:
                for task in tasks:
                    task.cancel()
    except BaseExceptionGroup as errors:
        failure = _only(errors)
        if failure is None:
            raise
    if failure is not None:
        raise failure  # out here, where it keeps its own cause and context


def _only(errors: BaseExceptionGroup[BaseException]) -> BaseException | None:
    """Return the one error in a TaskGroup's group, also through groups of other TaskGroups; None if there are more."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup) and (error is errors or error.message == errors.message):
        if len(error.exceptions) != 1:
            return None
        error = error.exceptions[0]
    return None if isinstance(error, CancelledError) else error


async def first(*jobs: Coroutine[Any, Any, Any]) -> None:
    """Wait until one of the coroutines has ended, and cancel the others; an error of any of them comes out."""
    async with background(*jobs) as tasks:
        await wait(tasks, return_when=FIRST_COMPLETED)


async def together(*jobs: Coroutine[Any, Any, Any]) -> None:
    """Wait until all of the coroutines have ended; the first error cancels the others and comes out."""
    async with background(*jobs) as tasks:
        if tasks:
            await wait(tasks)


def apart(job: Coroutine[Any, Any, T]) -> Task[T]:
    """Start what must outlive the block that asks for it; whoever keeps the task has an `aclose` that `ended`s it."""
    return get_running_loop().create_task(job)


async def ended(task: Task[Any]) -> None:
    """Cancel the task, and wait until it has ended; its outcome stays with it."""
    task.cancel()
    await wait((task,))
