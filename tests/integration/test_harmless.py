"""The controllers never harm what is published: the table of what they do, row by row, where no view was kept.

What changes by a view that an earlier life has kept is in `test_view.py`.

| the cache                            | endpoints now | the controller                                             |
|--------------------------------------|---------------|------------------------------------------------------------|
| synced, connected                    | any           | recomputes; a URL goes only on evidence that it saw        |
| synced earlier, now unreachable      | any           | adds and keeps; removes only on local evidence             |
| not synced since the start           | some          | changes nothing, byte for byte                             |
| not synced since the start           | none          | publishes the local shard's URL, if all that is known here |
| comes back                           | any           | recomputes at once                                         |
"""

from typing import Any

import pytest

from controllers.kinds import EXPORTS, PARTITIONS, SHARDS, SLICES
from controllers.publishing import HELD
from informers import Object
from kcpctl.collecting import collect
from kcpctl.quarantines import Quarantines
from kcpctl.report import CacheView, Process
from tests.integration.objects import conditions, export, partition, published, slice_of, urls
from tests.integration.site import ShardProcess, Site

AWAY = {"cache"}


async def found(shard: ShardProcess, name: str = "widgets") -> Object[Any]:
    return await shard.client.get(SLICES, name)


async def listed(shard: ShardProcess, name: str = "widgets") -> list[str]:
    return urls(await found(shard, name))


async def with_both_published(site: Site) -> None:
    """Let amber's slice list amber and violet, and both of them stop; amber forgets what it saw."""
    async with site.shard("amber") as amber, site.shard("violet"):
        await amber.client.create(EXPORTS, export())
        await amber.client.create(SLICES, slice_of())
        await site.settle()
        assert await listed(amber) == published(amber.workspace, "amber", "violet")
    site.lose_view("amber")


# The cache is synced and connected


async def test_after_a_restart_a_url_of_no_known_shard_is_held_and_named_until_the_shard_is_back(site: Site) -> None:
    await with_both_published(site)
    await site.restart_cache(empty=True)
    async with site.shard("amber") as amber:
        await site.settle()

        held = await found(amber)
        [url] = published(amber.workspace, "violet")
        assert urls(held) == published(amber.workspace, "amber", "violet")
        assert conditions(held)["EndpointURLsReady"] == ("Unknown", HELD)
        assert held.condition("EndpointURLsReady").message == (  # type: ignore[union-attr]
            f"{url} is held: no known Shard has it (since 2026-01-01T00:00:01Z)"
        )

        async with site.shard("violet"):
            await site.settle()
            assert conditions(await found(amber))["EndpointURLsReady"] == ("True", "")
    assert site.losses() == []


async def test_an_export_elsewhere_is_not_missed_because_a_workspace_here_has_its_path(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await violet.client.create(EXPORTS, export())
        await amber.client.create(SLICES, slice_of(path="root:example"))
        await site.settle()
        cluster = violet.workspace
        assert await listed(amber) == published(cluster, "amber", "violet")

    await site.restart_cache(empty=True)
    async with site.shard("amber") as amber:
        await site.settle()

        held = await found(amber)
        assert urls(held) == published(cluster, "amber", "violet")
        assert conditions(held)["EndpointURLsReady"] == ("Unknown", HELD)
    assert site.losses() == []


async def test_what_is_held_is_written_once_however_much_time_and_however_many_restarts_pass(site: Site) -> None:
    await with_both_published(site)
    await site.restart_cache(empty=True)
    async with site.shard("amber"):
        await site.settle()

    site.forget_requests()
    for _ in range(2):
        await site.clock.advance(3600)
        async with site.shard("amber"):
            await site.settle()
            await site.clock.advance(3600)
            await site.settle()

    assert site.writes == []


@pytest.mark.parametrize("revision", [None, 1], ids=["later revisions", "lower revisions"])
async def test_a_cache_that_comes_back_empty_loses_nothing_while_both_shards_run(
    site: Site, revision: int | None
) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        for shard in (amber, violet):
            await shard.client.create(EXPORTS, export())
            await shard.client.create(SLICES, slice_of(path=amber.workspace))
        await site.settle()

        await site.restart_cache(empty=True, revision=revision)
        await site.settle()

        for shard in (amber, violet):
            assert await listed(shard) == published(amber.workspace, "amber", "violet")
            assert conditions(await found(shard))["EndpointURLsReady"] == ("True", "")
        assert site.losses() == []
        assert {obj.name for obj in await site.cache.client().list(SHARDS)} == {"amber", "violet"}


async def test_an_export_elsewhere_that_is_not_listed_any_more_is_held_and_named(site: Site) -> None:
    async with site.shard("violet") as violet:
        async with site.shard("amber") as amber:
            await amber.client.create(EXPORTS, export())
            await violet.client.create(SLICES, slice_of(path=amber.workspace))
            await site.settle()
            cluster = amber.workspace

        await site.restart_cache(empty=True)
        await site.settle()

        held = await found(violet)
        assert urls(held) == published(cluster, "amber", "violet")
        assert conditions(held)["EndpointURLsReady"] == ("Unknown", HELD)
        assert f"APIExport {cluster}|widgets is held" in held.condition("EndpointURLsReady").message  # type: ignore[union-attr]


async def test_a_deletion_that_the_watch_tells_is_evidence_also_after_a_broken_connection(site: Site) -> None:
    await with_both_published(site)
    async with site.shard("amber") as amber:
        await site.settle()
        await site.clock.advance(10)

        await amber.cache.cut()
        await site.cache.client().shard("violet").cluster("root").delete(SHARDS, "violet")
        await site.settle()

        assert await listed(amber) == published(amber.workspace, "amber")


async def test_absence_from_a_list_of_the_same_history_is_evidence_of_a_deletion_that_nobody_saw(site: Site) -> None:
    await with_both_published(site)
    async with site.shard("amber") as amber:
        await site.settle()
        await amber.cache.go_away()
        await site.cache.client().shard("violet").cluster("root").delete(SHARDS, "violet")
        await site.cache.storage.compact(site.cache.storage.revision)

        amber.cache.come_back()
        await site.settle()

        assert await listed(amber) == published(amber.workspace, "amber")
        assert conditions(await found(amber))["EndpointURLsReady"] == ("True", "")


async def test_a_shard_that_lost_its_store_takes_nothing_away_from_what_it_had_replicated(site: Site) -> None:
    async with site.shard("violet") as violet:
        async with site.shard("amber") as amber:
            for name in ("widgets", "gadgets"):
                await amber.client.create(EXPORTS, export(name))
            await violet.client.create(SLICES, slice_of(path=amber.workspace))
            await site.settle()
            cluster = amber.workspace

        site.lose_store("amber")
        async with site.shard("amber") as again:
            await site.settle()

            copies = [(o.cluster, o.name) for o in await site.cache.client().list(EXPORTS) if o.key.shard == "amber"]
            assert sorted(copies) == [(cluster, "gadgets"), (cluster, "widgets")]
            assert await listed(violet) == published(cluster, "amber", "violet")
            assert site.losses() == []

            await again.client.create(EXPORTS, export("new"))
            await again.client.delete(EXPORTS, "new")
            await site.settle()
            assert len(await site.cache.client().list(EXPORTS)) == 2, "what it had itself it deletes as always"


# The cache was synced earlier, and is unreachable now


async def test_with_the_cache_lost_everything_known_is_used_for_what_is_added(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber, site.shard("violet") as violet:
        await violet.client.create(EXPORTS, export())
        await site.settle()
        await amber.cache.go_away()

        await amber.client.create(EXPORTS, export())
        await amber.client.create(SLICES, slice_of())
        await amber.client.create(SLICES, slice_of("far", path=violet.workspace))
        await site.settle(away=AWAY)

        assert await listed(amber) == published(amber.workspace, "amber", "violet")
        assert await listed(amber, "far") == published(violet.workspace, "amber", "violet")


async def test_with_the_cache_lost_urls_go_only_on_local_evidence(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber, site.shard("violet") as violet:
        for name in ("kept", "narrowed", "emptied"):
            await amber.client.create(EXPORTS, export(name))
            await amber.client.create(SLICES, slice_of(name, export=name))
        await amber.client.create(PARTITIONS, partition(region="eu"))
        await site.settle()
        await amber.cache.go_away()

        await violet.client_of("root").patch(SHARDS, "violet", {"metadata": {"labels": {"region": "eu"}}})
        await amber.client.patch(SLICES, "narrowed", {"spec": {"partition": "europe"}})
        await amber.client.delete(EXPORTS, "emptied")
        await site.settle(away=AWAY)

        assert await listed(amber, "kept") == published(amber.workspace, "amber", "violet", export="kept")
        assert await listed(amber, "narrowed") == published(amber.workspace, "amber", export="narrowed")
        assert await listed(amber, "emptied") == []
        assert conditions(await found(amber, "kept"))["EndpointURLsReady"] == ("True", ""), "staleness shows elsewhere"

        amber.cache.come_back()
        await site.settle()
        assert await listed(amber, "narrowed") == published(amber.workspace, "amber", "violet", export="narrowed")


async def test_with_the_cache_lost_the_own_shard_is_followed_as_it_changes_here(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet"):
        await amber.client.create(EXPORTS, export())
        await amber.client.create(PARTITIONS, partition(region="eu"))
        await amber.client.create(SLICES, slice_of(partition="europe"))
        await site.settle()
        assert await listed(amber) == []
        await amber.cache.go_away()

        await amber.client_of("root").patch(SHARDS, "amber", {"metadata": {"labels": {"region": "eu"}}})
        await site.settle(away=AWAY)

        assert await listed(amber) == published(amber.workspace, "amber")


async def test_staleness_shows_in_the_status_of_the_process_and_nowhere_else(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet"):
        await amber.client.create(EXPORTS, export())
        await amber.client.create(SLICES, slice_of())
        await site.settle()
        site.forget_requests()
        lost = site.clock.now()
        await amber.cache.go_away()
        await site.clock.advance(3600)

        process = Process("1", 1, lost, "", "amber")
        seen = collect(process, amber.running.manager, amber.ours, Quarantines()).cache

        assert seen == CacheView(synced=True, reachable=False, stale_since=lost)
        assert site.writes == []


async def test_what_was_written_while_the_cache_was_lost_is_replicated_when_it_is_back(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        for name in ("old", "changed"):
            await amber.client.create(EXPORTS, export(name))
        await site.settle()
        await amber.cache.go_away()

        await amber.client.create(EXPORTS, export("new"))
        await amber.client.patch(EXPORTS, "changed", {"metadata": {"labels": {"a": "1"}}})
        await amber.client.delete(EXPORTS, "old")
        await violet.client.create(SLICES, slice_of(export="new", path=amber.workspace))
        await site.settle(away=AWAY)
        assert await listed(violet) == []
        await site.clock.advance(7200)

        amber.cache.come_back()
        await site.settle()

        copies = {obj.name: obj.labels for obj in await site.cache.client().list(EXPORTS)}
        assert copies == {"new": {}, "changed": {"a": "1"}}
        assert await listed(violet) == published(amber.workspace, "amber", "violet", export="new")


# The cache has not been synced since the start


@pytest.mark.parametrize("silent", [False, True], ids=["refusing", "silent"])
async def test_without_the_cache_what_is_published_stays_byte_for_byte(site: Site, silent: bool) -> None:
    await with_both_published(site)
    async with site.shard("amber", url="https://elsewhere.example.com", cache="silent" if silent else "away") as amber:
        before = await found(amber)

        await site.settle(away=AWAY)
        await amber.client.create(PARTITIONS, partition(region="nowhere"))
        await amber.client.patch(EXPORTS, "widgets", {"metadata": {"annotations": {"a": "b"}}})
        await site.settle(away=AWAY)
        await site.clock.advance(3600)

        assert (await found(amber)).raw == before.raw


async def test_without_the_cache_an_empty_slice_gets_the_local_url_if_everything_about_it_is_known_here(
    site: Site,
) -> None:
    async with site.shard("amber", labels=("region=eu",), cache="away") as amber:
        await amber.client.create(EXPORTS, export())
        await amber.client.create(PARTITIONS, partition("here", region="eu"))
        await amber.client.create(PARTITIONS, partition("there", region="us"))
        for chosen in ("here", "there", ""):
            await amber.client.create(SLICES, slice_of(f"in-{chosen or 'all'}", partition=chosen))
        await amber.client.create(SLICES, slice_of("unknown", export="unknown"))
        await site.settle(away=AWAY)

        assert await listed(amber, "in-all") == published(amber.workspace, "amber")
        assert await listed(amber, "in-here") == published(amber.workspace, "amber")
        assert await listed(amber, "in-there") == []
        assert conditions(await found(amber, "unknown")) == {}, "nobody knows yet whether that export is elsewhere"


async def test_a_silent_cache_is_waited_for_two_seconds(site: Site) -> None:
    async with site.shard("amber", cache="silent") as amber:
        await amber.client.create(EXPORTS, export())
        await amber.client.create(SLICES, slice_of())

        await site.clock.advance(1.999)
        assert await listed(amber) == []

        await site.clock.advance(0.001)
        assert await listed(amber) == published(amber.workspace, "amber")


# The cache comes back


async def test_when_the_cache_comes_for_the_first_time_everything_is_recomputed(site: Site) -> None:
    await with_both_published(site)
    async with site.shard("amber", cache="away") as amber:
        await amber.client.create(SLICES, slice_of("new"))
        await site.settle(away=AWAY)
        assert await listed(amber, "new") == published(amber.workspace, "amber")
        async with site.shard("green"):
            amber.cache.come_back()
            await site.settle()

            for name in ("widgets", "new"):
                assert await listed(amber, name) == published(amber.workspace, "amber", "green", "violet")
    assert site.losses() == []


async def test_registration_does_not_wait_for_the_cache(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",), cache="away") as amber:
        await site.settle(away=AWAY)
        await amber.client_of("root").delete(SHARDS, "amber")
        await site.settle(away=AWAY)

        assert (await amber.client_of("root").get(SHARDS, "amber")).labels == {"name": "amber", "region": "eu"}


async def test_deprecated_urls_follow_the_same_rules(site: Site) -> None:
    await with_both_published(site)
    async with site.shard("amber", cache="away") as amber:
        before = await amber.client.get(EXPORTS, "widgets")
        await amber.client.create(EXPORTS, export("new"))
        await site.settle(away=AWAY)

        assert (await amber.client.get(EXPORTS, "widgets")).raw == before.raw
        shown = (await amber.client.get(EXPORTS, "new")).at("status", "virtualWorkspaces")
        assert [one["url"] for one in shown] == published(amber.workspace, "amber", export="new")

        await site.restart_cache(empty=True)
        amber.cache.come_back()
        await site.settle()

        held = await amber.client.get(EXPORTS, "widgets")
        assert held.at("status", "virtualWorkspaces") == before.at("status", "virtualWorkspaces")
        assert conditions(held)["VirtualWorkspaceURLsReady"] == ("Unknown", HELD)
