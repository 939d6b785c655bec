"""Running the measured programs: each in a fresh process, which says its figures as one JSON line."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.objects import Labels

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
_TIMEOUT = 300
_ENVIRONMENT = os.environ | {"GOMAXPROCS": "2", "GOGC": "100"}

Figures = Mapping[str, float]


class Missing(Exception):
    """A program that cannot run here; the message says why."""


def run(command: Sequence[str]) -> str:
    """Run a program from the checkout's root, and return what it printed.

    Raises `Missing` with its last lines when it fails.
    """
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=_ENVIRONMENT, capture_output=True, text=True, check=True, timeout=_TIMEOUT
        )
    except subprocess.CalledProcessError as failed:
        raise Missing(f"{' '.join(command)}: {complaint(failed.stderr)}") from failed
    except subprocess.TimeoutExpired as late:
        raise Missing(f"{' '.join(command)}: not done after {_TIMEOUT} s") from late
    return done.stdout


def printed(command: Sequence[str]) -> Figures:
    """Run a program and return the figures it printed; raises `Missing`."""
    found: Figures = json.loads(run(command))
    return found


def complaint(text: str) -> str:
    """Return the last lines of what a program said before it failed, as one."""
    lines = text.strip().splitlines()
    return " | ".join(line.strip() for line in lines[-3:]) or "failed without a message"


@contextmanager
def replaying(path: str, labels: Labels, options: Sequence[str]) -> Iterator[str]:
    """Run a replay server beside the block, and give its URL."""
    command = [sys.executable, "-m", "tests.bench.replay", "--path", path, "--labels", labels, *options]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())["url"]
        finally:
            server.stdin.close()  # its sign to end
