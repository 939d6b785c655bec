"""A shard's segment of the cache is written by one process at a time, and what it lacks is not taken for deleted."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager as AsyncContextManager
from contextlib import asynccontextmanager
from typing import Any

import pytest

from controllers.copies import HOLDER
from controllers.holding import holder_of
from controllers.kinds import EXPORTS, SHARDS, SLICES
from informers import ConfigurationError, Object
from tests.faults import writes
from tests.integration.objects import export, published, slice_of, url_of, urls
from tests.integration.site import ShardProcess, Site

REFUSED = (
    "expected to be the only shard named 'amber', found another one at https://amber.example.com:6443 in the cache; "
    "give this one a name of its own with --shard-name"
)


def written(process: ShardProcess) -> list[str]:
    """Return everything that a process has written to the cache."""
    return [f"{request.method} {request.target}" for request in process.cache.requests if writes()(request)]


async def copied(site: Site, shard: str = "amber") -> set[str]:
    """Return the names of all exports in a shard's segment."""
    return {obj.name for obj in await site.cache.client().list(EXPORTS) if obj.key.shard == shard}


async def own_copy(site: Site, shard: str = "amber") -> Object[Any]:
    return await site.cache.client().shard(shard).cluster("root").get(SHARDS, shard)


# Two processes of one name


async def impostor(site: Site, seconds: float = 0.0) -> list[str]:
    """Run a second process named amber over another store, without the cache for so long; return what it wrote there.

    It is expected to end within 14 seconds with the line that says why.
    """
    written_by: list[str] = []

    async def run() -> None:
        async with site.shard("impostor", called="amber", cache="away" if seconds else "") as process:
            await process.client.create(EXPORTS, export("other"))
            await site.clock.advance(seconds)
            process.cache.come_back()
            try:
                await site.clock.advance(14)
            finally:
                written_by.extend(written(process))

    with pytest.raises(ConfigurationError) as refused:
        await run()
    assert str(refused.value) == REFUSED
    return written_by


async def test_a_second_process_over_another_store_ends_before_it_writes_to_the_cache(site: Site) -> None:
    async with site.shard("amber") as amber:
        await amber.client.create(EXPORTS, export())
        await site.settle()

        assert await impostor(site) == []

        await site.settle()
        assert await copied(site) == {"widgets"}
        assert amber.ours.segment is not None
        assert amber.ours.segment.held


async def test_a_second_process_that_began_without_the_cache_ends_when_the_cache_is_there(site: Site) -> None:
    async with site.shard("amber"):
        await site.settle()

        assert await impostor(site, seconds=3600) == []


async def test_a_process_that_restarts_has_its_segment_whoever_came_meanwhile(site: Site) -> None:
    written_by: list[str] = []
    async with site.shard("amber") as amber:
        await amber.client.create(EXPORTS, export())
        await site.settle()

    async def run() -> None:
        async with site.shard("impostor", called="amber") as other:
            await other.client.create(EXPORTS, export("other"))
            await site.clock.advance(14)
            async with site.shard("amber") as again:
                await again.client.create(EXPORTS, export("later"))
                try:
                    await site.clock.advance(14)
                finally:
                    written_by.extend(written(other))

    with pytest.raises(ConfigurationError) as refused:
        await run()

    assert str(refused.value) == REFUSED
    assert written_by == []
    assert await copied(site) == {"widgets", "later"}


# Two processes of one name, and an emptied cache


async def taken_from_amber(
    site: Site, *, after: float, returns: Callable[[ShardProcess], AsyncContextManager[object]]
) -> None:
    """Have an impostor take amber's segment of an emptied cache, and amber hear of it so much later."""
    async with site.shard("impostor", called="amber") as other:
        await other.client.create(EXPORTS, export("other"))
        await site.clock.advance(after)
        assert other.ours.segment is not None
        assert other.ours.segment.held
        assert await copied(site) == {"other"}
        async with returns(other):
            await site.clock.advance(14)


def continuing(amber: ShardProcess) -> Callable[[ShardProcess], AsyncContextManager[object]]:
    """Have amber, which nothing has reached, hear of everything again."""

    @asynccontextmanager
    async def returns(_: ShardProcess) -> AsyncIterator[None]:
        amber.cache.release()
        yield

    return returns


@pytest.mark.parametrize("revision", [None, 1], ids=["higher revisions", "lower revisions"])
@pytest.mark.parametrize("after", [2.0, 12.0], ids=["while it may still write", "once it may not"])
async def test_who_takes_a_segment_that_was_lost_gives_way_to_who_had_it(
    site: Site, after: float, revision: int | None
) -> None:
    async with site.shard("violet") as violet:

        async def run() -> None:
            async with site.shard("amber") as amber:
                await amber.client.create(EXPORTS, export())
                await violet.client.create(SLICES, slice_of(path=amber.workspace))
                await site.clock.advance(60)
                amber.cache.hold()
                await site.restart_cache(empty=True, revision=revision)
                await taken_from_amber(site, after=after, returns=continuing(amber))

        with pytest.raises(ConfigurationError, match=r"https://amber\.example\.com"):
            await run()

        await site.settle()
        assert await copied(site) == {"widgets"}
        assert [entry for entry in violet.ours.view.held() if entry.place.kind == "shards"] == []
        [shard] = [one for one in violet.ours.view.shards().seen if one.name == "amber"]
        assert shard.url == url_of("amber")
    lost = [url for url in site.losses() if "impostor" not in url]
    assert lost == [], "amber's URLs were there all the time"


@pytest.mark.parametrize("is_killed", [True, False], ids=["killed", "stopped"])
async def test_so_it_does_to_a_process_that_restarts_over_the_same_store(site: Site, is_killed: bool) -> None:
    async with site.shard("amber", is_killed=is_killed) as amber:
        await amber.client.create(EXPORTS, export())
        await site.settle()
    await site.restart_cache(empty=True)

    with pytest.raises(ConfigurationError, match=r"https://amber\.example\.com"):
        await taken_from_amber(site, after=10, returns=lambda _: site.shard("amber"))

    async with site.shard("amber") as again:
        await site.settle()
        assert await copied(site) == {"widgets"}
        assert again.ours.segment is not None
        assert not again.ours.segment.is_doubted


async def test_after_fifteen_seconds_it_keeps_the_segment_and_the_others_url_is_held_until_somebody_lets_it_go(
    site: Site,
) -> None:
    async with site.shard("violet") as violet:
        await violet.client.create(EXPORTS, export("far"))
        await violet.client.create(SLICES, slice_of("far", export="far"))
        async with site.shard("amber"):
            await site.settle()
        await site.restart_cache(empty=True)

        async with site.shard("impostor", called="amber"):
            await site.clock.advance(21)

            async def late() -> None:
                async with site.shard("amber"):
                    await site.clock.advance(14)

            with pytest.raises(ConfigurationError, match=r"https://impostor\.example\.com"):
                await late()
            await site.settle()
            far = published(violet.workspace, "amber", "impostor", "violet", export="far")
            assert urls(await violet.client.get(SLICES, "far")) == far
    assert site.losses() == []


async def test_of_two_that_begin_over_an_empty_cache_one_ends_before_it_replicates_anything(site: Site) -> None:
    writes_of: dict[str, list[str]] = {}

    async def both() -> None:
        async with site.shard("amber", cache="away") as amber:
            await amber.client.create(EXPORTS, export())
            async with site.shard("other", called="amber", cache="away") as other:
                other.cache.come_back()
                amber.cache.come_back()
                try:
                    await site.clock.advance(14)
                finally:
                    writes_of.update(amber=written(amber), other=written(other))

    with pytest.raises(ConfigurationError, match="only shard named 'amber'"):
        await both()

    assert await copied(site) == set(), "the other one was first"
    assert [line.rpartition("/")[2] for line in writes_of["amber"]] in ([], ["shards"]), "at most it tried to be first"


async def test_a_process_that_was_away_for_so_long_that_another_took_over_writes_nothing_and_ends(site: Site) -> None:
    writes_of: dict[str, list[str]] = {}

    async def both() -> None:
        async with site.shard("amber") as amber:
            await site.settle()
            amber.cache.hold()
            await site.clock.advance(11)
            await amber.client.create(EXPORTS, export("late"))
            async with site.shard("successor", called="amber") as successor:
                await successor.client.create(EXPORTS, export("new"))
                await site.clock.advance(20)
                assert await copied(site) == {"new"}
                writes_of["before"] = written(amber)

                amber.cache.release()
                try:
                    await site.clock.advance(14)
                finally:
                    writes_of["after"] = written(amber)

    with pytest.raises(ConfigurationError, match="successor"):
        await both()

    assert await copied(site) == {"new"}
    assert writes_of["after"] == writes_of["before"]


# Taking over


async def test_another_store_takes_over_a_silent_segment_after_fifteen_seconds_and_holds_what_it_lacks(
    site: Site,
) -> None:
    async with site.shard("violet") as violet:
        async with site.shard("amber", is_killed=True) as amber:
            await amber.client.create(EXPORTS, export())
            await violet.client.create(SLICES, slice_of(path=amber.workspace))
            await site.settle()
            cluster = amber.workspace
        site.lose_store("amber")
        site.lose_view("amber")

        async with site.shard("amber") as again:
            await site.clock.advance(14)
            assert written(again) == []

            await site.clock.advance(2)
            await site.settle()

            assert again.ours.segment is not None
            assert again.ours.segment.held
            assert again.ours.segment.is_doubted
            assert await copied(site) == {"widgets"}
            assert urls(await violet.client.get(SLICES, "widgets")) == published(cluster, "amber", "violet")
    assert site.losses() == []


async def test_a_segment_that_was_released_is_taken_at_once_by_the_same_store_and_later_by_another(site: Site) -> None:
    """Who has stopped in order may be about to start again."""
    for seconds in (0, 15):
        async with site.shard("amber") as again:
            began = site.clock.monotonic()
            await again.client.create(EXPORTS, export(f"export-{seconds}"))
            await site.settle()

            assert again.ours.segment is not None
            assert again.ours.segment.held
            assert site.clock.monotonic() == began + seconds
            assert f"export-{seconds}" in await copied(site)
        site.lose_store("amber")


async def test_a_process_over_the_same_store_takes_over_at_once_from_one_that_was_killed(site: Site) -> None:
    async with site.shard("amber", is_killed=True):
        await site.settle()

    async with site.shard("amber") as again:
        began = site.clock.monotonic()
        await again.client.create(EXPORTS, export())
        await site.settle()

        assert await copied(site) == {"widgets"}
        assert site.clock.monotonic() == began
        assert again.ours.segment is not None
        assert not again.ours.segment.is_doubted


async def test_a_stop_in_order_releases_the_segment(site: Site) -> None:
    async with site.shard("amber"):
        await site.settle()

    holder = holder_of(await own_copy(site))

    assert holder is not None
    assert holder.released


# What another store left


async def with_inherited_copies(site: Site) -> None:
    """Let amber's store be lost, when two of its exports have copies."""
    async with site.shard("amber", is_killed=True) as amber:
        for name in ("widgets", "gadgets"):
            await amber.client_of("root").create(EXPORTS, export(name))
        await site.settle()
    site.lose_store("amber")
    site.lose_view("amber")


async def test_what_another_store_left_is_held_after_restarts_as_well(site: Site) -> None:
    await with_inherited_copies(site)
    async with site.shard("amber"):
        await site.settle()
    site.lose_view("amber")  # which knows as well that its store is new

    async with site.shard("amber") as again:
        await site.settle()

        assert await copied(site) == {"widgets", "gadgets"}
        assert again.ours.segment is not None
        assert again.ours.segment.lease.inherited is not None


async def test_what_is_held_goes_when_the_store_is_adopted_for_good(site: Site) -> None:
    await with_inherited_copies(site)
    async with site.shard("amber") as amber:
        await site.settle()
        assert amber.ours.segment is not None

        assert sum(len(one.held()) for one in amber.ours.segment.replicated) == 2

        await amber.ours.segment.adopt()
        await site.settle()

        assert await copied(site) == set()
    site.forget_requests()
    async with site.shard("amber") as again:
        await site.settle()
        assert again.ours.segment is not None
        assert not again.ours.segment.is_doubted
    assert site.writes == []


async def test_a_store_that_lacks_nothing_is_not_doubted_any_more(site: Site) -> None:
    await with_inherited_copies(site)
    async with site.shard("amber") as amber:
        await site.settle()
        assert amber.ours.segment is not None
        assert amber.ours.segment.is_doubted

        for name in ("widgets", "gadgets"):
            await amber.client_of("root").create(EXPORTS, export(name))
        await site.settle()

        assert not amber.ours.segment.is_doubted


async def test_what_a_doubted_store_had_and_deleted_takes_its_copy_along(site: Site) -> None:
    await with_inherited_copies(site)
    async with site.shard("amber") as amber:
        await amber.client.create(EXPORTS, export("own"))
        await site.settle()

        await amber.client.delete(EXPORTS, "own")
        await site.settle()

        assert await copied(site) == {"widgets", "gadgets"}


async def test_what_somebody_puts_into_a_doubted_segment_is_no_other_stores_and_goes(site: Site) -> None:
    await with_inherited_copies(site)
    async with site.shard("amber"):
        await site.settle()

        ghost = site.cache.client().shard("amber").cluster("root")
        await ghost.create(
            EXPORTS, {"metadata": {"name": "ghost", "uid": "1", "annotations": {"kcp.io/shard": "amber"}}}
        )
        await site.settle()

        assert await copied(site) == {"widgets", "gadgets"}


async def test_what_went_with_an_emptied_cache_and_comes_back_with_an_older_one_is_held_still(site: Site) -> None:
    await with_inherited_copies(site)
    async with site.shard("amber"):
        await site.settle()
        older = site.cache.storage
        await site.restart_cache(empty=True)
        await site.settle()

        await site.restart_cache(over=older)
        await site.settle()

        assert await copied(site) == {"widgets", "gadgets"}


@pytest.mark.parametrize("is_killed", [True, False], ids=["killed", "stopped"])
async def test_a_store_that_was_restored_together_with_its_view_holds_what_it_lacks(
    site: Site, is_killed: bool
) -> None:
    async with site.shard("amber", is_killed=is_killed) as amber:
        await amber.client_of("root").create(EXPORTS, export("old"))
        await site.settle()
        restore = await site.back_up("amber")
        await amber.client_of("root").create(EXPORTS, export("new"))
        await site.settle()
    restore()
    site.lose_view("amber")

    async with site.shard("amber") as again:
        await site.settle()

        assert again.ours.segment is not None
        assert again.ours.segment.is_doubted
        assert await copied(site) == {"old", "new"}
        await again.client_of("root").create(EXPORTS, export("newer"))
        await site.settle()
        assert await copied(site) == {"old", "new", "newer"}

    async with site.shard("amber") as again:  # its own term has copies of its own now
        await site.settle()
        assert await copied(site) == {"old", "new", "newer"}
        assert again.ours.segment is not None
        await again.ours.segment.adopt()
        await site.settle()
        assert await copied(site) == {"old", "newer"}


async def test_a_store_that_was_restored_holds_what_it_lacks_however_far_it_came_before_it_saw_the_cache(
    site: Site,
) -> None:
    async with site.shard("amber", is_killed=True) as amber:
        await site.settle()
        restore = await site.back_up("amber")
        await amber.client_of("root").create(EXPORTS, export("lost"))
        await site.settle()
    restore()
    site.lose_view("amber")
    async with site.shard("amber", cache="away", is_killed=True) as amber:
        for number in range(9):
            await amber.client_of("root").create(EXPORTS, export(f"later-{number}"))
        await site.settle(away={"cache"})
    reopen = await site.back_up("amber")
    reopen()

    async with site.shard("amber") as again:
        await site.settle()

        assert again.ours.segment is not None
        assert again.ours.segment.is_doubted
        assert "lost" in await copied(site)


async def test_a_restart_over_the_same_file_doubts_nothing(site: Site) -> None:
    async with site.shard("amber", is_killed=True) as amber:
        await amber.client_of("root").create(EXPORTS, export("old"))
        await amber.client_of("root").create(EXPORTS, export("gone"))
        await site.settle()
        await amber.cache.go_away()
        await amber.client_of("root").delete(EXPORTS, "gone")
        await site.settle(away={"cache"})
    reopen = await site.back_up("amber")
    reopen()

    async with site.shard("amber") as again:
        began = site.clock.monotonic()
        await site.settle()

        assert again.ours.segment is not None
        assert not again.ours.segment.is_doubted
        assert await copied(site) == {"old"}
        assert site.clock.monotonic() == began


# The steady state


async def test_in_an_hour_nothing_is_written_but_one_renewal_every_five_seconds_which_wakes_nobody(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await amber.client.create(EXPORTS, export())
        await amber.client.create(SLICES, slice_of())
        await site.settle()
        await site.clock.advance(60)
        site.forget_requests()
        visits = [len(shard.running.visits) for shard in (amber, violet)]

        await site.clock.advance(3600)

        assert site.writes == []
        renewals = [seen for seen in site.cache.requests if seen.method == "PATCH"]
        assert len(renewals) == 2 * 3600 / 5
        assert [len(shard.running.visits) for shard in (amber, violet)] == visits
    assert site.losses() == []


# What is done to the lease


@pytest.mark.parametrize("note", [None, "nonsense", '{"moment":{},"process":"x","renewed":"2026-01-01T00:00:00Z"}'])
async def test_a_lease_that_somebody_tampered_with_is_made_right_and_nothing_is_lost(
    site: Site, note: str | None
) -> None:
    async with site.shard("amber") as amber, site.shard("violet"):
        await amber.client.create(EXPORTS, export())
        await site.settle()
        segment = amber.ours.segment
        assert segment is not None
        process = segment.lease.holder

        copies = site.cache.client().shard("amber").cluster("root")
        await copies.patch(SHARDS, "amber", {"metadata": {"annotations": {HOLDER: note}}})
        await site.clock.advance(30)
        await site.settle()

        found = holder_of(await own_copy(site))
        assert found is not None
        assert process is not None
        assert found.process == process.process
        assert segment.held
        assert await copied(site) == {"widgets"}
    assert site.losses() == []


async def test_a_cache_that_comes_back_empty_has_the_lease_again_with_the_copy_that_it_is_on(site: Site) -> None:
    async with site.shard("amber") as amber:
        await amber.client.create(EXPORTS, export())
        await site.settle()

        await site.restart_cache(empty=True)
        await site.settle()

        assert await copied(site) == {"widgets"}
        assert holder_of(await own_copy(site)) is not None
        assert amber.ours.segment is not None
        assert not amber.ours.segment.is_doubted


async def test_a_lease_that_lapsed_while_the_cache_was_away_is_taken_again_and_everything_is_made_up_for(
    site: Site,
) -> None:
    async with site.shard("amber") as amber:
        await amber.client.create(EXPORTS, export("old"))
        await site.settle()
        await amber.cache.go_away()
        await site.clock.advance(60)
        await amber.client.create(EXPORTS, export("new"))
        await amber.client.delete(EXPORTS, "old")
        await site.clock.advance(60)

        amber.cache.come_back()
        await site.settle()

        assert await copied(site) == {"new"}


async def test_a_cache_that_was_away_for_long_is_followed_again_within_a_second(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await amber.client.create(EXPORTS, export())
        await site.settle()
        for shard in (amber, violet):
            await shard.cache.go_away()
        await site.clock.advance(3600)
        await site.restart_cache(empty=True)

        for shard in (amber, violet):
            shard.cache.come_back()
        await site.clock.advance(1)

        assert await copied(site) == {"widgets"}
        assert {obj.name for obj in await site.cache.client().list(SHARDS)} == {"amber", "violet"}
