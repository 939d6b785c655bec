"""The main job: every slice lists the URLs of all shards that it is to be served on, wherever it lives."""

from typing import Any

import pytest

from controllers.entries import SHARD
from controllers.kinds import EXPORTS, PARTITIONS, SHARDS, SLICES
from tests.faults import writes
from tests.integration.objects import conditions, export, partition, published, slice_of, urls
from tests.integration.site import ShardProcess, Site

READY = {"APIExportValid": ("True", ""), "EndpointURLsReady": ("True", ""), "PartitionValid": ("True", "")}


async def make(*shards: ShardProcess, partition: str = "") -> None:
    """Make an export and a slice of it in each shard's workspace."""
    for shard in shards:
        await shard.client.create(EXPORTS, export())
        await shard.client.create(SLICES, slice_of(partition=partition))


async def listed(shard: ShardProcess, name: str = "widgets") -> list[str]:
    return urls(await shard.client.get(SLICES, name))


async def test_slices_of_all_shards_list_all_shards_and_the_steady_state_writes_nothing(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await make(amber, violet)

        await site.settle()

        for shard in (amber, violet):
            assert await listed(shard) == published(shard.workspace, "amber", "violet")
            assert conditions(await shard.client.get(SLICES, "widgets")) == READY
        site.forget_requests()
        await site.clock.advance(4000)
        await site.settle()
        assert site.writes == [], "over an hour, with watches that end and resume"


async def test_one_status_patch_makes_a_slice_right(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet"):
        await amber.client.create(EXPORTS, export())
        await site.settle()
        site.forget_requests()

        await amber.client.create(SLICES, slice_of())
        await site.settle()

        path = f"/clusters/{amber.workspace}/apis/apis.kcp.io/v1alpha1/apiexportendpointslices"
        cache = f"/services/cache/shards/amber{path}"
        made, copied = [f"POST {path}", f"POST {cache}"], [f"PATCH {path}/widgets/status", f"PUT {cache}/widgets"]
        assert sorted(site.changes) in (sorted(made + copied), sorted(made + copied[:1])), "the copy may be late"


async def test_a_shard_that_comes_is_added_and_one_that_stops_may_come_back(site: Site) -> None:
    async with site.shard("amber") as amber:
        await make(amber)
        await site.settle()
        assert await listed(amber) == published(amber.workspace, "amber")

        async with site.shard("violet"):
            await site.settle()
            assert await listed(amber) == published(amber.workspace, "amber", "violet")

        site.forget_requests()
        await site.settle()
        async with site.shard("violet"):
            await site.settle()

        assert await listed(amber) == published(amber.workspace, "amber", "violet")
        assert site.writes == [], "neither its going nor its coming back changed anything"


async def test_an_export_of_another_shard_is_found_by_its_cluster_and_its_url_names_that(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await amber.client.create(EXPORTS, export())
        await violet.client.create(SLICES, slice_of(path=amber.workspace))

        await site.settle()

        assert await listed(violet) == published(amber.workspace, "amber", "violet")


async def test_an_export_of_this_shard_goes_before_one_of_the_same_path_elsewhere(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        for shard in (amber, violet):
            await shard.client.create(EXPORTS, export())
            await shard.client.create(SLICES, slice_of(path="root:example"))

        await site.settle()

        for shard in (amber, violet):
            assert await listed(shard) == published(shard.workspace, "amber", "violet")


async def test_an_export_that_comes_later_is_noticed_wherever_it_comes(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await amber.client.create(SLICES, slice_of("near"))
        await amber.client.create(SLICES, slice_of("far", path=violet.workspace))
        await site.settle()
        for name in ("near", "far"):
            found = await amber.client.get(SLICES, name)
            assert conditions(found)["APIExportValid"] == ("False", "APIExportNotFound")
            assert urls(found) == []

        for shard in (amber, violet):
            await shard.client.create(EXPORTS, export())
        await site.settle()

        assert await listed(amber, "near") == published(amber.workspace, "amber", "violet")
        assert await listed(amber, "far") == published(violet.workspace, "amber", "violet")


async def test_deleting_an_export_empties_its_slices_everywhere_and_making_it_anew_fills_them(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await make(amber)
        await violet.client.create(SLICES, slice_of(path=amber.workspace))
        await site.settle()

        await amber.client.delete(EXPORTS, "widgets")
        await site.settle()
        for shard in (amber, violet):
            found = await shard.client.get(SLICES, "widgets")
            assert urls(found) == []
            assert conditions(found)["APIExportValid"] == ("False", "APIExportNotFound")

        await amber.client.create(EXPORTS, export())
        await site.settle()
        for shard in (amber, violet):
            assert await listed(shard) == published(amber.workspace, "amber", "violet")


# Partitions, labels, URLs


async def test_a_partition_selects_shards_by_label_and_follows_their_labels(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber, site.shard("violet") as violet:
        for shard in (amber, violet):
            await shard.client.create(PARTITIONS, partition(region="eu"))
        await make(amber, violet, partition="europe")
        await site.settle()
        assert await listed(violet) == published(violet.workspace, "amber")

        label = {"metadata": {"labels": {"region": "eu"}}}
        await violet.client_of("root").patch(SHARDS, "violet", label)
        await site.settle()
        for shard in (amber, violet):
            assert await listed(shard) == published(shard.workspace, "amber", "violet")

        await violet.client_of("root").patch(SHARDS, "violet", {"metadata": {"labels": {"region": None}}})
        await site.settle()
        for shard in (amber, violet):
            assert await listed(shard) == published(shard.workspace, "amber")


async def test_a_label_that_the_process_gives_its_shard_is_kept_against_others(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber:
        await site.settle()

        await amber.client_of("root").patch(SHARDS, "amber", {"metadata": {"labels": {"region": "us", "tier": "1"}}})
        await site.settle()

        found = await amber.client_of("root").get(SHARDS, "amber")
        assert found.labels == {"name": "amber", "region": "eu", "tier": "1"}


async def test_a_partition_that_changes_goes_or_comes_is_followed(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber, site.shard("violet", labels=("region=us",)):
        await make(amber, partition="europe")
        await site.settle()
        found = await amber.client.get(SLICES, "widgets")
        assert urls(found) == []
        assert conditions(found)["PartitionValid"] == ("False", "PartitionInvalidReference")

        await amber.client.create(PARTITIONS, partition(region="eu"))
        await site.settle()
        assert await listed(amber) == published(amber.workspace, "amber")

        await amber.client.patch(PARTITIONS, "europe", {"spec": {"selector": {"matchLabels": {"region": "us"}}}})
        await site.settle()
        assert await listed(amber) == published(amber.workspace, "violet")

        await amber.client.patch(SLICES, "widgets", {"spec": {"partition": None}})
        await site.settle()
        assert await listed(amber) == published(amber.workspace, "amber", "violet")

        await amber.client.patch(SLICES, "widgets", {"spec": {"partition": "europe"}})
        await amber.client.delete(PARTITIONS, "europe")
        await site.settle()
        assert await listed(amber) == []


async def test_a_shard_with_another_url_is_listed_by_that_one_alone(site: Site) -> None:
    async with site.shard("amber") as amber:
        await make(amber)
        async with site.shard("violet"):
            await site.settle()

        async with site.shard("violet", url="https://moved.example.com/base"):
            await site.settle()

            moved = f"https://moved.example.com/base/services/apiexport/{amber.workspace}/widgets"
            assert await listed(amber) == sorted([*published(amber.workspace, "amber"), moved])


async def test_shards_in_the_cache_that_make_no_sense_are_left_out_and_the_others_are_listed(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet"):
        await make(amber)
        await site.settle()

        for name, spec in (("empty", {}), ("schemeless", {"virtualWorkspaceURL": "10.0.0.1:6443"}), ("text", "none")):
            copy = {"metadata": {"name": name}, "spec": spec}
            await site.cache.client().shard(name).cluster("root").create(SHARDS, copy)
        await site.settle()

        assert await listed(amber) == published(amber.workspace, "amber", "violet")
        assert {one.key.name for one in amber.ours.view.sightings.malformed(SHARD)} == {"text"}


# The process' own Shard


@pytest.mark.parametrize(
    "wrong",
    [{"spec": {"virtualWorkspaceURL": "https://wrong.example.com"}}, {"metadata": {"labels": {"region": "us"}}}],
    ids=["url", "label"],
)
async def test_what_somebody_changes_in_a_shard_that_its_process_says_otherwise_takes_nothing_away(
    site: Site, wrong: dict[str, Any]
) -> None:
    async with (
        site.shard("amber", labels=("region=eu",)) as amber,
        site.shard("violet", labels=("region=eu",)) as violet,
    ):
        for shard in (amber, violet):
            await shard.client.create(PARTITIONS, partition("europe", region="eu"))
        await make(amber, violet, partition="europe")
        await site.settle()
        right = (await amber.client_of("root").get(SHARDS, "amber")).at("spec")

        amber.local.refuse(writes("shards"), times=4)
        await amber.client_of("root").patch(SHARDS, "amber", wrong)
        await site.settle()

        found = await amber.client_of("root").get(SHARDS, "amber")
        assert (found.at("spec"), found.labels["region"]) == (right, "eu")
        for shard in (amber, violet):
            assert await listed(shard) == published(shard.workspace, "amber", "violet")
    assert site.losses() == [], "nor for a moment"


async def test_a_shard_that_somebody_deletes_is_made_again_with_all_its_labels_and_annotations(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber, site.shard("violet") as violet:
        await make(amber, violet)
        await site.settle()
        root = amber.client_of("root")
        theirs = {"metadata": {"labels": {"tier": "1"}, "annotations": {"example.com/owner": "ops"}}}
        await root.patch(SHARDS, "amber", theirs)
        await site.settle()

        await root.delete(SHARDS, "amber")
        await site.settle()

        found = await root.get(SHARDS, "amber")
        assert found.labels == {"name": "amber", "region": "eu", "tier": "1"}
        assert found.annotations["example.com/owner"] == "ops"
        assert site.losses() == [], "nobody has missed it"
        for shard in (amber, violet):
            assert await listed(shard) == published(shard.workspace, "amber", "violet")
        assert (await site.cache.client().shard("amber").cluster("root").get(SHARDS, "amber")).labels == found.labels


async def test_a_shard_that_is_gone_for_good_is_taken_out_by_deleting_its_copy(site: Site) -> None:
    async with site.shard("amber") as amber:
        await make(amber)
        async with site.shard("violet"):
            await site.settle()
        assert await listed(amber) == published(amber.workspace, "amber", "violet")

        await site.cache.client().shard("violet").cluster("root").delete(SHARDS, "violet")
        await site.settle()

        assert await listed(amber) == published(amber.workspace, "amber")


# The deprecated URLs of exports


async def test_exports_show_all_urls_and_none_when_that_is_turned_off(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet"):
        await amber.client.create(EXPORTS, export())
        await site.settle()

        found = await amber.client.get(EXPORTS, "widgets")
        shown = [endpoint["url"] for endpoint in found.at("status", "virtualWorkspaces")]
        assert shown == published(amber.workspace, "amber", "violet")
        assert conditions(found)["VirtualWorkspaceURLsReady"] == ("True", "")

    async with site.shard("amber", deprecated_urls=False) as amber:
        await site.settle()

        found = await amber.client.get(EXPORTS, "widgets")
        assert found.at("status", "virtualWorkspaces") is None
        assert "VirtualWorkspaceURLsReady" not in conditions(found)
        site.forget_requests()
        await site.clock.advance(4000)
        assert site.writes == []
