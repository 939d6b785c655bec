"""A process ends in order at the first signal, at once at the second, and says in one line why it cannot go on."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from informers.api.errors import ConnectError
from kcpctl.process import Stopped, unless_stopped

PROGRAM = """
import asyncio, sys
from informers.api.errors import ConnectError
from kcpctl.process import run_process

async def orderly(stop):
    print("ready", flush=True)
    await stop.wait()
    print("stopped", flush=True)

async def slow(stop):
    print("ready", flush=True)
    await stop.wait()
    print("stopping", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        print("cleaned", flush=True)

async def stubborn(stop):
    print("ready", flush=True)
    await stop.wait()
    print("stopping", flush=True)
    while True:
        pass

async def leaving(stop):
    async def stubborn():
        print("ready", flush=True)
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                print("no", flush=True)

    global left
    left = asyncio.ensure_future(stubborn())
    await stop.wait()

async def failing(stop):
    raise ConnectError("nobody is there")

sys.exit(run_process(globals()[sys.argv[1]]))
"""


@contextmanager
def program(job: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", PROGRAM, job]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def said(running: "subprocess.Popen[str]") -> str:
    assert running.stdout is not None
    return running.stdout.readline().strip()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_a_wish_to_stop(number: signal.Signals) -> None:
    with program("orderly") as running:
        assert said(running) == "ready"
        running.send_signal(number)

        assert said(running) == "stopped"
        assert running.wait(10) == 0


def test_what_the_job_leaves_running_ends_with_the_process() -> None:
    with program("leaving") as running:
        assert said(running) == "ready"
        running.send_signal(signal.SIGTERM)

        assert said(running) == "no"
        assert running.wait(10) == 0


def test_the_second_signal_cancels_what_still_runs() -> None:
    with program("slow") as running:
        assert said(running) == "ready"
        running.send_signal(signal.SIGINT)
        assert said(running) == "stopping"
        running.send_signal(signal.SIGINT)

        assert said(running) == "cleaned"
        assert running.wait(10) == 130


def test_the_second_signal_ends_even_what_keeps_the_loop_from_turning() -> None:
    with program("stubborn") as running:
        assert said(running) == "ready"
        running.send_signal(signal.SIGINT)
        assert said(running) == "stopping"
        running.send_signal(signal.SIGTERM)

        assert running.wait(10) == 130


def test_a_failure_with_a_name_is_one_line() -> None:
    with program("failing") as running:
        output, errors = running.communicate(timeout=10)

    assert (running.returncode, output, errors) == (1, "", "kcpctl: nobody is there\n")


async def test_a_job_that_ends_first_gives_its_result() -> None:
    async def job() -> str:
        return "found"

    assert await unless_stopped(job(), asyncio.Event()) == "found"


async def test_a_stop_that_comes_first_cancels_the_job() -> None:
    stop, cancelled = asyncio.Event(), asyncio.Event()

    async def job() -> None:
        stop.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with pytest.raises(Stopped):
        await unless_stopped(job(), stop)
    assert cancelled.is_set()


async def test_an_error_of_the_job_comes_out() -> None:
    async def job() -> None:
        raise ConnectError("nobody is there")

    with pytest.raises(ConnectError):
        await unless_stopped(job(), asyncio.Event())
