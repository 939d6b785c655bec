"""What the engine in memory promises beyond being right: bounds, wake-ups, beginnings and ends."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from informers.clock import VirtualClock
from informers.tasks import background
from kcpctl.apiserver.storage import feeds
from kcpctl.apiserver.storage.base import Batch, Change, Compacted, FutureRevision, Unavailable
from kcpctl.apiserver.storage.feeds import MemoryFeed
from kcpctl.apiserver.storage.history import Window
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.storage.revisions import first_revision

PODS = "/registry/core/pods/"


async def _all(feed: MemoryFeed) -> list[Batch]:
    return [batch async for batch in feed]


@pytest.fixture
async def store() -> AsyncIterator[MemoryStorage]:
    store = MemoryStorage()
    yield store
    await store.aclose()


async def test_a_store_that_comes_back_empty_begins_above_every_revision_of_the_earlier_one():
    clock = VirtualClock()
    before = MemoryStorage(clock=clock)
    for n in range(100):
        await before.create(f"{PODS}{n}", b"")

    await clock.advance(0.001)
    after = MemoryStorage(clock=clock)

    assert after.revision > before.revision
    assert after.identity != before.identity
    with pytest.raises(Compacted):
        await anext(after.watch(PODS, before.revision))


def test_first_revisions_are_exact_in_every_client_language_for_centuries():
    assert first_revision(datetime(2025, 1, 1, 0, 0, 1, tzinfo=UTC)) == 1_000_000
    assert first_revision(datetime(2310, 1, 1, tzinfo=UTC)) < 2**53


async def test_a_waiting_watch_wakes_with_all_changes_of_a_burst(store: MemoryStorage):
    feed = store.watch(PODS, store.revision)
    await anext(feed)
    async with background(anext(feed)) as [waiting]:
        await asyncio.sleep(0)

        first = await store.create(f"{PODS}a", b"1")
        await store.update(f"{PODS}a", b"2", expect=first)
        batch = await waiting

    assert [change.value for change in batch.changes] == [b"1", b"2"]
    assert batch.revision == store.revision


async def test_a_write_wakes_a_few_watches_in_each_turn_and_what_comes_meanwhile_joins(store: MemoryStorage):
    watches = [store.watch(PODS, store.revision) for _ in range(50)]
    for feed in watches:
        await anext(feed)
    async with background(*(anext(feed) for feed in watches)) as waiting:
        await asyncio.sleep(0)
        await store.create(f"{PODS}0", b"")

        woken = []
        while len(woken) < 20:
            await asyncio.sleep(0)
            before, woken = woken, [task for task in waiting if task.done()]
            assert len(woken) - len(before) <= feeds._AT_ONCE
        await store.create(f"{PODS}1", b"")
        batches = [await task for task in waiting]

    assert {len(batch.changes) for batch in batches[:20]} == {1}
    assert {len(batch.changes) for batch in batches[-20:]} == {2}
    assert [len((await anext(feed)).changes) for feed in watches[:20]] == [1] * 20


async def test_a_watch_from_the_future_skips_what_comes_before(store: MemoryStorage):
    feed = store.watch(PODS, store.revision + 2)
    assert (await anext(feed)).revision == store.revision

    written = [await store.create(f"{PODS}{n}", b"") for n in range(4)]

    assert [change.revision for change in (await anext(feed)).changes] == written[2:]


async def test_a_cancelled_wait_loses_nothing(store: MemoryStorage):
    feed = store.watch(PODS, store.revision)
    await anext(feed)
    async with background(anext(feed)) as [waiting]:
        await asyncio.sleep(0)
        await store.create(f"{PODS}a", b"1")
        waiting.cancel()

    assert [change.value for change in (await anext(feed)).changes] == [b"1"]


async def test_a_consumer_that_sleeps_through_a_flood_still_gets_every_change_in_order(store: MemoryStorage):
    feed = store.watch(PODS, store.revision)
    await anext(feed)
    written = [await store.create(f"{PODS}{n}", b"") for n in range(3 * feeds._PENDING)]

    found: list[Change] = []
    while len(found) < len(written):
        found += (await anext(feed)).changes

    assert [change.revision for change in found] == written


async def test_a_flood_holds_no_more_for_a_sleeper_than_its_bound(store: MemoryStorage):
    feed = store.watch(PODS, store.revision)
    for n in range(3 * feeds._PENDING):
        await store.create(f"{PODS}{n}", b"")

    assert len(feed._pending) <= feeds._PENDING


async def test_a_consumer_that_falls_behind_history_is_told_and_gets_nothing_less():
    store = MemoryStorage(window=Window(changes=100))
    feed = store.watch(PODS, store.revision)
    await anext(feed)
    for n in range(feeds._PENDING + 200):
        await store.create(f"{PODS}{n}", b"")

    with pytest.raises(Compacted) as caught:
        await anext(feed)

    assert caught.value.oldest == store.oldest


async def test_a_write_reaches_only_the_watches_of_its_own_collection(store: MemoryStorage):
    other = store.watch("/registry/core/nodes/", store.revision)
    await anext(other)
    async with background(anext(other)) as [waiting]:
        await asyncio.sleep(0)
        await store.create(f"{PODS}a", b"")
        await asyncio.sleep(0)

        assert not waiting.done()


async def test_closing_a_feed_ends_its_consumer_and_lets_go_of_it(store: MemoryStorage):
    feed = store.watch(PODS, store.revision)
    async with background(_all(feed)) as [consumer]:
        await asyncio.sleep(0)

        await feed.aclose()

        assert len(await consumer) == 1
    assert len(store._state.feeds) == 0


async def test_a_closed_store_ends_all_feeds_and_refuses_writes():
    store = MemoryStorage()
    feed = store.watch(PODS, store.revision)
    await anext(feed)

    await store.aclose()

    with pytest.raises(StopAsyncIteration):
        await anext(feed)
    with pytest.raises(Unavailable, match="closed"):
        await store.create(f"{PODS}a", b"")


async def test_history_is_kept_for_five_minutes_and_then_goes():
    clock = VirtualClock()
    store = MemoryStorage(clock=clock)
    start = store.revision
    old = await store.create(f"{PODS}old", b"")
    await clock.advance(299)
    await store.create(f"{PODS}young", b"")
    assert store.oldest == start

    await clock.advance(1)
    await store.create(f"{PODS}new", b"")

    assert store.oldest == old


async def test_history_is_bounded_by_the_bytes_that_it_alone_keeps_alive():
    store = MemoryStorage(window=Window(size=10_000))
    revision = await store.create(f"{PODS}a", bytes(1000))
    for _ in range(100):
        revision = await store.update(f"{PODS}a", bytes(1000), expect=revision)

    assert 8 <= store.revision - store.oldest <= 10


async def test_compaction_makes_the_past_unreadable_and_no_more(store: MemoryStorage):
    first = await store.create(f"{PODS}a", b"1")
    second = await store.update(f"{PODS}a", b"2", expect=first)

    await store.compact(second)

    assert [r.value for r in (await store.range(PODS, revision=second)).records] == [b"2"]
    with pytest.raises(Compacted):
        await store.range(PODS, revision=first)
    with pytest.raises(FutureRevision):
        await store.compact(second + 1)
