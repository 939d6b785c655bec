"""What an operator says is gone goes everywhere, also where nobody can see it any more; what is there stays."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

import pytest

from controllers.entries import Removal
from controllers.kinds import EXPORTS, SHARDS, SLICES
from controllers.records import REMOVALS, Record, record_of
from informers import Client, ConfigurationError, Object
from informers.tasks import background
from kcpctl.operating import FORGET_EXPORT, REMOVE_SHARD, Removed
from kcpctl.operating import SHARDS as LIST_SHARDS
from kcpctl.operations import operations
from kcpctl.shardlist import ShardList, lines
from tests.faults import writes
from tests.integration.asking import ask
from tests.integration.objects import REPLICATED, export, slice_of, url_of, urls
from tests.integration.site import NEVER, ShardProcess, Site

NOW = datetime(2026, 1, 2, tzinfo=UTC)


async def remove(site: Site, by: ShardProcess, name: str, *, force: bool = False, former: bool = False) -> Removed:
    return await ask(site, by, REMOVE_SHARD, Removed, name=name, force=force, former=former)


async def forget(site: Site, by: ShardProcess, cluster: str, name: str, *, shard: str = "", path: str = "") -> Removed:
    return await ask(site, by, FORGET_EXPORT, Removed, cluster=cluster, name=name, shard=shard, path=path)


async def records(site: Site) -> list[Object[Record]]:
    return await site.cache.client().list(REMOVALS)


@asynccontextmanager
async def three(site: Site, *, until: str = "killed") -> AsyncIterator[tuple[ShardProcess, ShardProcess]]:
    """Run amber and violet with a slice each, beside azure, which is gone when the block begins."""
    async with AsyncExitStack() as stack:
        amber = await stack.enter_async_context(site.shard("amber"))
        violet = await stack.enter_async_context(site.shard("violet"))
        async with site.shard("azure", is_killed=until == "killed") as azure:
            await azure.client.create(EXPORTS, export("of-azure"))
            for shard in (amber, violet):
                await shard.client.create(EXPORTS, export())
                await shard.client.create(SLICES, slice_of())
            await site.settle()
        yield amber, violet


async def listing(shard: ShardProcess) -> list[str]:
    """Return the names of the shards that a slice lists."""
    found = urls(await shard.client.get(SLICES, "widgets"))
    return sorted(url.removeprefix("https://").partition(".")[0] for url in found)


async def test_a_silent_shard_is_removed_everywhere_at_once_and_everybody_says_so_once(site: Site) -> None:
    async with three(site) as (amber, violet):
        await site.clock.advance(20)
        assert await listing(amber) == await listing(violet) == ["amber", "azure", "violet"]

        before = site.clock.monotonic()
        done = await remove(site, amber, "azure")
        await site.settle()

        assert site.clock.monotonic() - before < 2, "what somebody says need not settle"
        assert (done.deleted, done.recorded, done.is_alone) == (2, 1, False)
        assert [one.split()[0] for one in done.let_go] == ["APIExport", "Shard"]
        assert done.endpoints == [
            f"{amber.workspace}|widgets: {url_of('azure')}/services/apiexport/{amber.workspace}/widgets"
        ]
        assert await listing(amber) == await listing(violet) == ["amber", "violet"]
        (record,) = await records(site)
        assert (record.key.shard, record.key.cluster, record.name) == ("azure", "root", "shards.azure")
        assert set(record.value.status.acknowledged) == {"amber", "violet"}
        copies = [obj.key.shard for kind in REPLICATED for obj in await site.cache.client().list(kind)]
        assert set(copies) == {"amber", "violet"}
        site.forget_requests()
        await site.clock.advance(4000)
        await site.settle()
        assert site.writes == []


async def test_a_shard_is_removed_although_its_segment_was_lost_with_the_cache(site: Site) -> None:
    async with three(site) as (amber, violet):
        await site.restart_cache(empty=True)
        await site.settle()
        await site.clock.advance(600)
        assert await listing(amber) == await listing(violet) == ["amber", "azure", "violet"], "it is held"

        await remove(site, violet, "azure")
        await site.settle()

        assert await listing(amber) == await listing(violet) == ["amber", "violet"]
        assert amber.ours.view.held() == violet.ours.view.held() == [], "its exports are gone as well"


# A shard whose place another one has taken


@asynccontextmanager
async def with_a_successor(site: Site) -> AsyncIterator[tuple[ShardProcess, ShardProcess]]:
    """Run amber and violet, beside another azure than the one that was there before the cache was emptied."""
    async with three(site) as (amber, violet):
        await site.restart_cache(empty=True)
        await site.clock.advance(20)
        async with site.shard("successor", called="azure"):
            await site.settle()
            await site.clock.advance(60)
            assert await listing(amber) == await listing(violet) == ["amber", "azure", "successor", "violet"]
            yield amber, violet


async def azures(site: Site, by: ShardProcess) -> dict[str, str]:
    """Return what `kcpctl shards` says of each azure, by URL."""
    found = await ask(site, by, LIST_SHARDS, ShardList)
    return {line.split()[1]: line.rsplit("  ", 1)[1] for line in lines(found) if line.startswith("azure ")}


async def test_it_is_shown_with_how_to_let_it_go(site: Site) -> None:
    async with with_a_successor(site) as (amber, _):
        assert await azures(site, amber) == {
            url_of("azure"): "held for 80s: another has its place; "
            "let go of it by `kcpctl shards remove azure --former`",
            url_of("successor"): "alive",
        }


async def test_an_operator_lets_it_go_everywhere_while_the_other_one_lives(site: Site) -> None:
    async with with_a_successor(site) as (amber, violet):
        with pytest.raises(ConfigurationError, match="expected shard azure to have ended"):
            await remove(site, amber, "azure")
        done = await remove(site, amber, "azure", former=True)
        await site.settle()

        assert (done.what, done.deleted, done.recorded, done.is_alone) == ("the former shard azure", 0, 1, False)
        for shard in (amber, violet):
            assert await listing(shard) == ["amber", "successor", "violet"]
            assert await azures(site, shard) == {url_of("successor"): "alive"}
        (record,) = await records(site)
        assert set(record.value.status.acknowledged) == {"amber", "violet", "azure"}
        with pytest.raises(ConfigurationError, match="expected a shard azure whose place another one of that name"):
            await remove(site, amber, "azure", former=True)


async def test_with_the_one_that_has_its_place_now_both_are_removed(site: Site) -> None:
    async with with_a_successor(site) as (amber, violet):
        await site.shards["successor"].cache.go_away()
        await site.clock.advance(20)

        await remove(site, amber, "azure")
        await site.clock.advance(5)

        assert await listing(amber) == await listing(violet) == ["amber", "violet"]


async def test_who_was_away_acts_upon_a_removal_when_it_comes_back(site: Site) -> None:
    async with site.shard("amber") as amber:
        async with site.shard("violet") as violet, site.shard("azure", is_killed=True):
            for shard in (amber, violet):
                await shard.client.create(EXPORTS, export())
                await shard.client.create(SLICES, slice_of())
            await site.settle()
        await site.restart_cache(empty=True)
        await site.settle()
        await site.clock.advance(20)
        await remove(site, amber, "azure")
        await site.settle()

        async with site.shard("violet") as violet:
            await site.settle()

            assert await listing(violet) == ["amber", "violet"]
            assert set((await records(site))[0].value.status.acknowledged) == {"amber", "violet"}


async def test_a_shard_that_lives_is_not_removed(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet"):
        await site.settle()
        await site.clock.advance(306)
        site.forget_requests()
        told = "^expected shard violet to have ended, found that it renewed its lease . s ago; stop it, and try again$"

        with pytest.raises(ConfigurationError, match=told):
            await remove(site, amber, "violet")

        assert site.writes == []


async def test_a_shard_has_to_be_watched_before_it_is_called_silent(site: Site) -> None:
    async with site.shard("violet", is_killed=True):
        await site.settle()
    async with site.shard("amber") as amber:
        await site.settle()

        with pytest.raises(ConfigurationError, match="silent for 15 s, found that it has been watched for 0 s only"):
            await remove(site, amber, "violet")
        await site.clock.advance(16)

        assert (await remove(site, amber, "violet")).deleted == 1


async def test_a_shard_is_not_silent_while_the_cache_cannot_be_seen(site: Site) -> None:
    async with three(site) as (amber, _):
        await site.clock.advance(20)
        await amber.cache.go_away()
        await site.clock.advance(20)
        with pytest.raises(ConfigurationError, match="but the cache server cannot be reached; nothing was changed"):
            await remove(site, amber, "azure")

        amber.cache.come_back()
        await site.clock.advance(40)
        await site.settle()

        assert (await remove(site, amber, "azure")).recorded == 1


async def test_a_shard_that_stopped_in_order_can_be_removed_at_once(site: Site) -> None:
    async with three(site, until="stopped") as (amber, _):
        assert (await remove(site, amber, "azure")).recorded == 1


async def test_names_that_nobody_bears_are_told_apart(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet"):
        await site.settle()

        with pytest.raises(ConfigurationError, match="found 'vilet'; known are: amber, violet"):
            await remove(site, amber, "vilet")
        with pytest.raises(ConfigurationError, match="found this process' own: amber; stop it first"):
            await remove(site, amber, "amber")


async def test_a_removed_shard_that_comes_back_is_listed_again_and_takes_the_removal_back(site: Site) -> None:
    async with three(site) as (amber, violet):
        await site.clock.advance(20)
        await remove(site, amber, "azure")
        await site.settle()

        async with site.shard("azure"):
            await site.settle()

            assert await listing(amber) == await listing(violet) == ["amber", "azure", "violet"]
            assert await records(site) == [], "with the same uid, it was wrong"


async def test_a_removal_says_nothing_of_another_shard_that_took_the_name(site: Site) -> None:
    async with three(site) as (amber, violet):
        await site.clock.advance(20)
        await remove(site, amber, "azure")
        await site.settle()
        site.lose_store("azure")
        site.lose_view("azure")

        async with site.shard("azure"), site.shard("beryl"):
            await site.settle()

            assert await listing(amber) == await listing(violet) == ["amber", "azure", "beryl", "violet"]
            (record,) = await records(site)
            assert set(record.value.status.acknowledged) == {"amber", "azure", "beryl", "violet"}, "it is about nothing"


async def test_a_held_export_is_forgotten_everywhere(site: Site) -> None:
    async with site.shard("amber") as amber:
        async with site.shard("azure", is_killed=True) as azure:
            await azure.client.create(EXPORTS, export())
            await amber.client.create(SLICES, slice_of(path=azure.workspace))
            await site.settle()
            cluster = azure.workspace
            with pytest.raises(ConfigurationError, match="found it at its home, shard azure; delete it there: kubectl"):
                await forget(site, amber, cluster, "widgets")
            assert await records(site) == []
        await site.restart_cache(empty=True)
        await site.settle()
        assert await listing(amber) == ["amber", "azure"]

        done = await forget(site, amber, cluster, "widgets")
        await site.settle()

        assert (done.recorded, done.is_alone) == (1, False)
        assert done.let_go == [f"APIExport {cluster}|widgets (root:example) of shard azure"]
        assert [one.partition(": ")[0] for one in done.endpoints] == [f"{amber.workspace}|widgets"] * 2
        assert await listing(amber) == []
        assert [entry.place.kind for entry in amber.ours.view.held()] == ["shards"], "the shard may come back"


async def test_an_export_that_is_known_by_the_urls_in_slices_alone_is_forgotten(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        for shard in (amber, violet):
            await shard.client.create(SLICES, slice_of(path="root:gone"))
            stale = {"status": {"endpoints": [{"url": f"{url_of('amber')}/services/apiexport/c9/widgets"}]}}
            await shard.client.patch(SLICES, "widgets", stale, subresource="status")
        await site.settle()
        assert await listing(amber) == await listing(violet) == ["amber"]
        with pytest.raises(ConfigurationError, match=r"nothing is known of APIExport c9\|widget; held are: none"):
            await forget(site, amber, "c9", "widget")

        await forget(site, amber, "root:gone", "widgets")
        await site.settle()

        assert await listing(amber) == await listing(violet) == []
        assert [(one.key.shard, one.key.cluster, one.name) for one in await records(site)] == [
            ("amber", "c9", "apiexports.widgets")
        ]
        told = "Removal apiexports.widgets of shard amber in c9, acknowledged by amber, violet"
        for reference in ("c9", "root:gone"):
            with pytest.raises(ConfigurationError, match=f"is forgotten already: {told}$"):
                await forget(site, violet, reference, "widgets")
        assert len(await records(site)) == 1


async def test_what_is_forgotten_once_more_for_a_new_cache_is_named_by_its_last_uid(site: Site) -> None:
    async with site.shard("amber") as amber:
        async with site.shard("azure", is_killed=True) as azure, site.shard("violet"):
            await azure.client.create(EXPORTS, export())
            await site.settle()
            cluster = azure.workspace
        await site.restart_cache(empty=True)
        await site.settle()
        await forget(site, amber, cluster, "widgets")
        await site.settle()
        (record,) = await records(site)
        await site.restart_cache(empty=True)
        await site.settle()
        async with site.shard("violet") as violet:
            await site.settle()
            held = [entry.place.kind for entry in violet.ours.view.held()]
            assert sorted(held) == ["apiexports", "shards"], "it has not heard of it"

            await forget(site, amber, cluster, "widgets")
            await site.settle()

            (again,) = await records(site)
            assert (again.key.shard, again.value.spec.uid) == ("amber", record.value.spec.uid)
            assert [entry.place.kind for entry in violet.ours.view.held()] == ["shards"], "wherever it has that uid"


def copies_of(site: Site, shard: ShardProcess) -> Client:
    """Return a client of a shard's workspace as the cache has it."""
    return site.cache.client().shard(shard.name).cluster(shard.workspace)


@asynccontextmanager
async def with_a_lost_export(site: Site, *, is_remade: bool = False) -> AsyncIterator[tuple[ShardProcess, str]]:
    """Run amber, with a slice of an export of azure's, which that has lost together with its store."""
    async with site.shard("amber") as amber:
        async with site.shard("azure", is_killed=True) as azure:
            await azure.client.create(EXPORTS, export())
            await amber.client.create(SLICES, slice_of(path=azure.workspace))
            await site.settle()
            if is_remade:
                await azure.client.delete(EXPORTS, "widgets")
                await azure.client.create(EXPORTS, export())
                await site.settle()
                copy, original = [
                    (await one.get(EXPORTS, "widgets")).uid for one in (copies_of(site, azure), azure.client)
                ]
                assert copy != original, "the copy has stayed"
        site.lose_store("azure")
        yield amber, azure.workspace


@pytest.mark.parametrize("asked", ["amber", "azure"])
@pytest.mark.parametrize(("has_view", "is_remade"), [(True, False), (True, True), (False, False)])
async def test_an_export_that_its_home_has_lost_is_forgotten_although_its_copy_is_there(
    site: Site, asked: str, has_view: bool, is_remade: bool
) -> None:
    async with with_a_lost_export(site, is_remade=is_remade) as (amber, cluster):
        if not has_view:
            site.lose_view("azure")
        async with site.shard("azure") as azure:
            await site.clock.advance(20)
            await site.settle()
            assert await listing(amber) == ["amber", "azure"], "nobody knows that it is gone"

            done = await forget(site, site.shards[asked], cluster, "widgets")
            await site.settle()

            assert (done.deleted, done.recorded) == (1, 1)
            assert await listing(amber) == []
            assert await site.cache.client().list(EXPORTS) == []
            (record,) = await records(site)
            assert set(record.value.status.acknowledged) == {"amber", "azure"}
            assert [one.place.kind for shard in (amber, azure) for one in shard.ours.view.held()] == []
            assert not azure.ours.segment or not azure.ours.segment.is_doubted, "nothing else is missing"


@pytest.mark.parametrize("asked", ["amber", "azure"])
async def test_a_home_that_may_not_write_yet_is_waited_for(site: Site, asked: str) -> None:
    async with with_a_lost_export(site) as (amber, cluster), site.shard("azure"):
        await site.clock.advance(2)

        done = await forget(site, site.shards[asked], cluster, "widgets")
        await site.settle()

        assert (done.deleted, done.recorded) == (1, 1)
        assert await listing(amber) == []
        assert await site.cache.client().list(EXPORTS) == []
        await site.clock.advance(20)
        assert set((await records(site))[0].value.status.acknowledged) == {"amber", "azure"}


async def test_the_export_of_a_silent_shard_is_forgotten_and_counts_again_when_that_brings_it_back(site: Site) -> None:
    async with site.shard("amber") as amber:
        async with site.shard("azure", is_killed=True) as azure:
            await azure.client.create(EXPORTS, export())
            await amber.client.create(SLICES, slice_of(path=azure.workspace))
            await site.settle()
        assert await listing(amber) == ["amber", "azure"]
        before = site.clock.monotonic()

        done = await forget(site, amber, azure.workspace, "widgets")
        await site.settle()

        assert 10 < site.clock.monotonic() - before < 20, "it may live until then"
        assert (done.deleted, done.recorded) == (1, 1)
        assert await listing(amber) == []
        async with site.shard("azure"):
            await site.settle()
            assert await listing(amber) == ["amber", "azure"]
            assert await records(site) == [], "it was wrong"


async def test_a_home_that_lives_and_says_nothing_has_the_removal_taken_back(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("azure") as azure:
        await azure.client.create(EXPORTS, export())
        await amber.client.create(SLICES, slice_of(path=azure.workspace))
        await site.settle()
        azure.cache.refuse(writes(REMOVALS.plural), times=NEVER)

        with pytest.raises(ConfigurationError, match="found neither; the removal was taken back, try again"):
            await forget(site, amber, azure.workspace, "widgets")

        assert await records(site) == []
        assert await listing(amber) == ["amber", "azure"]
        azure.cache.come_back()


async def test_where_no_removals_are_kept_the_home_of_an_export_is_not_asked_but_named(site: Site) -> None:
    site.cache.keeps_removals = False
    async with with_a_lost_export(site) as (amber, cluster), site.shard("azure") as azure:
        await site.clock.advance(20)
        with pytest.raises(ConfigurationError, match="delete it there, or run the command there"):
            await forget(site, amber, cluster, "widgets")

        assert (await forget(site, azure, cluster, "widgets")).is_alone
        await site.settle()

        assert await listing(amber) == [], "its copy went"


async def test_a_removal_without_a_uid_says_nothing_of_an_export_that_is_there(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await violet.client.create(EXPORTS, export())
        await amber.client.create(SLICES, slice_of(path=violet.workspace))
        await site.settle()

        client = site.cache.client().shard("amber").cluster(violet.workspace)
        await client.create(REMOVALS, record_of(Removal("apiexports", "amber", violet.workspace, "widgets"), NOW))
        await site.settle()

        assert set((await records(site))[0].value.status.acknowledged) == {"amber", "violet"}, "it is about nothing"
        await site.restart_cache(empty=True)
        await site.settle()
        assert await listing(amber) == ["amber", "violet"]


@pytest.mark.parametrize("plural", [SHARDS.plural, REMOVALS.plural])
async def test_a_shard_that_comes_back_amid_its_removal_stays_and_nothing_is_lost(site: Site, plural: str) -> None:
    async with three(site, until="stopped") as (amber, violet):
        gate = amber.cache.hold_next(lambda request: request.method != "PATCH" and writes(plural)(request))
        answer = operations(amber.running.manager, amber.ours, site.clock)[REMOVE_SHARD]

        async def refused() -> str:
            with pytest.raises(ConfigurationError) as raised:
                await answer({"name": "azure", "force": False})
            return str(raised.value)

        async with background(refused()) as (removing,):
            await gate.reached.wait()
            async with site.shard("azure"):
                await site.clock.advance(8)
                gate.open()
                await asyncio.wait([removing])
                await site.settle()

                assert removing.result().startswith(
                    "expected shard azure to be silent, found that it came back just now"
                )
                assert await listing(amber) == await listing(violet) == ["amber", "azure", "violet"]
                assert site.losses() == []
                assert await records(site) == []


async def test_a_removal_that_was_broken_off_is_taken_to_its_end(site: Site) -> None:
    async with three(site) as (amber, _):
        await site.clock.advance(20)
        amber.cache.refuse(writes(EXPORTS.plural), times=10)
        with pytest.raises(ConfigurationError, match="to take the removal of shard azure to its end, found"):
            await remove(site, amber, "azure")
        amber.cache.come_back()
        await site.settle()

        assert (await remove(site, amber, "azure")).recorded == 1
        await site.settle()

        assert await listing(amber) == ["amber", "violet"]
        assert {obj.key.shard for obj in await site.cache.client().list(EXPORTS)} == {"amber", "violet"}


async def test_a_cache_server_that_keeps_no_removals_has_each_process_told(site: Site) -> None:
    site.cache.keeps_removals = False
    async with three(site) as (amber, violet):
        await site.restart_cache(empty=True)
        await site.settle()
        await site.clock.advance(20)

        done = await remove(site, amber, "azure")
        await site.settle()

        assert (done.recorded, done.is_alone) == (0, True)
        assert await listing(amber) == ["amber", "violet"]
        assert await listing(violet) == ["amber", "azure", "violet"], "nobody has told it"
        await remove(site, violet, "azure")
        await site.settle()
        assert await listing(violet) == ["amber", "violet"]


async def test_a_removal_that_cannot_be_acknowledged_is_in_the_end_and_once(site: Site) -> None:
    async with three(site) as (amber, violet):
        await site.clock.advance(20)
        violet.cache.answer(500, "InternalError", writes(REMOVALS.plural), times=5)

        await remove(site, amber, "azure")
        await site.settle()

        assert violet.cache.is_clean()
        (record,) = await records(site)
        assert set(record.value.status.acknowledged) == {"amber", "violet"}
        assert [one for one in site.changes if one.endswith("/removals/shards.azure/status")] == [
            f"PATCH /services/cache/shards/azure/clusters/root/apis/{REMOVALS.api_version}/removals/shards.azure/status"
        ] * 2


async def test_a_removal_that_cannot_be_acknowledged_keeps_none_from_being_acted_upon(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await site.settle()
        violet.cache.answer(403, "Forbidden", lambda request: "apiexports.one/status" in request.target, times=NEVER)

        for name in ("one", "two"):
            client = site.cache.client().shard("amber").cluster("c1")
            await client.create(REMOVALS, record_of(Removal("apiexports", "amber", "c1", name, "u1"), NOW))
        await site.clock.advance(60)

        acknowledged = {record.name: set(record.value.status.acknowledged) for record in await records(site)}
        assert acknowledged == {"apiexports.one": {"amber"}, "apiexports.two": {"amber", "violet"}}
        assert amber.cache.is_clean()


async def test_a_removal_that_was_acted_upon_is_not_again_after_a_restart(site: Site) -> None:
    async with three(site) as (amber, _):
        await site.clock.advance(20)
        await remove(site, amber, "azure")
        await site.settle()

        async with site.shard("beryl"):
            await site.settle()
        site.forget_requests()
        async with site.shard("beryl"):
            await site.settle()

        assert [one for one in site.writes if "/removals/" in one] == []


async def test_removals_are_found_when_the_cache_comes_late(site: Site) -> None:
    async with three(site) as (amber, _):
        await site.clock.advance(20)
        await remove(site, amber, "azure")
        await site.settle()
        async with site.shard("beryl", cache="away") as beryl:
            await site.clock.advance(100)
            beryl.cache.come_back()
            await site.settle()

            assert set((await records(site))[0].value.status.acknowledged) == {"amber", "violet", "beryl"}


async def test_a_shard_with_many_exports_is_removed_with_one_removal(site: Site) -> None:
    async with site.shard("amber") as amber:
        async with site.shard("azure", is_killed=True) as azure:
            for number in range(300):
                await azure.client.create(EXPORTS, export(f"e{number}"))
            await site.settle()
        await site.restart_cache(empty=True)
        await site.settle()
        await site.clock.advance(20)
        assert len(amber.ours.view.held()) == 301

        await remove(site, amber, "azure")
        await site.settle()

        assert amber.ours.view.held() == []
        assert len(await records(site)) == 1


async def test_deleting_the_own_shard_of_a_live_process_makes_it_again_and_moves_no_endpoint(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber, site.shard("violet") as violet:
        for shard in (amber, violet):
            await shard.client.create(EXPORTS, export())
            await shard.client.create(SLICES, slice_of())
        await amber.client_of("root").patch(SHARDS, "amber", {"metadata": {"labels": {"added": "1"}}})
        await site.settle()
        before = await amber.client_of("root").get(SHARDS, "amber")

        await amber.client_of("root").delete(SHARDS, "amber")
        await site.settle()

        again = await amber.client_of("root").get(SHARDS, "amber")
        assert again.uid != before.uid
        assert again.labels == before.labels == {"name": "amber", "region": "eu", "added": "1"}
        assert site.losses() == []
