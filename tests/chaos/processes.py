"""One kcpctl process: started, killed, frozen, and started again over what it left, over less, or over nothing."""

import asyncio
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.chaos.api import Api
from tests.chaos.clocks import JumpingClock

PROJECT = Path(__file__).parents[2]
_READY_WITHIN = 40.0
_POLL = 0.02
_NOT_COPIED = ("lock", "control.sock")
_NOT_STATE = ("certificates", "lock")


class Died(Exception):
    """A process ended that should have gone on."""


class Process:
    """A `kcpctl run` or `kcpctl cache` with a data directory, a port and a clock of its own."""

    def __init__(self, name: str, folder: Path, command: Sequence[str], *, kubeconfig: str) -> None:
        """Run that command, with `--data-dir` and `--port` added, over `folder`/data."""
        self.name = name
        self.folder = folder
        self.data = folder / "data"
        self.log = folder / "log"
        self.command = list(command)
        self.options: list[str] = []
        self.port = 0
        self.clock: JumpingClock
        self._kubeconfig = kubeconfig
        self._child: asyncio.subprocess.Process | None = None
        self._api: Api | None = None
        self.is_frozen = False
        folder.mkdir(parents=True)
        self.clock = JumpingClock(folder / "clock")

    @property
    def runs(self) -> bool:
        """Whether there is a process, frozen or not."""
        return self._child is not None and self._child.returncode is None

    @property
    def answers(self) -> bool:
        """Whether requests make sense."""
        return self.runs and not self.is_frozen

    @property
    def api(self) -> Api:
        """Its server, as its administrator reaches it."""
        if self._api is None:
            self._api = Api(self.data / self._kubeconfig)
        return self._api

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        await self.spawn()
        try:
            async with asyncio.timeout(_READY_WITHIN):
                while not await self._is_ready():
                    await asyncio.sleep(_POLL)
        except TimeoutError as error:
            raise Died(f"{self.name} is not ready {_READY_WITHIN} s after its start; see {self.log}") from error

    async def spawn(self) -> None:
        """Start it."""
        where = ["--data-dir", str(self.data), "--port", str(self.port)]
        with self.log.open("ab") as log:
            log.write(f"--- start: {' '.join(self.options)}\n".encode())
            log.flush()
            self._child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "kcpctl", *self.command, *where, *self.options),
                cwd=PROJECT,
                env=_environment() | self.clock.environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.is_frozen = False

    async def _is_ready(self) -> bool:
        if not self.runs:
            raise Died(f"{self.name} ended at its start; see {self.log}")
        if not self.port:
            if (found := re.search(r"https://127\.0\.0\.1:(\d+)", self.log.read_text())) is None:
                return False
            self.port = int(found.group(1))
        return await self.status() is not None

    async def status(self) -> Any:
        """Return what `kcpctl status -o json` would, or None when it does not answer."""
        return await self.ask("status")

    async def ask(self, what: str, **details: Any) -> Any:
        """Ask at the control socket; None when nobody answers."""
        try:
            async with asyncio.timeout(5):
                reader, writer = await asyncio.open_unix_connection(self.data / "control.sock", limit=1 << 24)
                try:
                    writer.write(json.dumps({"ask": what, **details}).encode() + b"\n")
                    await writer.drain()
                    reply = json.loads(await reader.readline() or b"{}")
                finally:
                    writer.close()
        except (OSError, ValueError, TimeoutError):
            return None
        return reply.get("answer")

    async def end(self, number: signal.Signals) -> int:
        """Send a signal and wait for its end; a frozen one is woken for it."""
        child = self._child
        if child is None:
            return 0
        if child.returncode is None:
            child.send_signal(number)
            self.thaw()
        self.is_frozen = False
        return await child.wait()

    async def ended(self, within: float) -> int | None:
        """Wait for its own end and return the exit code; None when it goes on."""
        assert self._child is not None
        try:
            async with asyncio.timeout(within):
                return await self._child.wait()
        except TimeoutError:
            return None

    def freeze(self) -> None:
        """Stop it between two instructions."""
        if self.runs and self._child is not None:
            self._child.send_signal(signal.SIGSTOP)
            self.is_frozen = True

    def thaw(self) -> None:
        """Let it go on."""
        if self.runs and self._child is not None:
            self._child.send_signal(signal.SIGCONT)
        self.is_frozen = False

    # What it keeps

    def copy(self, to: Path) -> None:
        """Copy the data directory as it is at this instant; the process is frozen meanwhile."""
        was_frozen = self.is_frozen
        self.freeze()
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(self.data, to, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        if not was_frozen:
            self.thaw()

    def go_back_to(self, copy: Path) -> None:
        """Have what was copied in place of what there is; the process must have ended."""
        shutil.rmtree(self.data)
        shutil.copytree(copy, self.data)

    def lose_store(self) -> None:
        """Have an empty store, as `--in-memory` would; the process must have ended."""
        for file in self.data.glob("*.sqlite*"):
            file.unlink()

    def lose_everything(self) -> None:
        """Have nothing but the certificates; the process must have ended."""
        for found in self.data.iterdir():
            if found.name in _NOT_STATE:
                continue
            shutil.rmtree(found) if found.is_dir() else found.unlink()

    async def aclose(self) -> None:
        """End it, and close what talks to it."""
        await self.end(signal.SIGKILL)
        if self._api is not None:
            await self._api.aclose()


async def kcpctl(*arguments: str) -> tuple[int, str]:
    """Run a kcpctl command to its end; return exit code and all that it said."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kcpctl", *arguments),
        cwd=PROJECT,
        env=_environment(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await child.communicate()
    return child.returncode or 0, said.decode()


def _environment() -> dict[str, str]:
    """Return an environment in which nothing of the machine's own configuration is seen."""
    dropped = ("KUBE", "KCPCTL", "PYTHON")  # compiling everything anew takes half of each start
    kept = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    return kept | {"PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
