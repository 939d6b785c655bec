"""The file behind the durable engine: what stands in it, and how it is read and written.

    store(identity, revision)                  one row: the store's UUID, and the counter of revisions
    term(number, name, since)                  the latest openings, and the revision at which each began
    object(key, revision, value)               what there is now
    change(revision, key, was_revision, was)   how to undo the latest changes, one a revision, without gaps

Everything here blocks, and is called from one thread.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from kcpctl.apiserver.storage.base import Change, Record, Term, Unavailable, Unwritable
from kcpctl.apiserver.storage.revisions import new_term
from kcpctl.apiserver.storage.soundness import Damaged, Whereabouts, check_values

_TERMS_KEPT = 16
"""Whoever was away for more openings than this does not know the store any more."""

_PUT = """
INSERT INTO object (key, revision, value) VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, value = excluded.value
"""

_FORGET_EVERY = 1024
"""Changes that may stay in the file longer than in memory, so that few transactions have to delete."""


_OF_ONE_RECORD = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    UnicodeError,
    OverflowError,
)
"""What may be the fault of one record: a text that is none, something that is too large, a rule of the schema."""


class Loaded(msgspec.Struct, frozen=True):
    """What a file held when it was opened."""

    identity: str
    terms: tuple[Term, ...]
    revision: int
    records: list[Record]
    changes: list[Change]
    """The latest ones, up to `revision`."""


class SqliteFile:
    """An open file.

    Invariant: the changes in it are those of the revisions up to the counter, from some revision on, without a gap.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Use `sqlite_opening.open_file`."""
        self.path = path
        self._connection = connection
        self._oldest = 0
        self._whereabouts = Whereabouts(path)

    def load(self, changes: int) -> Loaded:
        """Begin a term, and read everything, but at most that many changes.

        Raises `sqlite3.Error`, `Unavailable`, `Damaged`.
        """
        run = self._connection.execute
        if (row := run("SELECT identity, revision FROM store").fetchone()) is None:
            raise Damaged("its identity and its revision are not in it any more")
        identity, revision = row
        self._oldest = run("SELECT coalesce(min(revision) - 1, ?) FROM change", (revision,)).fetchone()[0]
        records = [Record(*row) for row in run("SELECT key, revision, value FROM object")]
        undo = run(
            "SELECT revision, key, was_revision, was FROM change WHERE revision > ? ORDER BY revision DESC",
            (revision - changes,),
        )
        redone = _redone(undo.fetchall(), records)
        check_values(records)
        check_values(change.previous for change in redone if change.previous is not None)
        return Loaded(identity, self._begin_term(revision), revision, records, redone)

    def commit(self, changes: Sequence[Change], oldest: int) -> None:
        """Make changes durable, all or none; history up to `oldest` may go meanwhile.

        Raises `Unavailable`; `Unwritable` if the fault may be with one of the changes alone.
        """
        forget = oldest - self._oldest >= _FORGET_EVERY
        with self._transaction():
            self._write(changes)
            if forget:
                self._forget(oldest)
        if forget:
            self._oldest = oldest

    def forget(self, oldest: int) -> None:
        """Drop the history up to `oldest`. Raises `Unavailable`."""
        with self._transaction():
            self._forget(oldest)
        self._oldest = max(oldest, self._oldest)

    def close(self) -> None:
        """Fold the log into the file and unlock it."""
        self._connection.close()
        pid_file(self.path).unlink(missing_ok=True)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._whereabouts.check()
            self._connection.execute("COMMIT")
        except BaseException as error:
            with suppress(sqlite3.Error):  # if this fails too, the next BEGIN says so
                self._connection.execute("ROLLBACK")
            if isinstance(error, _OF_ONE_RECORD):
                raise Unwritable(f"cannot write to {self.path}: {error}") from error
            if isinstance(error, sqlite3.Error | OSError):  # the latter where it cannot even be looked for
                raise Unavailable(f"cannot write to {self.path}: {error}") from error
            raise

    def _begin_term(self, revision: int) -> tuple[Term, ...]:
        """Note that somebody opened the file; no write may happen before that is on disk."""
        term = new_term(revision)
        run = self._connection.execute
        with self._transaction():
            run("INSERT INTO term (name, since) VALUES (?, ?)", (term.name, term.since))
            run("DELETE FROM term WHERE number <= (SELECT max(number) FROM term) - ?", (_TERMS_KEPT,))
        return tuple(Term(*row) for row in run("SELECT name, since FROM term ORDER BY number"))

    def _write(self, changes: Sequence[Change]) -> None:
        many = self._connection.executemany
        many(_PUT, [(c.key, c.revision, c.value) for c in changes if c.value is not None])
        many("DELETE FROM object WHERE key = ?", [(c.key,) for c in changes if c.value is None])
        many("INSERT INTO change VALUES (?, ?, ?, ?)", [(c.revision, c.key, *_was(c)) for c in changes])
        self._connection.execute("UPDATE store SET revision = ?", (changes[-1].revision,))

    def _forget(self, oldest: int) -> None:
        self._connection.execute("DELETE FROM change WHERE revision <= ?", (oldest,))


def _redone(undo: list[tuple[int, str, int | None, bytes | None]], records: list[Record]) -> list[Change]:
    """Return changes, oldest first, from what undoes them, newest first.

    A change's value is what the next change of its key undid, or what is there now.
    """
    after: dict[str, bytes | None] = {record.key: record.value for record in records}
    changes = []
    for revision, key, was_revision, was in undo:
        previous = Record(key, was_revision, was) if was_revision is not None and was is not None else None
        changes.append(Change(key, revision, after.get(key), previous))
        after[key] = was
    changes.reverse()
    return changes


def _was(change: Change) -> tuple[int | None, bytes | None]:
    return (None, None) if change.previous is None else (change.previous.revision, change.previous.value)


def pid_file(path: Path) -> Path:
    """Return where a store's file says which process uses it."""
    return path.with_name(path.name + ".pid")
