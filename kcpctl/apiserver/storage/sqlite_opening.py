"""Opening the file behind the durable engine: making it, locking it, and refusing what is none or not whole.

Everything here blocks, and is called from one thread. The file is locked for the process that opened it.
"""

import os
import sqlite3
import uuid
from collections.abc import Callable
from pathlib import Path

from kcpctl.apiserver.storage.base import StorageError, Unavailable
from kcpctl.apiserver.storage.soundness import Damaged, check_pages
from kcpctl.apiserver.storage.sqlite_file import Loaded, SqliteFile, pid_file

Connect = Callable[[Path], sqlite3.Connection]
"""How a connection to a file is made; where tests put failing disks in."""

FORMAT = 2
"""What the tables below mean. A file with a higher number is refused; format 1 had no terms, and gets them."""

_APPLICATION = 0x6B637073
"""SQLite's application_id of our files: `kcps`."""

_SCHEMA = """
CREATE TABLE store (id INTEGER PRIMARY KEY CHECK (id = 1), identity TEXT NOT NULL, revision INTEGER NOT NULL);
CREATE TABLE object (key TEXT PRIMARY KEY, revision INTEGER NOT NULL, value BLOB NOT NULL);
CREATE TABLE change (revision INTEGER PRIMARY KEY, key TEXT NOT NULL, was_revision INTEGER, was BLOB);
"""

_TERMS = "CREATE TABLE term (number INTEGER PRIMARY KEY, name TEXT NOT NULL, since INTEGER NOT NULL);"

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class CannotOpen(StorageError):
    """The file cannot be used; the message says why and what to do."""


def connect(path: Path) -> sqlite3.Connection:
    """Connect to a file without waiting for other processes; transactions are begun by hand."""
    return sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)


def open_file(path: Path, first_revision: int, connect: Connect, *, changes: int) -> tuple[SqliteFile, Loaded]:
    """Open a file, or make it, beginning at that revision; load at most that many changes. Raises `CannotOpen`."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # SQLite gives its log the same rights
        connection = connect(path)
    except (OSError, sqlite3.Error) as error:
        raise CannotOpen(f"expected to read and write {path}, found: {error}") from error
    try:
        _lock(path, connection)
        number = _format_of(path, connection)
        check_pages(connection)
        _bring_up_to_date(connection, number, first_revision)
        file = SqliteFile(path, connection)
        loaded = file.load(changes)
        pid_file(path).write_text(f"{os.getpid()}\n")
    except (OSError, sqlite3.Error, Unavailable, Damaged) as error:
        connection.close()
        raise _cannot_open(path, error) from error
    except BaseException:
        connection.close()
        raise
    return file, loaded


def _cannot_open(path: Path, error: Exception) -> CannotOpen:
    """Say what is wrong with a file, and what to do."""
    if isinstance(error, Damaged) or getattr(error, "sqlite_errorcode", 0) in _DAMAGED:
        return CannotOpen(
            f"expected a kcpctl store in {path}, found: {error}; nothing of it was changed: put a copy of it in its "
            "place, or use another data directory"
        )
    return CannotOpen(f"expected a kcpctl store in {path}, found: {error}; use another data directory")


def _lock(path: Path, connection: sqlite3.Connection) -> None:
    """Take the file for this process alone: SQLite's exclusive mode holds its lock until the connection closes."""
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # elsewhere than on macOS this is what FULL does anyway
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        raise CannotOpen(
            f"expected {path.parent} to be used by this process alone, found {path.name} in use by {_owner(path)}; "
            "stop that process or use another data directory"
        ) from error


def _format_of(path: Path, connection: sqlite3.Connection) -> int:
    """Check whose file it is, and return its format; 0 for a new one."""
    application, number, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) "
        "FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if (application, number, tables) == (0, 0, 0):
        return 0
    if application != _APPLICATION:
        raise CannotOpen(
            f"expected a kcpctl store in {path}, found another SQLite database; use another data directory"
        )
    if number > FORMAT:
        raise CannotOpen(
            f"expected {path} in format {FORMAT} or older, found format {number}: a newer kcpctl wrote it; "
            "run that version, or use another data directory"
        )
    return int(number)


def _bring_up_to_date(connection: sqlite3.Connection, number: int, first_revision: int) -> None:
    """Fill a new file, and give one of format 1 what it lacks."""
    if number == 0:
        _fill(connection, first_revision)
    elif number == 1:
        _update(connection)


def _update(connection: sqlite3.Connection) -> None:
    connection.executescript(f"BEGIN IMMEDIATE; {_TERMS} PRAGMA user_version = {FORMAT}; COMMIT")


def _fill(connection: sqlite3.Connection, first_revision: int) -> None:
    connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} {_TERMS}")
    connection.execute("INSERT INTO store VALUES (1, ?, ?)", (str(uuid.uuid4()), first_revision))
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def _owner(path: Path) -> str:
    try:
        return f"process {int(pid_file(path).read_text())}"
    except (OSError, ValueError):
        return "another process"
