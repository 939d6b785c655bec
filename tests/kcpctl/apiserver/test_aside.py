"""Work beside the loop: on threads of its own, few at a time, and without a trace when nobody waits any more."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from kcpctl.apiserver.aside import SMALL, Aside

BIG = SMALL + 1


async def test_what_is_small_is_done_at_once_and_what_is_big_on_another_thread():
    aside = Aside()

    assert await aside.do(SMALL, threading.current_thread) is threading.current_thread()
    assert await aside.do(BIG, threading.current_thread) is not threading.current_thread()


@pytest.mark.parametrize("size", [SMALL, BIG])
async def test_what_a_job_raises_comes_out(size: int):
    with pytest.raises(RecursionError):
        await Aside().do(size, endless)


async def test_a_thread_that_cannot_be_had_costs_the_next_job_nothing(monkeypatch: pytest.MonkeyPatch):
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    aside = Aside(threads=1)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            await aside.do(BIG, str)

    assert await aside.do(BIG, str) == ""


async def test_the_loop_goes_on_while_a_job_runs():
    goes_on = threading.Event()
    asyncio.get_running_loop().call_soon(goes_on.set)

    assert await Aside().do(BIG, lambda: goes_on.wait(10))


async def test_a_job_that_waits_for_a_thread_never_begins_when_its_caller_is_cancelled():
    begun, end = threading.Event(), threading.Event()
    ran: list[str] = []
    aside = Aside(threads=1)
    first = asyncio.create_task(aside.do(BIG, waiting(begun, end)))
    await asyncio.to_thread(begun.wait)
    second = asyncio.create_task(aside.do(BIG, lambda: ran.append("second")))
    await asyncio.sleep(0)

    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    end.set()

    assert await first
    await aside.do(BIG, lambda: ran.append("third"))
    assert ran == ["third"]


async def test_a_caller_is_cancelled_at_once_though_its_job_still_runs():
    begun, end = threading.Event(), threading.Event()
    aside = Aside(threads=1)
    task = asyncio.create_task(aside.do(BIG, waiting(begun, end)))
    await asyncio.to_thread(begun.wait)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not end.is_set()

    end.set()
    assert await aside.do(BIG, lambda: "the thread is free again") == "the thread is free again"


def test_a_process_that_ends_does_not_wait_for_a_job() -> None:
    program = """
import asyncio, threading
from kcpctl.apiserver.aside import SMALL, Aside

async def main():
    begun = threading.Event()
    job = asyncio.create_task(Aside().do(SMALL + 1, lambda: begun.set() or threading.Event().wait(3600)))
    await asyncio.to_thread(begun.wait)
    job.cancel()

asyncio.run(main())
print("ended")
"""

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)

    assert (ended.stdout, ended.stderr, ended.returncode) == ("ended\n", "", 0)


def waiting(begun: threading.Event, end: threading.Event) -> Callable[[], bool]:
    def job() -> bool:
        begun.set()
        return end.wait(10)

    return job


def endless() -> None:
    endless()
