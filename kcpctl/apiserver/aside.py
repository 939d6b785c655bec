"""Work on big bodies, done on threads beside the event loop, so that no other request waits for it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

SMALL = 8 * 1024
"""Bytes that are worked on at once: the worst take some milliseconds, and a change of threads takes a tenth of one."""

_THREADS = 2
"""How many big bodies are worked on together; the others wait their turn."""

T = TypeVar("T")


class Aside:
    """A few threads of its own; they begin with the first big body, and end when nobody holds this any more."""

    def __init__(self, threads: int = _THREADS) -> None:
        """Work on so many bodies together."""
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="kcpctl-bodies")

    async def do(self, size: int, job: Callable[[], T]) -> T:
        """Return what the job returns: at once if it is about few bytes, else after waiting for a thread.

        When the caller is cancelled, a job that waits never begins, and nobody hears of one that runs. So a job may
        change nothing but what its caller alone knows of.
        """
        if size <= SMALL:
            return job()
        return await asyncio.get_running_loop().run_in_executor(self._threads, job)
