"""The control socket: how other kcpctl commands ask a running process, one JSON line each way.

A unix socket in the data directory serves whoever may read that directory, needs no port, and costs no import of an
HTTP stack at the asking side.
"""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from informers.api.errors import ConfigurationError, InformersError
from kcpctl.datadir import writing

JSON = dict[str, Any]
Answers = Mapping[str, Callable[[JSON], Awaitable[JSON]]]
"""What can be asked, by name; a `ConfigurationError` or `InformersError` becomes the asker's error line."""

_LONGEST = 16 * 1024 * 1024
_PATH_LIMIT = 100
"""Bytes; systems allow 104 to 108."""


def socket_path(data_dir: Path) -> Path:
    """Return the socket's path, absolute or as seen from here, whichever the system can take.

    Raises `ConfigurationError` when neither is short enough.
    """
    whole = data_dir.resolve() / "control.sock"
    near = Path(os.path.relpath(whole))
    for path in (whole, near):
        if len(os.fsencode(path)) <= _PATH_LIMIT:
            return path
    raise ConfigurationError(
        f"expected a data directory whose path leaves room for a socket ({_PATH_LIMIT} bytes), found {whole.parent}; "
        "name a shorter --data-dir, or start from a folder nearer to it"
    )


@asynccontextmanager
async def serving(data_dir: Path, answers: Answers) -> AsyncIterator[Path]:
    """Answer at the data directory's socket for as long as the block runs; whoever holds the directory may serve."""
    path = socket_path(data_dir)
    with writing(data_dir):
        path.unlink(missing_ok=True)  # left by a process that was killed

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if question := await reader.readline():
                writer.write(json.dumps(await _answer(question, answers)).encode() + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError):
            pass  # the asker has gone, or sends no lines
        finally:
            writer.close()

    with writing(data_dir):
        server = await asyncio.start_unix_server(talk, path=path, limit=_LONGEST)
        path.chmod(0o600)
    try:
        yield path
    finally:
        server.close()
        path.unlink(missing_ok=True)


async def _answer(line: bytes, answers: Answers) -> JSON:
    try:
        question = json.loads(line)
        what = question["ask"]
    except (ValueError, TypeError, KeyError):
        return {"error": f"expected one of {', '.join(answers)} to be asked, found {line[:80]!r}"}
    answer = answers.get(what)
    if answer is None:
        return {
            "error": f"expected a process that answers to {what}, found one that answers to {', '.join(answers)} only; "
            "name the --data-dir of a process that `kcpctl run` of this version started"
        }
    try:
        return {"answer": await answer(question)}
    except InformersError as error:
        return {"error": str(error)}


def ask(data_dir: Path, what: str, **details: Any) -> Any:
    """Return what the process of a data directory answers.

    Raises `ConfigurationError` when none runs there, or with what it says no with.
    """
    path = socket_path(data_dir)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(os.fspath(path))
            connection.sendall(json.dumps({"ask": what, **details}).encode() + b"\n")
            with connection.makefile("rb") as lines:
                reply = json.loads(lines.readline() or b"{}")
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"expected a running kcpctl in {data_dir}, found {_absence(data_dir, error)}; "
            "start one with `python -m kcpctl run`, or name its --data-dir"
        ) from error
    if "answer" not in reply:
        raise ConfigurationError(reply.get("error", f"the process in {data_dir} ended before it answered"))
    return reply["answer"]


def _absence(data_dir: Path, error: OSError | ValueError) -> str:
    if not data_dir.is_dir():
        return "no such directory"
    if isinstance(error, (FileNotFoundError, ConnectionRefusedError)):
        return "none"
    return f"none that answers: {getattr(error, 'strerror', None) or error}"
