"""One process from start to end: its event loop, its signals, and the line that says why it could not go on."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, TypeVar, cast

from informers.api.errors import ConfigurationError, InformersError
from informers.tasks import background

T = TypeVar("T")

Job = Callable[[asyncio.Event], Awaitable[None]]
"""What a process is for; it ends in order soon after the event is set."""

EXIT_FAILED = 1
"""Exit code of a process that cannot go on, for no fault of its settings."""
EXIT_AT_ONCE = 130
"""Exit code after a second signal, as shells count an interrupted command."""

_PATIENCE = 0.5
"""Seconds that what is left has to clean up: after a second signal, and after the job."""


class Stopped(Exception):
    """A stop was asked for before the process had begun its work."""


async def unless_stopped(job: Coroutine[Any, Any, T], stop: asyncio.Event) -> T:
    """Return what the job returns; raises `Stopped` when the stop comes first, and cancels the job."""
    async with background(job, stop.wait()) as tasks:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    working = tasks[0]
    if working.cancelled():
        raise Stopped
    return cast("T", working.result())


def run_process(job: Job) -> int:
    """Run the job until it ends, or until a signal asks it to, and return the exit code.

    The first SIGINT or SIGTERM asks the job to stop, the second cancels it and ends the process at once. What the job
    leaves running, such as a reconcile that swallows its cancellation, ends with the process soon after it. Raises
    `ConfigurationError`; other failures that have a name are one line on stderr.
    """
    try:
        with ExitStack() as closing, asyncio.Runner(loop_factory=_loop_factory()) as runner:
            code = runner.run(_until_signalled(job))
            closing.callback(_end_soon(code).cancel)
            return code
    except ConfigurationError:
        raise
    except InformersError as error:
        print(f"kcpctl: {error}", file=sys.stderr)
        return EXIT_FAILED


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's loops where it is installed: a start takes a quarter less of the processor, a request a tenth."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _until_signalled(job: Job) -> int:
    stop = asyncio.Event()
    current = asyncio.current_task()
    assert current is not None  # a coroutine of a Runner is a task
    with _signals(stop, current):
        try:
            await job(stop)
        except Stopped:
            return 0
        except asyncio.CancelledError:
            return EXIT_AT_ONCE
    return 0


@contextmanager
def _signals(stop: asyncio.Event, task: "asyncio.Task[Any]") -> Iterator[None]:
    """Have signals set `stop`, then cancel the task.

    Plain handlers, not the loop's: they also run while somebody's code keeps the loop from turning.
    """
    loop = asyncio.get_running_loop()
    asked = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            loop.call_soon_threadsafe(task.cancel)
            _end_soon(EXIT_AT_ONCE)
        else:
            asked = True
            loop.call_soon_threadsafe(stop.set)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_soon(code: int) -> threading.Timer:
    """End the process shortly, whatever its tasks do with being cancelled; what is on disk is whole at all times."""
    timer = threading.Timer(_PATIENCE, os._exit, (code,))
    timer.daemon = True
    timer.start()
    return timer
