"""What the engine on disk promises beyond being right: durability, grouping, restarts, and clear refusals."""

import asyncio
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from informers.tasks import background
from kcpctl.apiserver.storage import sqlite_file, sqlite_opening
from kcpctl.apiserver.storage.base import KeyExists, Mismatch, Record, Unavailable, Unwritable
from kcpctl.apiserver.storage.history import Window
from kcpctl.apiserver.storage.sqlite import SqliteStorage
from kcpctl.apiserver.storage.sqlite_opening import FORMAT, CannotOpen

PODS = "/registry/core/pods/"


class Disk:
    """A disk between the engine and its file: it counts commits, and can be told to fail or to hang."""

    def __init__(self) -> None:
        self.commits = 0
        self.error: str | None = None
        self.free = threading.Event()
        self.free.set()

    def connect(self, path: Path) -> sqlite3.Connection:
        return sqlite3.connect(
            path,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
            factory=lambda *a, **k: Faulty(self, *a, **k),
        )

    @contextmanager
    def hanging(self) -> Iterator[None]:
        self.free.clear()
        try:
            yield
        finally:
            self.free.set()


class Faulty(sqlite3.Connection):
    def __init__(self, disk: Disk, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.disk = disk

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        if sql == "COMMIT":
            self.disk.free.wait(10)
            if self.disk.error is not None:
                raise sqlite3.OperationalError(self.disk.error)
            self.disk.commits += 1
        return super().execute(sql, *parameters)


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
async def store(path: Path, disk: Disk) -> AsyncIterator[SqliteStorage]:
    store = await SqliteStorage.open(path, connect=disk.connect)
    yield store
    await store.aclose()


async def settle() -> None:
    """Let everything that is ready run; what waits for the disk goes on waiting."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_write_is_neither_answered_nor_visible_before_it_is_on_disk(store: SqliteStorage, disk: Disk):
    before = store.revision
    feed = store.watch(PODS, before)
    await anext(feed)
    with disk.hanging():
        async with background(store.create(f"{PODS}a", b"1"), anext(feed)) as [writing, watching]:
            await settle()

            assert not writing.done()
            assert not watching.done()
            assert await store.get(f"{PODS}a") is None
            assert (await store.range(PODS)).records == []
            assert store.revision == before

            disk.free.set()
            assert await writing == before + 1
            assert [change.revision for change in (await watching).changes] == [before + 1]


async def test_what_arrives_while_the_disk_is_busy_is_one_more_group(store: SqliteStorage, disk: Disk):
    before = disk.commits
    with disk.hanging():
        async with background(store.create(f"{PODS}first", b"")) as [first]:
            await settle()
            async with background(*(store.create(f"{PODS}{n}", b"") for n in range(50))) as others:
                await settle()
                disk.free.set()
                await first
                revisions = [await other for other in others]

    assert disk.commits - before == 2
    assert revisions == list(range(first.result() + 1, first.result() + 51))


async def test_a_second_write_to_a_key_is_judged_by_what_the_first_one_left_on_disk(store: SqliteStorage, disk: Disk):
    with disk.hanging():
        async with background(store.create(f"{PODS}a", b"1")) as [first]:
            await settle()

            async def second() -> None:
                with pytest.raises(KeyExists):
                    await store.create(f"{PODS}a", b"2")
                with pytest.raises(Mismatch) as caught:
                    await store.update(f"{PODS}a", b"3", expect=1)
                assert caught.value.current == Record(f"{PODS}a", first.result(), b"1")

            async with background(second()) as [judging]:
                await settle()
                assert not judging.done()
                disk.free.set()
                await judging


async def test_of_two_creations_of_one_key_at_the_same_time_one_succeeds(store: SqliteStorage):
    outcomes = await asyncio.gather(*(store.create(f"{PODS}a", b"") for _ in range(2)), return_exceptions=True)

    assert outcomes[0] == store.revision
    assert isinstance(outcomes[1], KeyExists)


async def test_a_group_that_cannot_be_written_fails_whole_and_leaves_no_trace(store: SqliteStorage, disk: Disk):
    kept = await store.create(f"{PODS}kept", b"1")
    feed = store.watch(PODS, kept)
    disk.error = "disk I/O error"

    outcomes = await asyncio.gather(
        store.create(f"{PODS}a", b""),
        store.update(f"{PODS}kept", b"2", expect=kept),
        store.delete(f"{PODS}kept", expect=kept),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes] == [Unavailable] * 3
    assert len({id(outcome) for outcome in outcomes}) == 3
    assert "disk I/O error" in str(outcomes[0])
    assert "store.db" in str(outcomes[0])
    assert (await store.range(PODS)).records == [Record(f"{PODS}kept", kept, b"1")]
    assert (await anext(feed)).changes == []
    disk.error = None
    assert await store.create(f"{PODS}b", b"") == kept + 1


async def test_a_failed_group_is_not_there_after_a_restart(path: Path, disk: Disk):
    store = await SqliteStorage.open(path, connect=disk.connect)
    disk.error = "disk I/O error"
    with pytest.raises(Unavailable):
        await store.create(f"{PODS}a", b"")
    revision = store.revision
    disk.error = None
    await store.aclose()

    again = await SqliteStorage.open(path)

    assert (await again.range("")).records == []
    assert again.revision == revision
    await again.aclose()


async def test_a_full_disk_refuses_what_does_not_fit_and_goes_on_with_what_does(path: Path):
    def small(path: Path) -> sqlite3.Connection:
        connection = sqlite_opening.connect(path)
        connection.execute("PRAGMA max_page_count = 20")
        return connection

    store = await SqliteStorage.open(path, connect=small)

    with pytest.raises(Unavailable, match="full"):
        await store.create(f"{PODS}big", bytes(1 << 20))

    assert await store.get(f"{PODS}big") is None
    revision = await store.create(f"{PODS}small", b"1")
    await store.aclose()
    store = await SqliteStorage.open(path)
    assert (await store.range("")).records == [Record(f"{PODS}small", revision, b"1")]
    await store.aclose()


async def test_a_write_whose_caller_went_before_its_group_is_not_made(store: SqliteStorage, disk: Disk):
    with disk.hanging():
        async with background(store.create(f"{PODS}first", b""), store.create(f"{PODS}beside", b"")) as [first, _]:
            await settle()
            async with background(store.create(f"{PODS}gone", b"")):
                await settle()
            disk.free.set()
            await first

    await store.create(f"{PODS}last", b"")
    assert {record.key for record in (await store.range(PODS)).records} == {
        f"{PODS}first",
        f"{PODS}beside",
        f"{PODS}last",
    }


async def test_closing_waits_for_the_writes_that_were_asked_for(path: Path, disk: Disk):
    store = await SqliteStorage.open(path, connect=disk.connect)
    with disk.hanging():
        async with background(*(store.create(f"{PODS}{n}", b"") for n in range(300))) as writes:
            await settle()
            async with background(store.aclose()) as [closing]:
                await settle()
                assert not closing.done()
                with pytest.raises(Unavailable, match="closed"):
                    await store.create(f"{PODS}late", b"")
                disk.free.set()
                await closing
            assert all(write.done() for write in writes)

    store = await SqliteStorage.open(path)
    assert len((await store.range(PODS)).records) == 300
    await store.aclose()


async def test_closing_that_was_cancelled_is_finished_by_closing_again(path: Path, disk: Disk):
    store = await SqliteStorage.open(path, connect=disk.connect)
    with disk.hanging():
        async with background(store.create(f"{PODS}a", b"1"), store.aclose()) as [writing, closing]:
            await settle()
            closing.cancel()
            await settle()
            disk.free.set()
            await writing
    await store.aclose()
    await store.aclose()

    again = await SqliteStorage.open(path)
    assert [record.key for record in (await again.range("")).records] == [f"{PODS}a"]
    await again.aclose()


async def test_a_write_that_sqlite_cannot_even_take_harms_no_later_one(store: SqliteStorage):
    with pytest.raises(Unwritable, match=r"store\.db"):
        await store.create(f"{PODS}\ud800", b"1")

    await store.create(f"{PODS}a", b"1")


async def test_a_write_that_sqlite_cannot_take_fails_alone(path: Path, disk: Disk, store: SqliteStorage):
    before, commits = store.revision, disk.commits
    names = [f"{PODS}{name}" for name in ("a", "b", "\ud800", "c", "d")]

    outcomes = await asyncio.gather(*(store.create(name, b"1") for name in names), return_exceptions=True)

    assert outcomes == [before + 1, before + 2, outcomes[2], before + 3, before + 4]
    assert isinstance(outcomes[2], Unwritable)
    await asyncio.gather(*(store.create(f"{PODS}later{n}", b"1") for n in range(9)))
    await store.aclose()
    again = await SqliteStorage.open(path)
    assert len((await again.range(PODS)).records) == 4 + 9
    assert disk.commits - commits == 4 + 1, "the writes of later groups share a commit"
    await again.aclose()


@pytest.mark.parametrize("suffix", ["", "-wal"])
@pytest.mark.parametrize("replaced", [False, True])
async def test_a_write_to_a_file_that_is_not_there_any_more_is_refused(path: Path, suffix: str, replaced: bool):
    store = await SqliteStorage.open(path)
    kept = await store.create(f"{PODS}kept", b"1")
    file = path.with_name(path.name + suffix)
    away = file.rename(path.with_name("away"))
    if replaced:
        shutil.copy(away, file)

    outcomes = await asyncio.gather(
        store.create(f"{PODS}a", b"1"), store.delete(f"{PODS}kept", expect=kept), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes] == [Unavailable] * 2
    assert re.search(r"expected store\.db.* found it (gone|another file); .*start again", str(outcomes[0]))
    assert (await store.range(PODS)).records == [Record(f"{PODS}kept", kept, b"1")]

    away.rename(file)
    assert await store.create(f"{PODS}a", b"1") == kept + 1
    await store.aclose()


async def test_a_write_to_a_file_that_cannot_even_be_looked_for_is_refused_in_one_line(tmp_path: Path):
    folder, away = tmp_path / "data", tmp_path / "away"
    folder.mkdir()
    store = await SqliteStorage.open(folder / "store.db")
    folder.rename(away)
    folder.write_text("no folder")

    with pytest.raises(Unavailable, match=r"cannot write to .*store\.db: .*Not a directory"):
        await store.create(f"{PODS}a", b"1")

    folder.unlink()
    away.rename(folder)
    assert await store.create(f"{PODS}a", b"1") == store.revision
    await store.aclose()


@pytest.mark.parametrize("part", range(8))
async def test_bytes_that_are_overwritten_anywhere_in_the_file_are_found_at_the_next_start(path: Path, part: int):
    store = await SqliteStorage.open(path)
    value = b'{"metadata":{"name":"a"},"data":{"text":"%b"}}' % (b"x" * 900)
    await asyncio.gather(*(store.create(f"{PODS}{n:04}", value) for n in range(1000)))
    await store.aclose()
    size = path.stat().st_size
    spoilt = Random(part).randbytes(3000)
    with path.open("r+b") as file:
        file.seek(size * part // 8)
        file.write(spoilt)

    with pytest.raises(CannotOpen, match=r"expected a kcpctl store in .*store\.db, found: .*: put a copy"):
        await SqliteStorage.open(path)

    assert spoilt in path.read_bytes()


async def test_a_value_whose_bytes_were_changed_is_named(path: Path):
    store = await SqliteStorage.open(path)
    await store.create(f"{PODS}a", b'{"data":"12345678"}')
    await store.aclose()
    path.write_bytes(path.read_bytes().replace(b"12345678", b"1\xff345678"))

    with pytest.raises(CannotOpen, match=rf"found: the object at {PODS}a is not the text that was written; nothing"):
        await SqliteStorage.open(path)


async def test_a_watch_goes_on_after_a_restart_with_every_change_once(path: Path):
    store = await SqliteStorage.open(path)
    start = store.revision
    first = await store.create(f"{PODS}a", b"1")
    second = await store.update(f"{PODS}a", b"2", expect=first)
    await store.delete(f"{PODS}a", expect=second)
    await store.create(f"{PODS}a", b"3")
    before = (await anext(store.watch(PODS, start))).changes
    await store.aclose()

    store = await SqliteStorage.open(path)
    after = (await anext(store.watch(PODS, start))).changes

    assert list(after) == list(before)
    assert [change.value for change in after] == [b"1", b"2", None, b"3"]
    assert [r.value for r in (await store.range(PODS, revision=second)).records] == [b"2"]
    await store.aclose()


async def test_compacted_history_stays_gone(path: Path):
    store = await SqliteStorage.open(path)
    revisions = [await store.create(f"{PODS}{n}", b"") for n in range(5)]
    await store.compact(revisions[3])
    await store.aclose()

    store = await SqliteStorage.open(path)

    assert (store.oldest, store.revision) == (revisions[3], revisions[4])
    await store.aclose()


async def test_the_file_does_not_keep_history_for_ever(path: Path):
    store = await SqliteStorage.open(path, window=Window(changes=10))
    for _ in range(30):
        await asyncio.gather(*(store.create(f"{PODS}{n}-{store.revision}", b"") for n in range(100)))
    await store.aclose()

    with sqlite3.connect(path) as connection:
        [rows] = connection.execute("SELECT count(*) FROM change").fetchone()
    connection.close()
    assert rows <= 10 + 2 * sqlite_file._FORGET_EVERY


_WRITER = """
import asyncio, sys
from pathlib import Path
from kcpctl.apiserver.storage.sqlite import SqliteStorage

async def main():
    store = await SqliteStorage.open(Path(sys.argv[1]))

    async def write(who):
        for number in range(100_000):
            key = f"/registry/core/pods/{who}-{number}"
            print(key, await store.create(key, b"x" * 500), flush=True)

    await asyncio.gather(*(write(who) for who in range(8)))

asyncio.run(main())
"""


@contextmanager
def writer(path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", _WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[4]) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


async def test_what_was_answered_survives_a_kill(path: Path):
    with writer(path) as process:
        assert process.stdout is not None
        answered = [next(process.stdout).split() for _ in range(500)]
        process.send_signal(signal.SIGKILL)
        answered += [line.split() for line in process.stdout if line.endswith("\n")]

    store = await SqliteStorage.open(path)

    there = {record.key: record.revision for record in (await store.range("")).records}
    assert {key: int(revision) for key, revision in answered}.items() <= there.items()
    assert store.revision == max(there.values())
    assert sorted(there.values()) == list(range(min(there.values()), store.revision + 1))
    await store.aclose()


async def test_a_file_that_another_process_uses_is_refused_with_its_folder_and_that_process(path: Path):
    with writer(path) as process:
        assert process.stdout is not None
        next(process.stdout)

        with pytest.raises(CannotOpen) as caught:
            await SqliteStorage.open(path)

    assert str(caught.value) == (
        f"expected {path.parent} to be used by this process alone, found store.db in use by process {process.pid}; "
        "stop that process or use another data directory"
    )


async def test_a_file_can_be_opened_once_only_even_by_one_process(store: SqliteStorage, path: Path):
    with pytest.raises(CannotOpen, match=f"in use by process {os.getpid()}"):
        await SqliteStorage.open(path)

    assert await store.create(f"{PODS}a", b"") == store.revision


async def test_a_newer_format_is_refused_with_file_and_versions(path: Path):
    await (await SqliteStorage.open(path)).aclose()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    connection.close()

    with pytest.raises(CannotOpen) as caught:
        await SqliteStorage.open(path)

    assert str(caught.value) == (
        f"expected {path} in format {FORMAT} or older, found format {FORMAT + 1}: a newer kcpctl wrote it; "
        "run that version, or use another data directory"
    )


async def test_a_foreign_database_is_left_alone(path: Path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()

    with pytest.raises(CannotOpen, match="another SQLite database"):
        await SqliteStorage.open(path)

    connection = sqlite3.connect(path)
    assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("theirs",)]
    connection.close()


async def test_a_file_that_is_no_database_is_refused(path: Path):
    path.write_text("something else entirely\n" * 100)

    with pytest.raises(CannotOpen, match=r"expected a kcpctl store in .*, found: file is not a database"):
        await SqliteStorage.open(path)


async def test_a_damaged_file_is_refused_and_let_go(path: Path):
    store = await SqliteStorage.open(path)
    for n in range(200):
        await store.create(f"{PODS}{n}", bytes(500))
    await store.aclose()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 40_000)

    for _ in range(2):
        with pytest.raises(
            CannotOpen, match=r"expected a kcpctl store in .*store\.db, found: .*; nothing of it was changed"
        ):
            await SqliteStorage.open(path)


async def test_opening_that_is_given_up_lets_the_file_go(path: Path, disk: Disk):
    with disk.hanging():
        async with background(SqliteStorage.open(path, connect=disk.connect)):
            await settle()
            disk.free.set()

    store = await _opened(path)
    await store.aclose()


async def _opened(path: Path) -> SqliteStorage:
    """Open a store that its last owner may be about to close."""
    while True:
        with suppress(CannotOpen):
            return await SqliteStorage.open(path)


async def test_a_missing_folder_is_named(tmp_path: Path):
    with pytest.raises(CannotOpen, match=r"missing/store\.db"):
        await SqliteStorage.open(tmp_path / "missing" / "store.db")


async def test_only_its_owner_can_read_the_file_and_its_log(store: SqliteStorage, path: Path):
    await store.create(f"{PODS}a", b"")

    modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir() if "pid" not in file.name}

    assert modes == {"store.db": 0o600, "store.db-wal": 0o600}


async def test_a_closed_store_leaves_one_file_behind(path: Path):
    store = await SqliteStorage.open(path)
    await store.create(f"{PODS}a", b"")

    await store.aclose()
    await store.aclose()

    assert [file.name for file in path.parent.iterdir()] == ["store.db"]


async def test_every_opening_is_a_term_of_its_own_that_begins_where_the_last_one_ended(path: Path):
    first = await SqliteStorage.open(path)
    start, end = first.revision, await first.create(f"{PODS}a", b"1")
    await first.aclose()
    second = await SqliteStorage.open(path)
    await second.aclose()

    assert second.identity == first.identity
    assert second.terms[:1] == first.terms
    assert [term.since for term in second.terms] == [start, end]


async def test_a_restored_copy_and_its_original_do_not_share_a_term_after_the_copy_was_made(path: Path, tmp_path: Path):
    """Else revisions that were lost with the original could not be told from later ones of the copy."""
    await (await SqliteStorage.open(path)).aclose()
    shutil.copy(path, tmp_path / "copy.db")

    original, copy = await SqliteStorage.open(path), await SqliteStorage.open(tmp_path / "copy.db")
    await original.aclose()
    await copy.aclose()

    assert original.terms[0] == copy.terms[0]
    assert original.terms[1].name != copy.terms[1].name


async def test_the_sixteen_latest_terms_are_remembered(path: Path):
    for _ in range(18):
        store = await SqliteStorage.open(path)
        await store.aclose()

    again = await SqliteStorage.open(path)
    await again.aclose()

    assert len(again.terms) == 16
    assert again.terms[:-1] == store.terms[1:]


async def test_a_file_without_terms_gets_them_and_keeps_all_else(path: Path):
    store = await SqliteStorage.open(path)
    await store.create(f"{PODS}a", b"1")
    await store.aclose()
    connection = sqlite3.connect(path)
    connection.executescript("DROP TABLE term; PRAGMA user_version = 1")
    connection.close()

    again = await SqliteStorage.open(path)
    found = await again.get(f"{PODS}a")
    await again.aclose()

    assert found is not None
    assert (found.value, again.identity) == (b"1", store.identity)
    assert [term.since for term in again.terms] == [store.revision]
    await (await SqliteStorage.open(path)).aclose()


async def test_a_damaged_file_is_refused_before_it_is_brought_up_to_date(path: Path):
    store = await SqliteStorage.open(path)
    await asyncio.gather(*(store.create(f"{PODS}{n:04}", bytes(900)) for n in range(200)))
    await store.aclose()
    connection = sqlite3.connect(path)
    connection.executescript("DROP TABLE term; PRAGMA user_version = 1")
    connection.close()
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xff" * 40_000)
    before = path.read_bytes()

    with pytest.raises(CannotOpen, match="nothing of it was changed"):
        await SqliteStorage.open(path)

    assert path.read_bytes() == before


async def test_a_file_that_has_lost_its_identity_is_refused(path: Path):
    await (await SqliteStorage.open(path)).aclose()
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM store")
    connection.commit()
    connection.close()

    with pytest.raises(CannotOpen, match="its identity and its revision are not in it any more; nothing of it"):
        await SqliteStorage.open(path)


async def test_a_file_in_which_no_term_can_begin_is_refused(path: Path):
    await (await SqliteStorage.open(path)).aclose()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TRIGGER full BEFORE INSERT ON term BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    connection.commit()
    connection.close()

    with pytest.raises(CannotOpen, match="disk is full"):
        await SqliteStorage.open(path)
