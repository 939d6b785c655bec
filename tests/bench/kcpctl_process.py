"""`python -m kcpctl run` or `cache` as a process of its own, from exec to ready to its end."""

import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import NamedTuple

from tests.bench.measure import cpu_of
from tests.bench.programs import ROOT, Missing, complaint

_READY_WITHIN = 60.0
_POLL = 0.005
_ENDS_WITHIN = 20.0


class Running(NamedTuple):
    """A process that is ready."""

    data_dir: Path
    pid: int
    port: int
    ready_after: float
    """Seconds from exec to the first 200 of /readyz."""
    cpu: float
    """Seconds of CPU time that it has used by then."""
    started: float
    """When it was executed, as `time.perf_counter` counts."""


@contextmanager
def running(data_dir: Path, *options: str, command: str = "run", port: int = 0) -> Iterator[Running]:
    """Run it beside the block, over the data directory; raises `Missing` when it does not become ready.

    Port 0 is any that is free.
    """
    port = port or _free_port()
    program = [sys.executable, "-m", "kcpctl", command, "--port", str(port), "--data-dir", str(data_dir), *options]
    with tempfile.TemporaryFile("w+") as said:
        started = time.perf_counter()
        process = subprocess.Popen(program, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        try:
            ready_after = _wait_ready(process, port, started)
            if ready_after is None:
                said.seek(0)
                raise Missing(f"{' '.join(program)}: not ready; it said: {complaint(said.read())}")
            yield Running(data_dir, process.pid, port, ready_after, cpu_of(process.pid), started)
        finally:
            _end(process)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _wait_ready(process: "subprocess.Popen[bytes]", port: int, started: float) -> float | None:
    while process.poll() is None and time.perf_counter() - started < _READY_WITHIN:
        if _ready(port):
            return time.perf_counter() - started
        time.sleep(_POLL)
    return None


def _ready(port: int) -> bool:
    # Who answers is known, so that certificates need no check, and the process can be asked before they can be read.
    connection = HTTPSConnection("127.0.0.1", port, context=ssl._create_unverified_context(), timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_ENDS_WITHIN)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
