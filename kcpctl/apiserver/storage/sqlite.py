"""The engine that survives its process: state in memory, every write on disk before anybody hears of it.

Writes are committed in groups, on one thread, one group in flight: what arrives meanwhile is the next group. So the
disk is waited for once for several writers, and the loop never waits for it.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

from informers.clock import Clock, SystemClock
from kcpctl.apiserver.storage.base import Change, KeyExists, Mismatch, Unavailable, Unwritable
from kcpctl.apiserver.storage.engine import Engine
from kcpctl.apiserver.storage.history import FIVE_MINUTES, History, Window
from kcpctl.apiserver.storage.revisions import first_revision
from kcpctl.apiserver.storage.sqlite_file import Loaded, SqliteFile
from kcpctl.apiserver.storage.sqlite_opening import Connect, connect, open_file
from kcpctl.apiserver.storage.state import State

_GROUP = 256
"""Most writes in one transaction: it bounds how long the first of them waits."""

_SYSTEM_CLOCK = SystemClock()


class _Write:
    """One write that waits for its group. `expect` is None for a creation, `value` for a deletion."""

    __slots__ = ("done", "expect", "key", "value")

    def __init__(self, key: str, value: bytes | None, expect: int | None, done: asyncio.Future[int]) -> None:
        self.key = key
        self.value = value
        self.expect = expect
        self.done = done


class SqliteStorage(Engine):
    """A `Storage` in one file.

    Invariants: what is in `_state` is on disk; at most one group is in flight, and it holds at most one write a key;
    revisions are given to writes when their group starts, so that a group that fails leaves no gap; the first `_alone`
    of those that wait are written one by one.
    """

    def __init__(
        self, file: SqliteFile, loaded: Loaded, thread: ThreadPoolExecutor, window: Window, clock: Clock
    ) -> None:
        """Use `open`."""
        state = State(History(loaded.revision, window, loaded.changes), loaded.records)
        super().__init__(state, loaded.identity, loaded.terms, clock)
        self._file = file
        self._thread = thread
        self._waiting: deque[_Write] = deque()
        self._alone = 0
        self._is_writing = False
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        self._closed = False
        self._released = False

    @classmethod
    async def open(
        cls, path: Path, *, window: Window = FIVE_MINUTES, clock: Clock = _SYSTEM_CLOCK, connect: Connect = connect
    ) -> Self:
        """Open the store in a file, or make it; its folder must be there. Raises `CannotOpen`.

        After a restart watches go on from where they were, as far as history reaches; from before that they get
        `Compacted`. A store that is made begins at a revision that no earlier one has reached (`first_revision`).
        """
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kcpctl-sqlite")
        job = thread.submit(open_file, path, first_revision(clock.now()), connect, changes=window.changes)
        try:
            file, loaded = await asyncio.wrap_future(job)
        except BaseException:
            job.add_done_callback(_discard)
            thread.shutdown(wait=False)
            raise
        return cls(file, loaded, thread, window, clock)

    async def compact(self, revision: int) -> None:
        """Forget history before `revision`, on disk as well. Raises `FutureRevision`, `Unavailable`."""
        self._state.history.compact(revision)
        await self._on_thread(self._file.forget, self._state.history.oldest)

    async def aclose(self) -> None:
        """Wait until all writes are on disk, end all feeds and unlock the file; later writes raise `Unavailable`.

        Safe to call again, which finishes what a cancelled call has not.
        """
        self._closed = True
        await self._at_rest.wait()
        self._state.feeds.close()
        if not self._released:
            await self._on_thread(self._file.close)
            self._released = True
            self._thread.shutdown()

    async def _on_thread(self, job: Callable[..., None], *arguments: object) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, job, *arguments)

    async def _write(self, key: str, value: bytes | None, expect: int | None) -> int:
        """Wait for the disk. When the caller is cancelled the write may happen or not, but never half."""
        if self._closed:
            raise Unavailable("the store is closed")
        loop = asyncio.get_running_loop()
        write = _Write(key, value, expect, loop.create_future())
        self._waiting.append(write)
        if not self._is_writing:
            self._is_writing = True
            self._at_rest.clear()
            loop.call_soon(self._start_group)  # what else is written in this turn of the loop joins the group
        return await write.done

    def _start_group(self) -> None:
        """Send the next group to the disk, if there is one."""
        group, changes = self._take_group()
        if not group:
            self._is_writing = False
            self._at_rest.set()
            return
        loop = asyncio.get_running_loop()
        job = self._thread.submit(self._file.commit, changes, self._state.history.oldest)
        job.add_done_callback(lambda job: loop.call_soon_threadsafe(self._end_group, group, changes, job))

    def _end_group(self, group: list[_Write], changes: list[Change], job: Future[None]) -> None:
        """Make a durable group visible and answer it; a failed one changes nothing.

        A group that one of its writes may have spoilt is written again, each write by itself.
        """
        error = job.exception()
        if isinstance(error, Unwritable) and len(group) > 1:
            self._waiting.extendleft(reversed(group))
            self._alone = len(group)
            asyncio.get_running_loop().call_soon(self._start_group)
            return
        try:
            if error is None:
                self._state.apply(changes, self._clock.monotonic())
        finally:
            self._answer(group, changes, error)

    def _answer(self, group: list[_Write], changes: list[Change], error: BaseException | None) -> None:
        for write, change in zip(group, changes, strict=True):
            if write.done.done():
                continue  # its caller was cancelled meanwhile
            if error is None:
                write.done.set_result(change.revision)
            else:
                write.done.set_exception(_again(error))
        asyncio.get_running_loop().call_soon(self._start_group)  # after those who were answered may have written again

    def _take_group(self) -> tuple[list[_Write], list[Change]]:
        """Take writes that can go together, and refuse those that cannot succeed.

        A second write to a key waits for the next group: whether it can succeed is known when the first one is durable.
        """
        group: list[_Write] = []
        changes: list[Change] = []
        taken: set[str] = set()
        later: deque[_Write] = deque()
        most = 1 if self._alone else _GROUP
        self._alone = max(self._alone - 1, 0)
        while self._waiting and len(group) < most:
            write = self._waiting.popleft()
            if write.done.done():
                continue
            if write.key in taken:
                later.append(write)
                continue
            try:
                current = self._state.expected(write.key, write.expect)
            except (KeyExists, Mismatch) as refused:
                write.done.set_exception(refused)
                continue
            taken.add(write.key)
            group.append(write)
            changes.append(Change(write.key, self._state.revision + len(group), write.value, current))
        self._waiting.extendleft(reversed(later))
        return group, changes


def _discard(job: Future[tuple[SqliteFile, Loaded]]) -> None:
    """Close a file that was opened for somebody who has gone."""
    if not job.cancelled() and job.exception() is None:
        job.result()[0].close()


def _again(error: BaseException) -> BaseException:
    """Return an error for one more of those who have to hear it; each raises an object of its own."""
    if not isinstance(error, Unavailable):
        return error
    copy = type(error)(str(error))
    copy.__cause__ = error
    return copy
