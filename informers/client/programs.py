"""Running somebody else's program to its end, within a time."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence

import msgspec

from informers.api.errors import ConfigurationError

_SHOWN = 500


class Program(msgspec.Struct, frozen=True):
    """A program and how to start it."""

    command: str
    """A path, or a name to look up in PATH."""
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = {}
    """In addition to our own."""
    interactive: bool = False
    """Whether it may talk to whoever sits at our terminal: it then shares our stdin and stderr."""
    timeout: float = 60.0
    """Seconds until it is killed, with everything that it started."""


async def output(program: Program) -> bytes:
    """Run the program, and return what it wrote to stdout.

    Both pipes are read at once, so that neither fills up. Raises `ConfigurationError` when it cannot be started, fails,
    or takes too long; the message ends with the end of its stderr. Cancelling kills it.
    """
    process = await _started(program)
    try:
        async with asyncio.timeout(program.timeout):
            stdout, stderr = await process.communicate()
    except BaseException as error:
        running = "it" if process.returncode is None else "what it started"
        _kill(process, program)
        await process.wait()
        if not isinstance(error, TimeoutError):
            raise
        raise ConfigurationError(
            f"expected an answer of {program.command!r} within {program.timeout:g} s, found {running} still running"
        ) from None
    if process.returncode:
        raise ConfigurationError(
            f"expected {program.command!r} to succeed, found exit status {process.returncode}{_said(stderr)}"
        )
    return stdout


async def _started(program: Program) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            program.command,
            *program.arguments,
            stdin=None if program.interactive else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=None if program.interactive else asyncio.subprocess.PIPE,
            env={**os.environ, **program.environment},
            start_new_session=not program.interactive,
        )
    except OSError as error:
        raise ConfigurationError(f"expected a program {program.command!r}, found: {error.strerror}") from error


def _kill(process: asyncio.subprocess.Process, program: Program) -> None:
    """Kill the program with its children: they hold its pipes open, even when it has ended itself.

    Where it leads no process group, it alone.
    """
    try:
        if hasattr(os, "killpg") and not program.interactive:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):  # the second is what macOS says of a group of zombies
        pass  # it has just ended by itself


def _said(stderr: bytes | None) -> str:
    text = " ".join((stderr or b"").decode("utf-8", "replace").split())
    return f": {'…' if len(text) > _SHOWN else ''}{text[-_SHOWN:]}" if text else ", and nothing on stderr"
