"""Whole processes for end-to-end tests: kcpctl on free ports, and the real kubectl, each in folders of its own."""

import json
import os
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

T = TypeVar("T")

PROJECT = Path(__file__).parents[2]
KUBECTL = Path(sys.executable).with_name("kubectl")

READY_WITHIN = 30.0
"""Seconds; ten times what a loaded machine needs."""
_POLL = 0.03


def eventually(check: Callable[[], T | None], *, within: float = READY_WITHIN, what: str = "") -> T:
    """Return the first answer that is neither None nor false nor an AssertionError; fails after that many seconds."""
    deadline = time.monotonic() + within
    while True:
        try:
            found = check()
            wrong: object = f"found {found!r}"
        except AssertionError as error:
            found, wrong = None, error
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"expected {what or check} within {within} s: {wrong}")
        time.sleep(_POLL)


class Ended(NamedTuple):
    """A command that has ended."""

    code: int
    out: str
    err: str


def kcpctl(*arguments: object, cwd: Path = PROJECT, within: float = READY_WITHIN) -> Ended:
    """Run a kcpctl command to its end."""
    command = [sys.executable, "-m", "kcpctl", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=_environment(), capture_output=True, text=True, timeout=within)
    return Ended(done.returncode, done.stdout, done.stderr)


class Running:
    """A kcpctl process that serves, and what it says."""

    def __init__(self, process: "subprocess.Popen[str]", data_dir: Path) -> None:
        self.process = process
        self.data_dir = data_dir
        self.out: list[str] = []
        self.err: list[str] = []
        assert process.stdout is not None
        assert process.stderr is not None
        self._readers = [
            threading.Thread(target=_read, args=(process.stdout, self.out), daemon=True),
            threading.Thread(target=_read, args=(process.stderr, self.err), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        self.port = 0

    def wait_ready(self) -> None:
        """Wait until /readyz says 200."""
        self.port = eventually(self._port, what="a line that says where it serves")
        eventually(lambda: get(self.port, "/readyz")[0] == 200, what="200 from /readyz")

    def _port(self) -> int | None:
        self._check_alive()
        found = re.search(r"https://\S+?:(\d+)", "".join(self.out))
        return int(found.group(1)) if found else None

    def _check_alive(self) -> None:
        if self.process.poll() is not None:
            pytest.fail(f"kcpctl ended with {self.process.returncode}: {''.join(self.err)}")

    def wait_for_log(self, text: str, *, within: float = READY_WITHIN) -> str:
        """Return the first line on stderr that holds the text."""
        return eventually(
            lambda: next((line for line in list(self.err) if text in line), None), within=within, what=f"{text!r} said"
        )

    def signal(self, number: signal.Signals = signal.SIGINT) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def end(self, within: float = 20.0) -> int:
        """Wait for its end, return the exit code."""
        code = self.process.wait(within)
        for reader in self._readers:
            reader.join(within)
        return code

    def stop(self) -> int:
        """Press Ctrl-C and wait for the end."""
        if self.process.poll() is None:
            self.signal()
        return self.end()

    def status(self) -> Any:
        """Return what `kcpctl status -o json` says."""
        shown = kcpctl("status", "--data-dir", self.data_dir, "-o", "json")
        assert shown.code == 0, shown.err
        return json.loads(shown.out)

    def kubectl(self, context: str = "root:example", file: str = "admin.kubeconfig") -> "Kubectl":
        """Return kubectl in one of the contexts."""
        return Kubectl(self.data_dir / file, context)


def _read(stream: Any, lines: list[str]) -> None:
    with stream:
        lines.extend(stream)


@contextmanager
def running(
    command: str,
    data_dir: Path,
    *options: object,
    port: int = 0,
    ready: bool = True,
    python: Sequence[str] = ("-m", "kcpctl"),
) -> Iterator[Running]:
    """Run `kcpctl run`, `serve` or `cache` beside the block; the block begins when it is ready."""
    arguments = [command, "--data-dir", data_dir, "--port", port, *options]
    process = subprocess.Popen(
        [sys.executable, *python, *map(str, arguments)],
        cwd=PROJECT,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    found = Running(process, data_dir)
    try:
        if ready:
            found.wait_ready()
        yield found
    finally:
        try:
            found.stop()
        except subprocess.TimeoutExpired:
            process.kill()
            found.end()
            raise


def get(port: int, path: str) -> tuple[int, str]:
    """Return status and body of a GET without credentials; 0 where nobody answers."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = HTTPSConnection("127.0.0.1", port, context=context, timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except (OSError, HTTPException):
        return 0, ""
    finally:
        connection.close()


class Kubectl:
    """The real kubectl, in one context of one kubeconfig, with a home and a cache of its own."""

    def __init__(self, kubeconfig: Path, context: str) -> None:
        if not KUBECTL.exists():
            pytest.skip(f"needs kubectl beside {sys.executable}; `make install` puts it there")
        home = kubeconfig.parent / "kubectl-home"
        self._options = ["--kubeconfig", str(kubeconfig), "--context", context, "--cache-dir", str(home / "cache")]
        self._environment = _environment() | {"HOME": str(home)}

    def run(self, *arguments: object, stdin: str = "", **environment: str) -> Ended:
        """Run it to its end."""
        command = [str(KUBECTL), *self._options, *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=PROJECT,
            env=self._environment | environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=READY_WITHIN,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def __call__(self, *arguments: object, stdin: str = "", **environment: str) -> str:
        """Return what it prints; it must succeed."""
        done = self.run(*arguments, stdin=stdin, **environment)
        assert done.code == 0, f"kubectl {' '.join(map(str, arguments))}: {done.err}"
        return done.out

    def refused(self, *arguments: object, stdin: str = "") -> str:
        """Return what it complains about; it must fail."""
        done = self.run(*arguments, stdin=stdin)
        assert done.code != 0, f"kubectl {' '.join(map(str, arguments))} succeeded: {done.out}"
        return done.err

    def one(self, *arguments: object) -> Any:
        """Return an object or a list."""
        return json.loads(self("get", *arguments, "-o", "json"))

    @contextmanager
    def watching(self, *arguments: object) -> Iterator[list[str]]:
        """Run `kubectl get -w …` beside the block, which sees the lines that have come so far."""
        command = [str(KUBECTL), *self._options, "get", "-w", *map(str, arguments)]
        with subprocess.Popen(
            command, cwd=PROJECT, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            lines: list[str] = []
            reader = threading.Thread(target=_read, args=(process.stdout, lines), daemon=True)
            reader.start()
            try:
                yield lines
            finally:
                process.terminate()
                reader.join(10)


def _environment() -> dict[str, str]:
    """Return an environment in which nothing of the machine's own configuration is seen."""
    dropped = ("KUBE", "KCPCTL", "PYTHONDONTWRITEBYTECODE")  # compiling everything anew takes half of each start
    kept = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    return kept | {"PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
