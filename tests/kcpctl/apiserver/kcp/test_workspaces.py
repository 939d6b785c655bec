"""Logical clusters and workspaces: made once, found by name and path, kept apart from each other."""

from typing import Any

import pytest

from informers.api.clusters import is_name, shard_hash
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.kcp.clusters import SINGLETON, cluster_key
from kcpctl.apiserver.kcp.kinds import WORKSPACES as WORKSPACE_KIND
from kcpctl.apiserver.keys import object_key
from kcpctl.apiserver.storage.base import Storage
from kcpctl.apiserver.storage.memory import MemoryStorage
from tests.kcpctl.apiserver.crds.conftest import CRDS, crd
from tests.kcpctl.apiserver.kcp.conftest import (
    LOGICAL_CLUSTERS,
    SLICES,
    URL,
    WORKSPACES,
    Shard,
    running,
    slice_of,
)

NAMESPACES = "/api/v1/namespaces"


async def test_a_shard_begins_with_the_logical_cluster_root(shard: Shard) -> None:
    found = await shard.root.get(f"{LOGICAL_CLUSTERS}/{SINGLETON}")

    assert found.status == 200
    assert found.body["status"]["URL"] == f"{URL}/clusters/root"
    assert found.body["status"]["phase"] == "Ready"
    assert "kcp.io/path" not in found.body["metadata"]["annotations"]


async def test_a_workspace_leads_to_a_logical_cluster_with_a_random_name(shard: Shard) -> None:
    cluster = await shard.server.create_workspace("root:example")

    workspace = (await shard.root.get(f"{WORKSPACES}/example")).body
    itself = (await shard.inside(cluster).get(f"{LOGICAL_CLUSTERS}/{SINGLETON}")).body
    assert is_name(cluster)
    assert len(cluster) == 16
    assert workspace["spec"] == {
        "URL": f"{URL}/clusters/root:example",
        "cluster": cluster,
        "type": {"name": "universal", "path": "root"},
    }
    assert workspace["status"]["phase"] == "Ready"
    assert workspace["metadata"]["annotations"] == {
        "core.kcp.io/shard": "amber",
        "internal.tenancy.kcp.io/cluster": cluster,
        "internal.tenancy.kcp.io/shard": shard_hash("amber"),
        "kcp.io/cluster": "root",
    }
    assert itself["metadata"]["annotations"]["kcp.io/path"] == "root:example"
    assert itself["metadata"]["annotations"]["kcp.io/cluster"] == cluster
    assert itself["spec"]["owner"] == {
        "apiVersion": "tenancy.kcp.io/v1alpha1",
        "resource": "workspaces",
        "name": "example",
        "cluster": "root",
        "uid": workspace["metadata"]["uid"],
    }


async def test_what_is_stored_for_a_workspace_is_what_the_api_accepts(shard: Shard) -> None:
    cluster = await shard.server.create_workspace("root:example")

    for client, path in (
        (shard.root, f"{WORKSPACES}/example"),
        (shard.inside(cluster), f"{LOGICAL_CLUSTERS}/{SINGLETON}"),
    ):
        found = (await client.get(path)).body
        unchanged = await client.put(path, found)
        assert unchanged.status == 200
        assert unchanged.body == found


async def test_making_a_workspace_twice_gives_the_same_one(shard: Shard) -> None:
    one = await shard.server.create_workspace("root:example")

    assert await shard.server.create_workspace("root:example") == one
    assert len((await shard.root.get(WORKSPACES)).body["items"]) == 1


@pytest.mark.parametrize("cluster", ["root", "example"])
async def test_every_logical_cluster_has_its_first_namespaces(shard: Shard, cluster: str) -> None:
    await shard.server.create_workspace("root:example")

    found = await shard.inside("root" if cluster == "root" else "root:example").get(NAMESPACES)

    assert [item["metadata"]["name"] for item in found.body["items"]] == ["default", "kube-system"]


async def test_a_path_leads_through_all_workspaces_from_any_ancestor(shard: Shard) -> None:
    org = await shard.server.create_workspace("root:org")
    team = await shard.server.create_workspace("root:org:team")

    found = [
        (await shard.inside(path).get(f"{LOGICAL_CLUSTERS}/{SINGLETON}")).body["metadata"]["annotations"]
        for path in ("root:org:team", f"{org}:team", team)
    ]

    assert all(one == found[0] for one in found)
    assert found[0]["kcp.io/cluster"] == team
    assert found[0]["kcp.io/path"] == "root:org:team"


async def test_a_workspace_below_a_cluster_name_has_the_whole_path(shard: Shard) -> None:
    org = await shard.server.create_workspace("root:org")

    team = await shard.server.create_workspace(f"{org}:team")

    assert shard.server.clusters.path(team) == "root:org:team"


@pytest.mark.parametrize(
    ("path", "code"),
    [("root", 400), ("", 400), ("Root:x", 400), ("root:", 400), ("root:a b", 400), ("root:org:team", 404)],
)
async def test_a_path_that_no_workspace_can_have_is_refused(shard: Shard, path: str, code: int) -> None:
    with pytest.raises(Failure) as refused:
        await shard.server.create_workspace(path)

    assert refused.value.status.code == code


async def test_everything_is_there_again_after_a_restart(storage: Storage) -> None:
    async with running(storage) as first:
        cluster = await first.server.create_workspace("root:example")
    async with running(storage) as second:
        found = await second.inside("root:example").get(f"{LOGICAL_CLUSTERS}/{SINGLETON}")

        assert await second.server.create_workspace("root:example") == cluster
        assert found.body["metadata"]["annotations"]["kcp.io/cluster"] == cluster


async def test_a_workspace_whose_making_was_broken_off_is_completed(storage: Storage) -> None:
    async with running(storage) as first:
        cluster = await first.server.create_workspace("root:example")
        workspace = (await first.root.get(f"{WORKSPACES}/example")).body
        key = object_key(WORKSPACE_KIND, Scope("root"), "", "example")
        record = await storage.get(key)
        assert record is not None
        await storage.delete(key, expect=record.revision)
    async with running(storage) as second:
        assert await second.server.create_workspace("root:example") == cluster
        assert (await second.root.get(f"{WORKSPACES}/example")).body["metadata"]["uid"] == workspace["metadata"]["uid"]


async def test_a_shard_that_moves_to_another_address_says_so_everywhere(storage: Storage) -> None:
    async with running(storage) as first:
        cluster = await first.server.create_workspace("root:example")
    async with running(storage, url="https://127.0.0.1:7000") as second:
        workspace = (await second.root.get(f"{WORKSPACES}/example")).body
        itself = (await second.inside(cluster).get(f"{LOGICAL_CLUSTERS}/{SINGLETON}")).body

        assert workspace["spec"]["URL"] == "https://127.0.0.1:7000/clusters/root:example"
        assert itself["status"]["URL"] == f"https://127.0.0.1:7000/clusters/{cluster}"


async def test_a_start_at_the_same_address_writes_nothing(storage: Storage) -> None:
    async with running(storage) as first:
        await first.server.create_workspace("root:example")
    before = (await storage.range("/registry/")).revision
    async with running(storage):
        assert (await storage.range("/registry/")).revision == before


async def test_a_path_that_leads_to_another_shard_is_not_found_here(shard: Shard) -> None:
    cluster = await shard.server.create_workspace("root:example")
    record = await shard.storage.get(cluster_key(cluster))
    assert record is not None
    await shard.storage.delete(cluster_key(cluster), expect=record.revision)

    found = await shard.inside("root:example").get(SLICES)
    with pytest.raises(Failure, match="on another shard"):
        await shard.server.create_workspace("root:example")

    assert found.status == 404
    assert found.message == 'workspaces.tenancy.kcp.io "root:example" not found'


@pytest.mark.parametrize("verb", ["POST", "DELETE"])
async def test_a_workspace_is_neither_made_nor_deleted_through_the_api_yet(shard: Shard, verb: str) -> None:
    await shard.server.create_workspace("root:example")
    body = {"apiVersion": "tenancy.kcp.io/v1alpha1", "kind": "Workspace", "metadata": {"name": "other"}, "spec": {}}
    path, sent = (WORKSPACES, body) if verb == "POST" else (f"{WORKSPACES}/example", None)

    refused = await shard.root.ask(verb, path, sent)

    assert refused.status == 501
    assert refused.message.startswith(f"workspaces are not {'created' if verb == 'POST' else 'deleted'}")
    assert "\n" not in refused.message


async def test_a_logical_cluster_is_neither_made_nor_deleted_through_the_api(shard: Shard) -> None:
    body = {"apiVersion": "core.kcp.io/v1alpha1", "kind": "LogicalCluster", "metadata": {"name": "other"}}

    made = await shard.root.post(LOGICAL_CLUSTERS, body)
    deleted = await shard.root.delete(f"{LOGICAL_CLUSTERS}/{SINGLETON}")
    emptied = await shard.root.delete(LOGICAL_CLUSTERS)

    assert {made.status, deleted.status, emptied.status} == {501}
    assert (await shard.root.get(f"{LOGICAL_CLUSTERS}/{SINGLETON}")).status == 200


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"spec": {"cluster": "other"}}, "cluster is immutable"),
        ({"spec": {"cluster": None}}, "cluster cannot be unset"),
        ({"spec": {"URL": None}}, "URL cannot be unset"),
        ({"spec": {"type": {"name": "team"}}}, "name is immutable"),
        ({"spec": {"type": {"path": None}}}, "path is immutable"),
    ],
)
async def test_where_a_workspace_leads_cannot_be_changed(shard: Shard, patch: dict[str, Any], message: str) -> None:
    await shard.server.create_workspace("root:example")

    refused = await shard.root.patch(f"{WORKSPACES}/example", patch)

    assert refused.status == 422
    assert f"Invalid value: {message}" in refused.message


async def test_labels_of_a_workspace_can_be_changed(shard: Shard) -> None:
    await shard.server.create_workspace("root:example")

    changed = await shard.root.patch(f"{WORKSPACES}/example", {"metadata": {"labels": {"a": "b"}}})

    assert changed.status == 200


async def test_clusters_do_not_see_each_others_objects(shard: Shard) -> None:
    await shard.server.create_workspace("root:example")
    one, other = shard.root, shard.inside("root:example")

    await one.post(SLICES, slice_of())
    made_beside = await other.post(SLICES, slice_of())
    await one.post(NAMESPACES, {"metadata": {"name": "mine"}, "apiVersion": "v1", "kind": "Namespace"})
    await one.delete(f"{SLICES}/things")

    assert made_beside.status == 201
    assert (await other.get(f"{SLICES}/things")).status == 200
    assert (await other.get(f"{NAMESPACES}/mine")).status == 404


async def test_clusters_do_not_see_each_others_definitions(shard: Shard) -> None:
    await shard.server.create_workspace("root:example")

    await shard.root.post(CRDS, crd())
    await shard.server.wait_at_rest()

    assert (await shard.root.get("/apis/example.com/v1/widgets")).status == 200
    assert (await shard.inside("root:example").get("/apis/example.com/v1/widgets")).status == 404
    assert (await shard.inside("root:example").get(CRDS)).body["items"] == []
    assert (await shard.inside("*").get("/apis/example.com/v1/widgets")).status == 200


async def test_two_shards_may_have_the_same_path() -> None:
    async with running(MemoryStorage()) as one, running(MemoryStorage()) as other:
        assert await one.server.create_workspace("root:example") != await other.server.create_workspace("root:example")
