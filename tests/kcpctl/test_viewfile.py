"""A view that was kept is known after a restart, and one that cannot be read is one clear line."""

import re
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from controllers.entries import EXPORT, SHARD, Entry, Gone, Kind, Moment, Place, Seen, SeenExport, State
from controllers.keeping import CannotKeep, Changes, Kept, Standing
from controllers.publishing import SeenShard
from informers.api.errors import ConfigurationError
from informers.api.objects import Key
from kcpctl.viewfile import NAME, kept_view, open_view

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def entry(name: str, kind: Kind = SHARD, state: State = State.PRESENT) -> Entry:
    what: Seen = SeenShard(name, f"https://{name}", {"a": "b"}) if kind == SHARD else SeenExport("c1", "root:one", name)
    since = None if state is State.PRESENT else NOON
    return Entry(Place(kind, "cache", Key("beryl", "c1", "", name)), "uid", what, Moment("s", "t", "7"), state, since)


def changed(*entries: Entry, gone: tuple[Gone, ...] = (), standing: Standing | None = None) -> Changes:
    return Changes({one.place: one for one in entries}, gone, standing)


async def loaded(folder: Path) -> Kept:
    async with kept_view(folder, in_memory=False) as keeper:
        return keeper.load()


async def test_everything_that_was_saved_is_loaded_as_it_was(tmp_path: Path) -> None:
    every = [entry(f"{kind}-{state}", kind, state) for kind in (SHARD, EXPORT) for state in State]  # type: ignore[arg-type]
    gone = (
        Gone(SHARD, "uid", NOON, urls=("https://old",)),
        Gone(EXPORT, "uid", NOON, references=(("c1", "e"), ("root:one", "e"))),
    )
    standing = Standing(NOON, Moment("s", "t", "9"), NOON)
    async with kept_view(tmp_path, in_memory=False) as keeper:
        assert keeper.load() == Kept()
        await keeper.save(changed(*every, gone=gone, standing=standing))
        await keeper.save(changed(entry("later")))
        await keeper.save(Changes({every[0].place: None}))

    kept = await loaded(tmp_path)

    assert sorted(kept.entries, key=lambda one: one.place) == sorted(
        [*every[1:], entry("later")], key=lambda one: one.place
    )
    assert kept.gone == gone
    assert kept.standing == standing


async def test_what_had_a_place_before_is_kept_beside_what_has_it_now(tmp_path: Path) -> None:
    now = entry("beryl")
    former = msgspec.structs.replace(now, place=msgspec.structs.replace(now.place, former="uid of the former"))
    async with kept_view(tmp_path, in_memory=False) as keeper:
        await keeper.save(changed(former, now))
    assert {one.place for one in (await loaded(tmp_path)).entries} == {former.place, now.place}

    async with kept_view(tmp_path, in_memory=False) as keeper:
        await keeper.save(Changes({former.place: None}))
    assert (await loaded(tmp_path)).entries == (now,)


async def test_of_what_has_gone_the_latest_is_kept(tmp_path: Path) -> None:
    file = open_view(tmp_path / NAME, gone_kept=3)
    for number in range(5):
        await file.save(changed(gone=(Gone(SHARD, "", NOON, urls=(f"https://{number}",)),)))
    await file.aclose()

    assert [one.urls for one in (await loaded(tmp_path)).gone] == [("https://2",), ("https://3",), ("https://4",)]


async def test_in_memory_no_file_is_made(tmp_path: Path) -> None:
    async with kept_view(tmp_path, in_memory=True) as keeper:
        await keeper.save(changed(entry("beryl")))
        assert keeper.load() == Kept()

    assert list(tmp_path.iterdir()) == []


async def test_a_group_that_cannot_be_written_is_not_written_in_part_and_may_be_tried_again(tmp_path: Path) -> None:
    async with kept_view(tmp_path, in_memory=False):
        pass
    file = open_view(tmp_path / NAME)
    try:
        file._connection.execute("PRAGMA query_only = ON")
        with pytest.raises(CannotKeep, match=re.escape(str(tmp_path / NAME))):
            await file.save(changed(entry("beryl"), standing=Standing(NOON)))
        file._connection.execute("PRAGMA query_only = OFF")
        assert file.load() == Kept()

        await file.save(changed(entry("beryl")))
    finally:
        await file.aclose()

    assert [one.key.name for one in (await loaded(tmp_path)).entries] == ["beryl"]


def written(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (("CREATE TABLE other (id)",), "found another SQLite database; name another directory"),
        (("PRAGMA user_version = 99",), "found format 99: a newer kcpctl wrote it"),
        (("INSERT INTO entry VALUES ('x', '{\"place\": 1}')",), "move the file away"),
        (("DROP TABLE gone",), "move the file away"),
    ],
    ids=["another program's", "newer", "malformed", "incomplete"],
)
async def test_a_file_that_is_no_view_is_one_line_that_says_what_to_do(
    tmp_path: Path, statements: tuple[str, ...], told: str
) -> None:
    if "CREATE" not in statements[0]:
        await loaded(tmp_path)
    written(tmp_path / NAME, *statements)

    with pytest.raises(ConfigurationError) as raised:
        await loaded(tmp_path)

    assert told in str(raised.value)
    assert str(tmp_path / NAME) in str(raised.value)
    assert "\n" not in str(raised.value)


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"text " * 1000)

    with pytest.raises(ConfigurationError, match="move the file away"):
        await loaded(tmp_path)

    assert (tmp_path / NAME).read_bytes() == b"text " * 1000
