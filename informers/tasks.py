"""Tasks that run beside a block and end with it."""

from asyncio import FIRST_COMPLETED, CancelledError, Task, TaskGroup, wait
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def background(*jobs: Coroutine[Any, Any, Any]) -> AsyncIterator[list[Task[Any]]]:
    """Run the coroutines beside the block; leaving it cancels them and waits until they have ended.

    A job that raises cancels the block; its error comes out bare when it is the only one, else as an ExceptionGroup.
    """
    try:
        async with TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
            try:
                yield tasks
            finally:
                for task in tasks:
                    task.cancel()
    except BaseExceptionGroup as errors:
        if len(errors.exceptions) == 1 and not isinstance(errors.exceptions[0], CancelledError):
            raise errors.exceptions[0] from None
        raise


async def first(*jobs: Coroutine[Any, Any, Any]) -> None:
    """Wait until one of the coroutines has ended, and cancel the others; an error of any of them comes out."""
    async with background(*jobs) as tasks:
        await wait(tasks, return_when=FIRST_COMPLETED)
