from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kcpctl.apiserver.storage.base import Change, Storage
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.storage.sqlite import SqliteStorage


@pytest.fixture(params=["memory", "sqlite"])
async def storage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    if request.param == "memory":
        store: Storage = MemoryStorage()
    else:
        store = await SqliteStorage.open(tmp_path / "store.db")
    yield store
    await store.aclose()


async def test_a_listener_has_heard_of_a_write_when_the_writer_goes_on(storage: Storage) -> None:
    heard: list[tuple[str, bytes | None, int]] = []
    storage.listen("/a/", lambda change: heard.append((change.key, change.value, storage.revision)))

    first = await storage.create("/a/x", b"1")
    await storage.create("/b/x", b"1")
    second = await storage.update("/a/x", b"2", expect=first)
    last = await storage.delete("/a/x", expect=second)

    assert heard == [("/a/x", b"1", first), ("/a/x", b"2", second), ("/a/x", None, last)]


async def test_a_listener_that_raises_takes_nothing_away_from_watches() -> None:
    store = MemoryStorage()
    feed = store.watch("/a/", store.revision)

    def broken(change: Change) -> None:
        raise ValueError(change.key)

    store.listen("/a/", broken)
    with pytest.raises(ValueError, match="/a/x"):
        await store.create("/a/x", b"1")

    assert [change.key for change in (await anext(feed)).changes] == ["/a/x"]
    await feed.aclose()


async def test_a_listener_hears_before_watches_do(storage: Storage) -> None:
    order: list[str] = []
    feed = storage.watch("/a/", storage.revision)
    await anext(feed)
    storage.listen("/a/", lambda change: order.append("listener"))

    await storage.create("/a/x", b"1")
    batch = await anext(feed)
    order += ["watch" for _ in batch.changes]

    assert order == ["listener", "watch"]
    await feed.aclose()
