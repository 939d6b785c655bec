"""Work on big bodies, done on threads beside the event loop, so that no other request waits for it."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

SMALL = 32 * 1024
"""Bytes that are worked on at once: the worst take some milliseconds, and a change of threads takes a tenth of one."""

_THREADS = 2
"""How many big bodies are worked on together; the others wait their turn."""

T = TypeVar("T")


class Aside:
    """A few jobs on threads; each has one of its own, which a process that ends does not wait for."""

    def __init__(self, threads: int = _THREADS) -> None:
        """Work on so many bodies together."""
        self._free = asyncio.Semaphore(threads)

    async def do(self, size: int, job: Callable[[], T]) -> T:
        """Return what the job returns: at once if it is about few bytes, else after waiting for a thread.

        When the caller is cancelled, a job that waits never begins, and nobody hears of one that runs. So a job may
        change nothing but what its caller alone knows of.
        """
        if size <= SMALL:
            return job()
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            try:
                settle = partial(done.set_result, job())
            except BaseException as error:  # noqa: BLE001 - it is raised where the job was asked for
                settle = partial(done.set_exception, error)
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(self._end, done, settle)

        try:
            threading.Thread(target=run, name="kcpctl-body", daemon=True).start()
        except RuntimeError:  # the system has no more of them
            self._free.release()
            raise
        return await done

    def _end(self, done: asyncio.Future[T], settle: Callable[[], None]) -> None:
        """Let the next job begin, though this one's caller may be gone."""
        self._free.release()
        if not done.done():
            settle()
