"""Whether the file of a store is whole, and still the one that was opened."""

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from kcpctl.apiserver.storage.base import Record, Unavailable

_MAPPED = 1 << 40
"""Bytes that SQLite may map while it checks a file, which spares copying them all: a third of the time."""


class Damaged(Exception):
    """Some of the file is not what was written; the message says what."""


def check_pages(connection: sqlite3.Connection) -> None:
    """Look at every page: 10 ms for 10,000 objects. Raises `Damaged`, and `sqlite3.Error` where SQLite cannot go on."""
    connection.execute(f"PRAGMA mmap_size = {_MAPPED}")
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    connection.execute("PRAGMA mmap_size = 0")
    if found != "ok":
        raise Damaged(" ".join(str(found).split()))


def check_values(records: Iterable[Record]) -> None:
    """Look at what pages say nothing of; raises `Damaged` for a value that is no text."""
    for record in records:
        try:
            str(record.value, "utf-8")
        except (UnicodeDecodeError, TypeError):
            raise Damaged(f"the object at {record.key} is not the text that was written") from None


class Whereabouts:
    """Where a file and its log are, and which ones they are: SQLite writes to files that have gone without a word."""

    def __init__(self, path: Path) -> None:
        """Take those that are there now for the ones that SQLite has open."""
        self._path = path
        self._files = {name: _identity(name) for name in (path, path.with_name(path.name + "-wal"))}

    def check(self) -> None:
        """Raise `Unavailable` if one of them is not there any more, or another one is."""
        for file, known in self._files.items():
            found = _identity(file)
            if known is not None and found != known:
                what = "gone" if found is None else "another file"
                raise Unavailable(
                    f"cannot write to {self._path}: expected {file.name} to be the file that was opened, found it "
                    f"{what}; what was written before can still be read here: save it, stop this process, put the "
                    "data directory back as it was and start again"
                )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
