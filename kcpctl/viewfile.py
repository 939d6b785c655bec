"""The file in which a process keeps its shard view: `view.sqlite` in the data directory.

    entry(place, value)     what is remembered, by kind, source and key
    gone(number, value)     what has evidently gone, the latest
    standing(id, value)     what is known of the whole: one row

Values are JSON. A group of changes is one transaction, on disk before it counts.
"""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import msgspec

from controllers.entries import Entry, Gone
from controllers.keeping import GONE_KEPT, CannotKeep, Changes, Keeper, Kept, Standing, Unkept
from informers.api.errors import ConfigurationError

FORMAT = 1
"""What the tables above mean. A file with a higher number is refused."""
NAME = "view.sqlite"

_APPLICATION = 0x6B637076
"""SQLite's application_id of our files: `kcpv`."""

_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE entry (place TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE gone (number INTEGER PRIMARY KEY AUTOINCREMENT, value BLOB NOT NULL);
CREATE TABLE standing (id INTEGER PRIMARY KEY CHECK (id = 1), value BLOB NOT NULL);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {FORMAT};
COMMIT;
"""

_encode = msgspec.json.encode


class ViewFile:
    """An open file; a Keeper. Use it from one event loop, and within `kept_view`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, *, gone_kept: int = GONE_KEPT) -> None:
        """Use `open_view`."""
        self._path = path
        self._connection = connection
        self._gone_kept = gone_kept
        self._thread = ThreadPoolExecutor(1, "view")

    def load(self) -> Kept:
        """Read everything; raises `ConfigurationError` for what no view of ours is."""
        run = self._connection.execute
        try:
            entries = tuple(msgspec.json.decode(value, type=Entry) for (value,) in run("SELECT value FROM entry"))
            rows = run("SELECT value FROM gone ORDER BY number")
            gone = tuple(msgspec.json.decode(value, type=Gone) for (value,) in rows)
            standing = run("SELECT value FROM standing").fetchone()
            known = msgspec.json.decode(standing[0], type=Standing) if standing else Standing()
        except (sqlite3.Error, msgspec.DecodeError) as error:
            raise _unreadable(self._path, error) from error
        return Kept(entries, gone, known)

    async def save(self, changes: Changes) -> None:
        """Write the changes in one transaction, off the loop; they are on disk when this returns."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._write, changes)

    async def aclose(self) -> None:
        """Wait until what is being written is, and close the file."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)
        self._thread.shutdown()

    def _write(self, changes: Changes) -> None:
        many = self._connection.executemany
        entries = [(_encode(place).decode(), one) for place, one in changes.entries.items()]
        with self._transaction():
            many("DELETE FROM entry WHERE place = ?", [(place,) for place, one in entries if one is None])
            many("REPLACE INTO entry VALUES (?, ?)", [(place, _encode(one)) for place, one in entries if one])
            many("INSERT INTO gone (value) VALUES (?)", [(_encode(one),) for one in changes.gone])
            if changes.gone:
                many("DELETE FROM gone WHERE number <= (SELECT max(number) FROM gone) - ?", [(self._gone_kept,)])
            if changes.standing is not None:
                many("REPLACE INTO standing VALUES (1, ?)", [(_encode(changes.standing),)])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):  # if this fails too, the next BEGIN says so
                self._connection.execute("ROLLBACK")
            raise CannotKeep(f"cannot write to {self._path}: {error}") from error


@asynccontextmanager
async def kept_view(folder: Path, *, in_memory: bool) -> AsyncIterator[Keeper]:
    """Keep a view in the folder, which is this process' own, while the block runs; or nowhere, in memory.

    Raises `ConfigurationError` for a file that cannot be used.
    """
    if in_memory:
        yield Unkept()
        return
    file = open_view(folder / NAME)
    try:
        yield file
    finally:
        await file.aclose()


def open_view(path: Path, *, gone_kept: int = GONE_KEPT) -> ViewFile:
    """Open the file, or make it. Raises `ConfigurationError`."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # SQLite gives its log the same rights
        connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise ConfigurationError(
            f"expected to read and write {path}, found: {error}; name another directory with --data-dir"
        ) from error
    try:
        _prepare(path, connection)
    except sqlite3.Error as error:
        connection.close()
        raise _unreadable(path, error) from error
    except BaseException:
        connection.close()
        raise
    return ViewFile(path, connection, gone_kept=gone_kept)


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    """Check whose file it is, and in which format; fill a new one."""
    for setting in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL", "fullfsync = ON"):
        connection.execute(f"PRAGMA {setting}")
    application, number, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) "
        "FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if (application, number, tables) == (0, 0, 0):
        connection.executescript(_SCHEMA)
    elif application != _APPLICATION:
        raise ConfigurationError(
            f"expected what a kcpctl has seen of shards in {path}, found another SQLite database; "
            "name another directory with --data-dir"
        )
    elif number > FORMAT:
        raise ConfigurationError(
            f"expected {path} in format {FORMAT}, found format {number}: a newer kcpctl wrote it; "
            "run that version, or name another directory with --data-dir"
        )


def _unreadable(path: Path, error: Exception) -> ConfigurationError:
    return ConfigurationError(
        f"expected what a kcpctl has seen of shards in {path}, found: {error}; "
        "move the file away to begin without (what is published then stays until all is known again)"
    )
