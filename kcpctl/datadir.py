"""The data directory: one process at a time, and a format number."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from informers.api.errors import ConfigurationError

FORMAT = 1
"""Grows when an older kcpctl could not read what a newer one wrote."""


@contextmanager
def locked(folder: Path) -> Iterator[Path]:
    """Hold the directory for this process; it is created if needed.

    Raises `ConfigurationError` when another process holds it, when a newer kcpctl wrote it, or when it cannot be
    written.
    """
    import fcntl  # absent on Windows, where the command line says so before it comes here

    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ConfigurationError(
            f"expected to write to the data directory {folder}, but: {error.strerror}; name another with --data-dir"
        ) from error
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


def _holder(descriptor: int) -> str:
    return os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or "of unknown number"


def _check_format(folder: Path) -> None:
    file = folder / "format.json"
    try:
        found = json.loads(file.read_text(encoding="utf-8"))["format"]
    except FileNotFoundError:
        file.write_text(json.dumps({"format": FORMAT}) + "\n", encoding="utf-8")
        return
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"expected the format number in {file}, found something else: {error}") from error
    if found != FORMAT:
        raise ConfigurationError(
            f"the data directory {folder} has format {found}, this kcpctl reads format {FORMAT}; "
            "use a newer kcpctl, or name another directory with --data-dir"
        )
