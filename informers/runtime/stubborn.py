"""Jobs with an author's code in them: once cancelled they have a while to clean up, and are left behind after that."""

from asyncio import CancelledError, Task, wait
from collections.abc import Callable, Coroutine
from typing import Any

from informers.clock import Clock
from informers.tasks import apart, first

CLEAN_UP_WITHIN = 1.0
"""Seconds that cancelled jobs have to clean up."""


async def run_or_leave(job: Coroutine[Any, Any, None], clock: Clock, left: Callable[[], None]) -> None:
    """Run the job to its end; when cancelled, cancel it, wait a while, and call `left` if it goes on all the same.

    Nothing can end a coroutine that swallows its cancellation; a TaskGroup would wait for it for ever.
    """
    task = apart(job)
    try:
        await wait((task,))
    except CancelledError:
        task.cancel()
        await first(_ended(task), clock.sleep(CLEAN_UP_WITHIN))
        if not task.done():
            left()
            raise
        if task.cancelled() or task.exception() is None:
            raise
    task.result()


async def _ended(task: Task[None]) -> None:
    await wait((task,))
