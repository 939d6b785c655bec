"""Operators see which shards live and how the cache differs, and prune and adopt what they say."""

from dataclasses import replace

import pytest

from controllers.kinds import EXPORTS, PARTITIONS, SHARDS, SLICES
from informers import ConfigurationError, NotFound
from kcpctl.drift import Adopted, Drift, KindDrift, Orphans, Pruned, adopted_lines, drift_lines
from kcpctl.operating import ADOPT, DRIFT, PRUNE
from kcpctl.operating import SHARDS as LIST_SHARDS
from kcpctl.operations import operations
from kcpctl.shardlist import ShardList, lines
from tests.faults import writes
from tests.integration.asking import ask
from tests.integration.objects import export, partition, slice_of, url_of, urls
from tests.integration.site import ShardProcess, Site


async def shard_lines(site: Site, by: ShardProcess) -> dict[str, str]:
    """Return what `kcpctl shards` shows, by name, without URL, labels and home."""
    found = await ask(site, by, LIST_SHARDS, ShardList)
    return {line.split()[0]: line.rsplit("  ", 1)[1] for line in lines(found)}


async def drift_of(site: Site, by: ShardProcess, plural: str = EXPORTS.plural) -> KindDrift:
    found = await ask(site, by, DRIFT, Drift)
    return next(kind for kind in found.kinds if kind.resource == plural)


# Shards


async def test_a_shard_is_shown_with_its_home_labels_and_url(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber:
        await site.settle()

        found = await ask(site, amber, LIST_SHARDS, ShardList)

        assert list(lines(found)) == [
            f"amber  {url_of('amber')}  [name=amber,region=eu]  home amber|root  alive: this process"
        ]


async def test_a_shard_lives_while_it_renews_its_lease_and_is_silent_since_it_did_last(site: Site) -> None:
    async with site.shard("amber") as amber:
        async with site.shard("violet", is_killed=True), site.shard("azure"):
            await site.settle()
            await site.clock.advance(100)
            assert await shard_lines(site, amber) == {
                "amber": "alive: this process",
                "azure": "alive",
                "violet": "alive",
            }

        await site.clock.advance(60)
        assert await shard_lines(site, amber) == {
            "amber": "alive: this process",
            "azure": "stopped 60s ago",
            "violet": "silent for 60s",
        }


async def test_nobody_is_called_silent_who_was_not_watched_or_holds_no_lease(site: Site) -> None:
    async with site.shard("violet", is_killed=True):
        await site.settle()
    stranger = {"metadata": {"name": "stranger"}, "spec": {"virtualWorkspaceURL": "https://s.example.com"}}
    await site.cache.client().shard("stranger").cluster("root").create(SHARDS, stranger)
    async with site.shard("amber") as amber:
        await site.settle()
        found = await shard_lines(site, amber)
        assert found["violet"] == "not watched for long enough (0s)"
        assert found["stranger"] == "no lease, so nobody knows whether it lives"

        await site.clock.advance(20)
        assert (await shard_lines(site, amber))["violet"] == "silent for 20s at least"


async def test_nobody_is_called_silent_while_or_after_the_cache_answers_nobody(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await site.clock.advance(60)
        for shard in (amber, violet):
            shard.cache.hold()
        for _ in range(12):
            await site.clock.advance(2.5)
            assert "silent" not in (await shard_lines(site, amber))["violet"]

        amber.cache.release()
        for _ in range(5):
            await site.clock.advance(2.5)
            assert "silent" not in (await shard_lines(site, amber))["violet"], (
                "it may not have had the time to come back"
            )
        violet.cache.release()
        await site.clock.advance(10)

        assert (await shard_lines(site, amber))["violet"] == "alive"


async def test_a_shard_that_the_cache_lost_is_held_since_then(site: Site) -> None:
    async with site.shard("amber") as amber:
        async with site.shard("violet", is_killed=True):
            await site.settle()
        await site.restart_cache(empty=True)
        await site.settle()
        await site.clock.advance(300)

        assert (await shard_lines(site, amber))["violet"].startswith("held for 5m; silent for 5m")


# Replication


async def test_what_differs_from_the_shard_is_named(site: Site) -> None:
    async with site.shard("amber") as amber:
        for name in ("one", "two"):
            await amber.client.create(EXPORTS, export(name))
        await site.settle()
        assert await drift_of(site, amber) == KindDrift("apiexports", 2, 2, [], [], [], [], [])

        amber.cache.refuse(writes(EXPORTS.plural), times=1000)
        copies = site.cache.client().shard("amber").cluster(amber.workspace)
        await copies.delete(EXPORTS, "one")
        await copies.patch(EXPORTS, "two", {"spec": "tampered"})
        await copies.create(EXPORTS, export("three"))
        await site.clock.run_until_idle()

        found = await drift_of(site, amber)
        where = amber.workspace
        assert (found.missing, found.differing) == ([f"{where}|one"], [f"{where}|two"])
        assert found.extra == [f"{where}|three"]
        amber.cache.come_back()


async def test_copies_that_cannot_be_read_are_named_whichever_shard_they_are_of(site: Site) -> None:
    async with site.shard("amber") as amber:
        stranger = site.cache.client().shard("stranger").cluster("root")
        await stranger.create(SHARDS, {"metadata": {"name": "stranger"}, "spec": {"virtualWorkspaceURL": 7}})
        await site.settle()

        assert (await drift_of(site, amber, SHARDS.plural)).malformed == ["stranger|root|stranger"]


async def test_what_a_restored_store_lacks_is_held_until_it_is_adopted(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await amber.client.create(EXPORTS, export("old"))
        await site.settle()
    restore = await site.back_up("amber")
    async with site.shard("amber") as amber:
        await amber.client.create(EXPORTS, export("new"))
        await site.settle()
    restore()

    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await site.settle()
        found = await ask(site, amber, DRIFT, Drift)
        assert next(kind for kind in found.kinds if kind.resource == "apiexports").held == [f"{amber.workspace}|new"]
        assert found.doubted_since is not None
        assert "what is held is let go by `kcpctl replication adopt`, if this store is the right one" in list(
            drift_lines(found)
        )

        lost = f"{amber.workspace}|new"
        assert await ask(site, amber, ADOPT, Adopted) == Adopted(
            True, 1, 1, [f"APIExport {lost} (root:example) of shard amber"], [f"apiexports {lost}"]
        )
        await site.settle()

        assert [obj.name for obj in await site.cache.client().list(EXPORTS)] == ["old"]
        assert amber.ours.view.held() == violet.ours.view.held() == []
        assert await ask(site, amber, ADOPT, Adopted) == Adopted(False, 0, 0)


async def test_a_store_is_not_adopted_before_its_segment_is_held_and_nothing_is_said_to_be_deleted(site: Site) -> None:
    async with site.shard("amber") as amber:
        await amber.client.create(EXPORTS, export())
        await site.settle()
        copy = f"{amber.workspace}|widgets"
    site.lose_store("amber")
    site.lose_view("amber")

    async with site.shard("amber") as amber:
        await site.clock.advance(3)
        found = await ask(site, amber, DRIFT, Drift)
        exports = next(kind for kind in found.kinds if kind.resource == "apiexports")
        assert (exports.extra, exports.held) == ([], [copy])
        assert "to be deleted" not in "".join(drift_lines(found))
        with pytest.raises(
            ConfigurationError, match=r"lease is|watched for .*; nothing was let go, try again in 1\d s"
        ):
            await ask(site, amber, ADOPT, Adopted)

        await site.clock.advance(15)
        found = await ask(site, amber, DRIFT, Drift)
        assert (found.lease, found.kinds[1].extra, found.kinds[1].held) == ("held", [], [copy])
        assert (await ask(site, amber, ADOPT, Adopted)).let_go_copies == [f"apiexports {copy}"]
        await site.settle()
        assert await site.cache.client().list(EXPORTS) == []


async def test_a_store_is_not_adopted_while_the_cache_cannot_be_reached(site: Site) -> None:
    async with site.shard("amber") as amber:
        await site.settle()
        await amber.cache.go_away()
        await site.clock.advance(20)

        told = "nothing was let go, try again when `kcpctl replication status` says"
        with pytest.raises(ConfigurationError, match=told):
            await ask(site, amber, ADOPT, Adopted)


async def test_slices_whose_partition_went_with_the_store_are_among_what_is_let_go(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber:
        await amber.client.create(EXPORTS, export())
        await amber.client.create(SLICES, slice_of(partition="europe"))
        await site.settle()
        restore = await site.back_up("amber")
        await amber.client.create(PARTITIONS, partition(region="eu"))
        await amber.client.create(EXPORTS, export("new"))
        await site.settle()
        found = await amber.client.get(SLICES, "widgets")
        (url,) = urls(found)
    restore()

    async with site.shard("amber", labels=("region=eu",)) as amber:
        await amber.client.patch(SLICES, "widgets", {"status": {"endpoints": [{"url": url}]}}, subresource="status")
        await site.settle()
        assert amber.ours.view.local_is_doubted

        done = await ask(site, amber, ADOPT, Adopted)
        await site.settle()

        assert done.endpoints == [f"{amber.workspace}|widgets: {url}"]
        *_, last, which, copy = adopted_lines(done)
        assert (last, which) == ("1 endpoint goes from 1 slice of this shard", f"  {done.endpoints[0]}")
        assert copy == f"  copy apiexports {amber.workspace}|new"
        assert urls(await amber.client.get(SLICES, "widgets")) == []


async def test_who_does_not_replicate_adopts_for_itself_and_compares_nothing(site: Site) -> None:
    async with site.shard("amber") as amber:
        await amber.client.create(EXPORTS, export("old"))
        await site.settle()
        restore = await site.back_up("amber")
        await amber.client.create(EXPORTS, export("new"))
        await site.settle()
    restore()
    async with site.shard("amber") as amber:
        await site.settle()
        amber.ours = replace(amber.ours, segment=None)
        with pytest.raises(ConfigurationError, match="found one whose shard does that itself"):
            await ask(site, amber, DRIFT, Drift)

        lost = f"APIExport {amber.workspace}|new (root:example) of shard amber"
        assert await ask(site, amber, ADOPT, Adopted) == Adopted(True, 1, 0, [lost])
        assert not amber.ours.view.local_is_doubted


async def test_copies_of_shards_that_nobody_knows_are_shown_and_then_pruned(site: Site) -> None:
    async with site.shard("amber") as amber:
        async with site.shard("violet", is_killed=True) as violet:
            await violet.client.create(EXPORTS, export())
            await site.settle()
        lost = site.cache.client().shard("gone").cluster("c1")
        await lost.create(EXPORTS, export())
        await site.settle()
        orphans = [Orphans("gone", ["apiexports c1|widgets"])]
        site.forget_requests()

        assert await ask(site, amber, PRUNE, Pruned, for_good=False) == Pruned(orphans, 0)
        assert site.writes == []
        assert (await ask(site, amber, DRIFT, Drift)).orphans == orphans
        assert await ask(site, amber, PRUNE, Pruned, for_good=True) == Pruned(orphans, 1)
        with pytest.raises(NotFound):
            await lost.get(EXPORTS, "widgets")
        assert await ask(site, amber, PRUNE, Pruned, for_good=True) == Pruned([], 0), "violet's are left alone"


async def test_without_the_cache_nothing_is_compared_or_pruned(site: Site) -> None:
    async with site.shard("amber") as amber:
        await site.settle()
        await amber.cache.go_away()

        for what, details in ((DRIFT, {}), (PRUNE, {"for_good": True})):
            with pytest.raises(ConfigurationError, match="expected a cache server that can be compared with"):
                await ask(site, amber, what, Drift, **details)


async def test_a_process_without_our_controllers_says_so(site: Site) -> None:
    async with site.shard("amber") as amber:
        for answer in operations(amber.running.manager, None, site.clock).values():
            with pytest.raises(ConfigurationError, match="expected a process that runs our own controllers"):
                await answer({})
