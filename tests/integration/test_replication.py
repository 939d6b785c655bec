"""The cache holds a copy of every Shard, APIExport and slice, kept right whatever is done to it."""

from typing import Any

import pytest

from controllers.copies import HOLDER
from controllers.kinds import EXPORTS, LOGICAL_CLUSTERS, SHARDS, SLICES
from informers import Client, NotFound, Object, Resource
from kcpctl.apiserver import stored
from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.assembly import ShardServer
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.http.inprocess import InProcess
from kcpctl.apiserver.storage.memory import MemoryStorage
from tests.faults import lists, watches, writes
from tests.integration.objects import REPLICATED, export, published, slice_of, url_of, urls
from tests.integration.site import Restored, ShardProcess, Site

ORIGINALS = {
    "cache.kcp.io/original-resource-version": "rv",
    "cache.kcp.io/original-resource-UID": "uid",
}


def copies_of(site: Site, shard: ShardProcess, cluster: str = "") -> Client:
    """Return a client of a cluster's copies, by default of the workspace root:example."""
    return site.cache.client().shard(shard.name).cluster(cluster or shard.workspace)


def essence(obj: Object[Any], *left_out: str) -> dict[str, Any]:
    """Return an object without what the server that holds it has set."""
    body = obj.body
    for name in ("resourceVersion", "managedFields", *left_out):
        body["metadata"].pop(name, None)
    body["metadata"]["annotations"] = {
        key: value
        for key, value in (body["metadata"].get("annotations") or {}).items()
        if key not in ORIGINALS and key not in ("kcp.io/shard", "kcp.io/cluster", HOLDER)
    }
    return body


async def assert_equal_copies(site: Site) -> None:
    """Check that the cache holds the shards' objects, all of them, and nothing else of theirs."""
    for resource in REPLICATED:
        originals = {
            (name, obj.cluster, obj.name): obj
            for name, shard in site.shards.items()
            for obj in await shard.client_of("*").list(resource)
        }
        copies = {(o.key.shard, o.cluster, o.name): o for o in await site.cache.client().list(resource)}
        assert copies.keys() == originals.keys()
        for where, original in originals.items():
            assert essence(copies[where]) == essence(original)
            assert {key: copies[where].annotations[key] for key in ORIGINALS} == {
                key: getattr(original, name) for key, name in ORIGINALS.items()
            }


async def with_all_kinds(site: Site, *shards: ShardProcess) -> None:
    for shard in shards:
        await shard.client.create(EXPORTS, export())
        await shard.client.create(SLICES, slice_of())
    await site.settle()


async def test_copies_equal_their_originals_to_the_last_field(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber, site.shard("violet") as violet:
        await with_all_kinds(site, amber, violet)

        await assert_equal_copies(site)


async def test_changed_originals_are_followed_by_one_write_each(site: Site) -> None:
    async with site.shard("amber") as amber:
        await with_all_kinds(site, amber)
        site.forget_requests()

        await amber.client.patch(EXPORTS, "widgets", {"metadata": {"labels": {"a": "1"}}})
        await site.settle()

        assert [write.partition("/clusters/")[0] for write in site.changes] == [
            "PUT /services/cache/shards/amber",
            "PATCH ",
        ]
        await assert_equal_copies(site)


TAMPERINGS: dict[str, Any] = {
    "labels": {"metadata": {"labels": {"region": "mars"}}},
    "annotations": {"metadata": {"annotations": {"cache.kcp.io/original-resource-version": "1", "x": "y"}}},
    "finalizers": {"metadata": {"finalizers": ["example.com/never"]}},
    "spec": {"spec": {"tampered": True}},
    "status": {"status": {"endpoints": [{"url": "https://evil.example.com"}], "virtualWorkspaces": []}},
    "no object as its spec": {"spec": "text"},
    "another field": {"data": {"a": "b"}},
}


@pytest.mark.parametrize("what", TAMPERINGS)
@pytest.mark.parametrize("resource", REPLICATED, ids=lambda resource: resource.plural)
async def test_a_copy_that_somebody_tampered_with_is_repaired(site: Site, resource: Resource[Any], what: str) -> None:
    async with site.shard("amber") as amber, site.shard("violet"):
        await with_all_kinds(site, amber)
        name, cluster = ("amber", "root") if resource is SHARDS else ("widgets", amber.workspace)

        await copies_of(site, amber, cluster).patch(resource, name, TAMPERINGS[what])
        await site.settle()

        await assert_equal_copies(site)
        assert site.losses() == []


async def test_a_copy_whose_generation_was_raised_is_followed_all_the_same(site: Site) -> None:
    async with site.shard("amber") as amber:
        await with_all_kinds(site, amber)
        await copies_of(site, amber).patch(EXPORTS, "widgets", {"metadata": {"generation": 99}})
        await site.settle()

        await amber.client.patch(EXPORTS, "widgets", {"metadata": {"labels": {"a": "1"}}})
        await site.settle()

        copy = await copies_of(site, amber).get(EXPORTS, "widgets")
        original = await amber.client.get(EXPORTS, "widgets")
        assert essence(copy, "generation") == essence(original, "generation")
        assert copy.generation == 99


@pytest.mark.parametrize("resource", REPLICATED, ids=lambda resource: resource.plural)
async def test_a_copy_that_somebody_deleted_is_made_again_and_nothing_published_was_lost(
    site: Site, resource: Resource[Any]
) -> None:
    async with site.shard("amber") as amber, site.shard("violet"):
        await with_all_kinds(site, amber)
        name, cluster = ("amber", "root") if resource is SHARDS else ("widgets", amber.workspace)

        await copies_of(site, amber, cluster).delete(resource, name)
        await site.settle()

        await assert_equal_copies(site)
        assert urls(await amber.client.get(SLICES, "widgets")) == published(amber.workspace, "amber", "violet")


async def test_a_copy_without_an_original_is_deleted_but_not_one_of_an_unknown_shard(site: Site) -> None:
    async with site.shard("amber"):
        pass  # its store is not new any more: what it does not hold is not there
    async with site.shard("amber") as amber:
        await site.settle()
        for shard in ("amber", "stranger"):
            client = site.cache.client().shard(shard).cluster(amber.workspace)
            await client.create(EXPORTS, export("orphan"))
        await site.settle()

        assert [obj.key.shard for obj in await site.cache.client().list(EXPORTS)] == ["stranger"]


async def test_a_deletion_waits_for_finalizers_and_then_takes_the_copy(site: Site) -> None:
    async with site.shard("amber") as amber:
        held = export()
        held["metadata"]["finalizers"] = ["example.com/held"]
        await amber.client.create(EXPORTS, held)
        await site.settle()

        await amber.client.delete(EXPORTS, "widgets")
        await amber.client.patch(EXPORTS, "widgets", {"metadata": {"labels": {"a": "1"}}})
        await site.settle()
        copy = await copies_of(site, amber).get(EXPORTS, "widgets")
        assert copy.labels == {"a": "1"}, "it is followed to the end"

        await amber.client.patch(EXPORTS, "widgets", {"metadata": {"finalizers": None}})
        await site.settle()
        with pytest.raises(NotFound):
            await copies_of(site, amber).get(EXPORTS, "widgets")


async def test_what_is_deleted_and_made_anew_is_one_update_of_the_copy(site: Site) -> None:
    async with site.shard("amber") as amber:
        await with_all_kinds(site, amber)
        before = await copies_of(site, amber).get(EXPORTS, "widgets")
        site.forget_requests()

        amber.local.hold()  # so that its controllers learn of both at once
        await amber.client.delete(EXPORTS, "widgets")
        again = await amber.client.create(EXPORTS, {"metadata": {"name": "widgets", "labels": {"a": "1"}}, "spec": {}})
        amber.local.release()
        await site.settle()

        copy = await copies_of(site, amber).get(EXPORTS, "widgets")
        assert (copy.uid, copy.labels) == (before.uid, {"a": "1"})
        assert copy.annotations["cache.kcp.io/original-resource-UID"] == again.uid
        assert {seen.method for seen in site.cache.requests if seen.method != "GET"} == {"PUT"}
        assert site.losses() == []


@pytest.mark.parametrize(("status", "reason"), [(500, "InternalError"), (409, "Conflict"), (429, "TooManyRequests")])
async def test_writes_that_fail_for_a_while_are_made_in_the_end(site: Site, status: int, reason: str) -> None:
    async with site.shard("amber") as amber:
        amber.cache.answer(status, reason, writes(), times=5)

        await with_all_kinds(site, amber)

        assert amber.cache.is_clean()
        await assert_equal_copies(site)


async def test_objects_of_system_clusters_stay_at_home(site: Site) -> None:
    async with site.shard("amber") as amber:
        await amber.client.create(EXPORTS, export("seen"))
        for resource, name in ((LOGICAL_CLUSTERS, "cluster"), (EXPORTS, "hidden")):
            obj = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": name, "uid": name}}
            key = f"/registry/{resource.group}/{resource.plural}/system:amber/{name}"
            await site.store("amber").create(key, stored.encode(obj, Scope("system:amber")))

        await site.settle()

        assert {obj.name for obj in await amber.client_of("*").list(EXPORTS)} == {"seen", "hidden"}
        assert [obj.name for obj in await site.cache.client().list(EXPORTS)] == ["seen"]


async def test_a_hundred_exports_are_replicated_at_once_and_not_five_a_second(site: Site) -> None:
    async with site.shard("amber") as amber:
        await site.settle()
        started = site.clock.monotonic()
        for number in range(100):
            await amber.client.create(EXPORTS, export(f"e{number}"))

        await site.settle()

        assert len(await site.cache.client().list(EXPORTS)) == 100
        assert site.clock.monotonic() == started, "no time has passed"


async def test_a_copy_that_was_lost_before_anybody_saw_it_is_made_again(site: Site) -> None:
    async with site.shard("amber") as amber:
        await site.settle()
        amber.cache.refuse(watches(EXPORTS.plural), times=1)
        amber.cache.refuse(lists(EXPORTS.plural), times=1)
        await amber.cache.cut(watches(EXPORTS.plural))
        await amber.client.create(EXPORTS, export())
        await site.clock.run_until_idle()
        assert [obj.name for obj in await site.cache.client().list(EXPORTS)] == ["widgets"]
        assert not amber.running.manager.informer(EXPORTS, "cache").live

        site.cache.start(MemoryStorage(clock=site.clock, revision=site.cache.storage.revision + 1000))
        await site.clock.advance(60)

        assert [obj.name for obj in await site.cache.client().list(EXPORTS)] == ["widgets"]


async def test_a_server_that_loses_its_data_while_we_watch_takes_no_copies_along(site: Site) -> None:
    """A server of another process may be put back to nothing; only what it says to have deleted is gone."""
    async with site.shard("amber") as amber:
        for resource, body in ((EXPORTS, export()), (SLICES, slice_of())):
            await amber.client.create(resource, body)
        await site.settle()
        before = {(str(r), o.cluster, o.name) for r in REPLICATED for o in await site.cache.client().list(r)}

        empty = ShardServer(MemoryStorage(clock=site.clock), name="amber", url=url_of("amber"), clock=site.clock)
        await empty.load()
        amber.local._inner = InProcess(ApiServer(empty.mounts, Authentication(), clock=site.clock))
        await amber.local.cut()
        await site.clock.advance(120)

        after = {(str(r), o.cluster, o.name) for r in REPLICATED for o in await site.cache.client().list(r)}
        assert after == before


async def test_a_cache_that_is_filled_again_within_moments_costs_no_slice_a_write(site: Site) -> None:
    """To write into every slice that its endpoints are held, and to take that back, would double the work."""
    async with site.shard("amber") as amber, site.shard("green") as green:
        await with_all_kinds(site, amber, green)
        await site.settle()
        site.forget_requests()

        await site.restart_cache(empty=True)
        await site.settle()

        assert [change for change in site.changes if "/services/cache/" not in change] == []
        assert site.losses() == []


@pytest.mark.parametrize("is_older", [False, True], ids=["empty", "older"])
async def test_a_cache_that_comes_back_with_less_is_filled_again_at_once_by_every_shard(
    site: Site, is_older: bool
) -> None:
    async with site.shard("amber") as amber, site.shard("green") as green, site.shard("violet") as violet:
        shards = (amber, green, violet)
        await with_all_kinds(site, *shards)
        held = site.cache.storage
        records, terms = (await held.range("")).records, held.terms
        older = Restored(records, held.revision, held.identity, terms, site.clock)
        for shard in shards:
            await shard.client.create(EXPORTS, export("later"))
            await shard.client.delete(SLICES, "widgets")
        await site.settle()

        await site.restart_cache(empty=not is_older, over=older if is_older else None)
        await site.clock.advance(3)

        await assert_equal_copies(site)


async def test_the_event_of_a_copy_that_was_just_written_wakes_nobody(site: Site) -> None:
    async with site.shard("amber") as amber:
        await with_all_kinds(site, amber)
        before = len(amber.running.visits)

        await amber.client.patch(EXPORTS, "widgets", {"metadata": {"labels": {"a": "1"}}})
        await site.settle()

        visits = [visit for visit in amber.running.visits[before:] if visit.controller == "replication-apiexports"]
        assert [len(visit.writes) for visit in visits] == [1]


async def test_what_others_make_of_a_copy_that_was_just_written_is_repaired_although_its_event_was_missed(
    site: Site,
) -> None:
    """A list shows what they made of it, and nothing of what was written; or that it is gone."""
    async with site.shard("amber") as amber:
        await with_all_kinds(site, amber)
        await amber.client.create(EXPORTS, export("gone"))
        await site.settle()
        informer, copies = amber.running.manager.informer(EXPORTS, "cache"), copies_of(site, amber)
        amber.cache.refuse(watches(EXPORTS.plural), times=1)
        amber.cache.refuse(lists(EXPORTS.plural), times=1)
        await amber.cache.cut(watches(EXPORTS.plural))
        for name in ("widgets", "gone"):
            await amber.client.patch(EXPORTS, name, {"metadata": {"labels": {"a": "1"}}})
        await site.clock.run_until_idle()
        assert {obj.labels.get("a") for obj in await copies.list(EXPORTS)} == {"1"}
        assert not informer.live

        await copies.patch(EXPORTS, "widgets", {"metadata": {"labels": {"a": "2"}}})
        await copies.delete(EXPORTS, "gone")
        informer.force_relist()
        await site.settle()

        await assert_equal_copies(site)
