"""An endpoint goes on evidence only: each kind of evidence by itself, across restarts, and while the cache is away."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from controllers.entries import Removal, State
from controllers.judging import StillThere
from controllers.kinds import EXPORTS, PARTITIONS, SHARDS, SLICES
from controllers.publishing import HELD
from informers import Object
from tests.integration.objects import conditions, export, partition, published, slice_of, url_of, urls
from tests.integration.site import ShardProcess, Site

AWAY = {"cache"}
SETTLE = 2.0


async def found(shard: ShardProcess, name: str = "widgets") -> Object[Any]:
    return await shard.client.get(SLICES, name)


async def listed(shard: ShardProcess, name: str = "widgets") -> list[str]:
    return urls(await found(shard, name))


async def make(shard: ShardProcess, *, path: str = "") -> None:
    """Make an export, unless the slice is to be one of another shard's, and a slice of it."""
    if not path:
        await shard.client.create(EXPORTS, export())
    await shard.client.create(SLICES, slice_of(path=path))


@asynccontextmanager
async def both(site: Site) -> AsyncIterator[tuple[ShardProcess, ShardProcess]]:
    """Run amber, whose slice lists both, and violet."""
    async with AsyncExitStack() as stack:
        amber = await stack.enter_async_context(site.shard("amber"))
        violet = await stack.enter_async_context(site.shard("violet"))
        await make(amber)
        await site.settle()
        assert await listed(amber) == published(amber.workspace, "amber", "violet")
        yield amber, violet


async def lose_copy(site: Site, name: str = "violet") -> None:
    """Delete the copy of a shard's Shard."""
    await site.cache.client().shard(name).cluster("root").delete(SHARDS, name)


async def with_amber_and_a_stopped_violet(site: Site) -> str:
    """Have amber's slice list both, and both stop; return amber's workspace."""
    async with both(site) as (amber, _):
        return amber.workspace


# A restart


async def test_after_a_restart_without_the_cache_slices_are_computed_at_once_and_nothing_is_written(site: Site) -> None:
    await with_amber_and_a_stopped_violet(site)
    site.forget_requests()

    async with site.shard("amber", cache="away") as amber:
        await site.settle(away=AWAY)
        await amber.client.create(SLICES, slice_of("new"))
        await site.settle(away=AWAY)
        assert await listed(amber, "new") == published(amber.workspace, "amber", "violet")
        path = f"/clusters/{amber.workspace}/apis/apis.kcp.io/v1alpha1/apiexportendpointslices"
        assert site.changes == [f"POST {path}", f"PATCH {path}/new/status"]

        amber.cache.come_back()
        await site.settle()
        assert await listed(amber) == published(amber.workspace, "amber", "violet")
    assert site.losses() == []


@pytest.mark.parametrize("cache", ["", "away"], ids=["with the cache", "without the cache"])
async def test_a_restart_at_which_nothing_has_changed_writes_nothing(site: Site, cache: str) -> None:
    await with_amber_and_a_stopped_violet(site)
    site.forget_requests()

    async with site.shard("amber", cache=cache):
        await site.settle(away=AWAY if cache else ())
        await site.clock.advance(60)

        written = [write for write in site.writes if "/services/cache/" not in write]
    assert written == []


async def test_without_the_cache_a_new_url_of_the_own_shard_is_published_at_once(site: Site) -> None:
    workspace = await with_amber_and_a_stopped_violet(site)

    async with site.shard("amber", url="https://moved.example.com", cache="away") as amber:
        await site.settle(away=AWAY)

        moved = f"https://moved.example.com/services/apiexport/{workspace}/widgets"
        assert await listed(amber) == sorted([moved, *published(workspace, "violet")])


async def test_what_was_deleted_in_the_cache_during_a_restart_goes_if_the_history_went_on(site: Site) -> None:
    workspace = await with_amber_and_a_stopped_violet(site)
    await lose_copy(site)

    async with site.shard("amber") as amber:
        await site.settle()

        assert await listed(amber) == published(workspace, "amber")


@pytest.mark.parametrize("revision", [None, 1], ids=["later revisions", "lower revisions"])
async def test_what_a_new_history_lacks_is_held_in_old_and_new_slices_however_often_all_is_restarted(
    site: Site, revision: int | None
) -> None:
    workspace = await with_amber_and_a_stopped_violet(site)
    await site.restart_cache(empty=True, revision=revision)
    missed = site.clock.now()

    for name in ("first", "second"):
        async with site.shard("amber") as amber:
            await amber.client.create(SLICES, slice_of(name))
            await site.settle()
            await site.clock.advance(3600)

            for one in ("widgets", name):
                held = await found(amber, one)
                assert urls(held) == published(workspace, "amber", "violet")
                assert conditions(held)["EndpointURLsReady"] == ("Unknown", HELD)
                assert "Shard violet is not listed any more" in held.condition("EndpointURLsReady").message  # type: ignore[union-attr]
            [entry] = amber.ours.view.held()
            assert (entry.key.name, entry.state, entry.since) == ("violet", State.HELD, missed)

    async with site.shard("amber") as amber, site.shard("violet"):
        await site.settle()
        assert conditions(await found(amber))["EndpointURLsReady"] == ("True", "")
    assert site.losses() == []


async def test_a_url_that_went_on_evidence_stays_gone_after_a_restart(site: Site) -> None:
    workspace = await with_amber_and_a_stopped_violet(site)
    await lose_copy(site)
    async with site.shard("amber") as amber:
        await site.settle()
        stale = {"status": {"endpoints": [{"url": url} for url in published(workspace, "amber", "violet")]}}

    async with site.shard("amber", cache="away") as amber:
        await amber.client.patch(SLICES, "widgets", stale, subresource="status")
        await site.settle(away=AWAY)

        assert await listed(amber) == published(workspace, "amber")


# A deletion in the cache has to settle


async def test_a_deletion_in_the_cache_counts_after_two_seconds_and_is_written_once(site: Site) -> None:
    async with both(site) as (amber, violet):
        await violet.cache.go_away()  # or it would copy its Shard again
        site.forget_requests()
        await lose_copy(site)

        await site.clock.advance(SETTLE - 0.001)
        assert await listed(amber) == published(amber.workspace, "amber", "violet")
        [leaving] = amber.ours.view.held()
        assert (leaving.key.name, leaving.state) == ("violet", State.LEAVING)

        await site.clock.advance(0.001)
        assert await listed(amber) == published(amber.workspace, "amber")
        assert len([write for write in site.writes if write.endswith("apiexportendpointslices/widgets/status")]) == 1
        assert conditions(await found(amber))["EndpointURLsReady"] == ("True", "")


async def test_what_comes_back_meanwhile_has_never_been_away(site: Site) -> None:
    async with both(site) as (amber, _):
        await lose_copy(site)  # violet's replicator makes it again
        await site.settle()
        await site.clock.advance(3600)

        assert await listed(amber) == published(amber.workspace, "amber", "violet")
        assert amber.ours.view.held() == []
    assert site.losses() == []


async def test_it_does_not_settle_while_the_cache_cannot_be_reached(site: Site) -> None:
    async with both(site) as (amber, violet):
        await violet.cache.go_away()
        await lose_copy(site)
        await site.clock.advance(1)
        await amber.cache.go_away()
        await site.clock.advance(3600)
        assert await listed(amber) == published(amber.workspace, "amber", "violet")

        amber.cache.come_back()
        await site.clock.advance(120)

        assert await listed(amber) == published(amber.workspace, "amber")


async def test_it_does_not_count_once_the_history_is_lost(site: Site) -> None:
    async with both(site) as (amber, violet):
        await violet.cache.go_away()
        await lose_copy(site)
        await site.clock.advance(0.1)
        await site.restart_cache(empty=True)
        await site.settle(away=AWAY)
        await site.clock.advance(3600)

        assert await listed(amber) == published(amber.workspace, "amber", "violet")
        assert [entry.state for entry in amber.ours.view.held()] == [State.HELD]
    assert site.losses() == []


async def test_an_unsettled_deletion_settles_after_a_restart(site: Site) -> None:
    async with both(site) as (amber, violet):
        await violet.cache.go_away()
        await lose_copy(site)
        await site.clock.advance(1)
        workspace = amber.workspace

    async with site.shard("amber") as amber:
        await site.clock.advance(SETTLE - 0.5)
        assert await listed(amber) == published(workspace, "amber", "violet")

        await site.settle()
        assert await listed(amber) == published(workspace, "amber")


async def test_an_export_deleted_at_its_home_empties_slices_elsewhere_once_that_has_settled(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await make(violet)
        await make(amber, path=violet.workspace)
        await site.settle()
        assert await listed(amber) == published(violet.workspace, "amber", "violet")

        await violet.client.delete(EXPORTS, "widgets")
        await site.clock.advance(0.1)
        assert await listed(violet) == [], "at home it counts at once"
        assert await listed(amber) == published(violet.workspace, "amber", "violet")

        await site.settle()
        assert await listed(amber) == []


# Twins


async def twin(site: Site, at: str, url: str) -> None:
    """Have another shard's segment hold violet's Shard."""
    spec = {"baseURL": url, "externalURL": url, "virtualWorkspaceURL": url}
    await site.cache.client().shard(at).cluster("root").create(SHARDS, {"metadata": {"name": "violet"}, "spec": spec})


async def test_one_twins_deletion_is_not_the_others_and_waits_for_it(site: Site) -> None:
    async with both(site) as (amber, violet):
        await violet.cache.go_away()
        await twin(site, "mirror", "https://mirror.example.com")
        await site.clock.advance(1)
        assert await listed(amber) == published(amber.workspace, "amber", "violet"), "the one at home is preferred"

        await lose_copy(site)
        await site.clock.advance(60)
        mirrored = f"https://mirror.example.com/services/apiexport/{amber.workspace}/widgets"
        assert await listed(amber) == sorted([mirrored, *published(amber.workspace, "amber", "violet")])

        await site.cache.client().shard("mirror").cluster("root").delete(SHARDS, "violet")
        await site.clock.advance(60)
        assert await listed(amber) == published(amber.workspace, "amber")


# The local store


async def test_an_export_missing_from_an_older_local_store_is_held_until_that_is_adopted(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet"):
        restore = await site.back_up("amber")
        await make(amber)
        await site.settle()
        cluster = amber.workspace

    restore()
    async with site.shard("amber") as amber:
        await amber.client.create(SLICES, slice_of("new"))
        await site.settle()
        assert amber.ours.view.local_is_doubted
        assert await listed(amber, "new") == published(cluster, "amber", "violet")
        assert conditions(await found(amber, "new"))["EndpointURLsReady"] == ("Unknown", HELD)

        assert await amber.ours.view.adopt_local() == 1
        await site.settle()
        assert not amber.ours.view.local_is_doubted
        assert await listed(amber, "new") == []
        assert conditions(await found(amber, "new"))["APIExportValid"] == ("False", "APIExportNotFound")

    async with site.shard("amber") as amber:
        await site.settle()
        assert not amber.ours.view.local_is_doubted, "it was adopted for good"


async def test_an_export_deleted_at_home_while_nobody_ran_is_gone(site: Site) -> None:
    async with site.shard("amber") as amber:
        await make(amber)
        await site.settle()
        key = f"/registry/apis.kcp.io/apiexports/{amber.workspace}/widgets"
    record = await site.store("amber").get(key)
    assert record is not None
    await site.store("amber").delete(key, expect=record.revision)

    async with site.shard("amber", cache="away") as amber:
        await site.settle(away=AWAY)

        assert await listed(amber) == []


async def test_a_partition_missing_from_a_doubted_local_store_takes_nothing_away(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber:
        await amber.client.create(EXPORTS, export())
        await amber.client.create(SLICES, slice_of())
        await site.settle()
        restore = await site.back_up("amber")
        await amber.client.create(PARTITIONS, partition(region="eu"))
        await amber.client.create(EXPORTS, export("later"))
        await site.settle()

    restore()
    async with site.shard("amber", labels=("region=eu",)) as amber:
        await amber.client.patch(SLICES, "widgets", {"spec": {"partition": "europe"}})
        await site.settle()

        held = await found(amber)
        assert urls(held) == published(amber.workspace, "amber")
        assert conditions(held)["PartitionValid"] == ("False", "PartitionInvalidReference")
        assert conditions(held)["EndpointURLsReady"] == ("Unknown", HELD)

        await amber.ours.view.adopt_local()
        await site.settle()
        assert await listed(amber) == []


async def test_a_partition_deleted_in_a_doubted_local_store_before_our_eyes_takes_its_endpoints_along(
    site: Site,
) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber:
        restore = await site.back_up("amber")
        await amber.client.create(EXPORTS, export("later"))
        await site.settle()

    restore()
    async with site.shard("amber", labels=("region=eu",)) as amber:
        await amber.client.create(EXPORTS, export())
        await amber.client.create(PARTITIONS, partition(region="eu"))
        await amber.client.create(SLICES, slice_of(partition="europe"))
        await site.settle()
        assert amber.ours.view.local_is_doubted
        assert await listed(amber) == published(amber.workspace, "amber")

        for is_cut in (False, True):
            await amber.client.create(PARTITIONS, partition("asia", region="eu"))
            await amber.client.patch(SLICES, "widgets", {"spec": {"partition": "asia"}})
            await site.settle()
            assert await listed(amber) == published(amber.workspace, "amber"), "what is made again counts again"

            if is_cut:
                await amber.local.cut()
            await amber.client.delete(PARTITIONS, "asia")
            await site.settle()
            assert await listed(amber) == []
            assert conditions(await found(amber))["PartitionValid"] == ("False", "PartitionInvalidReference")


# What people say


async def test_what_is_held_goes_when_somebody_says_so_and_comes_back_with_another_uid(site: Site) -> None:
    workspace = await with_amber_and_a_stopped_violet(site)
    await site.restart_cache(empty=True)
    async with site.shard("amber") as amber:
        await site.settle()
        [entry] = amber.ours.view.held()

        assert await amber.ours.view.forget(Removal("shards", "violet", "root", "violet", "another uid")) == 0
        await site.settle()
        assert await listed(amber) == published(workspace, "amber", "violet")

        assert await amber.ours.view.forget(Removal("shards", "violet", "root", "violet", entry.uid)) == 1
        await site.settle()
        assert await listed(amber) == published(workspace, "amber")

    async with site.shard("amber") as amber:
        await site.settle()
        assert await listed(amber) == published(workspace, "amber"), "it is for good"
        async with site.shard("violet"):
            await site.settle()
            assert await listed(amber) == published(workspace, "amber", "violet")


async def test_what_is_there_is_not_forgotten(site: Site) -> None:
    async with both(site) as (amber, _):
        with pytest.raises(StillThere, match="expected shards violet\\|root\\|violet to be gone, found it at cache"):
            await amber.ours.view.forget(Removal("shards", "violet", "root", "violet"))
        await site.settle()

        assert await listed(amber) == published(amber.workspace, "amber", "violet")


async def test_a_url_that_no_known_shard_has_goes_when_somebody_says_whose_it_was(site: Site) -> None:
    workspace = await with_amber_and_a_stopped_violet(site)
    site.lose_view("amber")
    await site.restart_cache(empty=True)
    async with site.shard("amber") as amber:
        await site.settle()
        assert await listed(amber) == published(workspace, "amber", "violet")

        await amber.ours.view.forget(Removal("shards", "violet", "root", "violet", url=url_of("violet")))
        await site.settle()

        assert await listed(amber) == published(workspace, "amber")


async def test_since_when_something_is_held_is_when_it_was_missed_first(site: Site) -> None:
    await with_amber_and_a_stopped_violet(site)
    await site.restart_cache(empty=True)
    async with site.shard("amber") as amber:
        missed = site.clock.now()
        await site.settle()
        await site.clock.advance(100)

        [entry] = amber.ours.view.held()
        assert entry.since is not None
        assert entry.since - missed < timedelta(seconds=1)
