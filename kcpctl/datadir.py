"""The data directory: one process at a time, and a format number."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from informers.api.errors import ConfigurationError
from kcpctl.apiserver.http.privatefiles import write_private

FORMAT = 1
"""Grows when an older kcpctl could not read what a newer one wrote."""


@contextmanager
def locked(folder: Path) -> Iterator[Path]:
    """Hold the directory for this process; it is created if needed.

    Raises `ConfigurationError` when another process holds it, when a newer kcpctl wrote it, or when it cannot be
    written.
    """
    import fcntl  # absent on Windows, where the command line says so before it comes here

    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigurationError(
                f"the data directory {folder} is in use by process {_holder(descriptor)}; "
                "end it, or name another directory with --data-dir"
            ) from None
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        _check_format(folder)
        yield folder
    finally:
        os.close(descriptor)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Have whatever keeps the block from writing to the directory be one line (`ConfigurationError`)."""
    try:
        yield
    except OSError as error:
        name = Path(str(error.filename2 or error.filename or folder)).name
        what = "" if name == folder.name else f"{name}: "
        raise ConfigurationError(
            f"expected to write to the data directory {folder}, but: {what}{error.strerror}; "
            "name another with --data-dir"
        ) from error


def _holder(descriptor: int) -> str:
    return os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or "of unknown number"


def _check_format(folder: Path) -> None:
    file = folder / "format.json"
    try:
        with writing(folder):
            if not file.exists():
                write_private(file, json.dumps({"format": FORMAT}).encode() + b"\n")
            text = file.read_text(encoding="utf-8")
            found = json.loads(text)["format"]
    except (ValueError, LookupError, TypeError) as error:
        shown = repr(text[:60].strip()) if isinstance(error, (LookupError, TypeError)) else str(error)
        expected = json.dumps({"format": FORMAT})
        raise ConfigurationError(
            f"expected {expected} in {file}, found {shown}; name another directory with --data-dir"
        ) from error
    if found != FORMAT:
        raise ConfigurationError(
            f"the data directory {folder} has format {found}, this kcpctl reads format {FORMAT}; "
            "use a newer kcpctl, or name another directory with --data-dir"
        )
