"""The cache server's own rules, without its traps."""

from typing import Any

import pytest

from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.assembly import CacheServer
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.storage.memory import MemoryStorage
from tests.kcpctl.apiserver.asking import Client
from tests.kcpctl.apiserver.kcp.conftest import SLICES, Shard, slice_of

ALL = "/services/cache/shards/*/clusters/*"
ZINC = "/services/cache/shards/zinc/clusters/zz1"
ANNOTATION = "kcp.io/shard"
UID = "11111111-2222-3333-4444-555555555555"


def copied(name: str = "things", **metadata: Any) -> dict[str, Any]:
    """Return a slice as a replicator sends it."""
    said = {"name": name, "uid": UID, "generation": 7, "creationTimestamp": "2020-01-01T00:00:00Z"} | metadata
    return slice_of(name=name, metadata={"annotations": {ANNOTATION: "zinc"}} | said, status={"endpoints": []})


async def test_a_copy_keeps_the_identity_that_it_had_elsewhere(cache: Client) -> None:
    made = await cache.post(ZINC + SLICES, copied())

    assert made.status == 201
    metadata = made.body["metadata"]
    assert (metadata["uid"], metadata["generation"]) == (UID, 7)
    assert metadata["creationTimestamp"] == "2020-01-01T00:00:00Z"
    assert metadata["annotations"] == {"kcp.io/cluster": "zz1", ANNOTATION: "zinc"}


async def test_the_url_decides_about_the_shard_not_the_annotation(cache: Client) -> None:
    made = await cache.post(ZINC + SLICES, copied(annotations={ANNOTATION: "amber", "a": "b"}))

    assert made.body["metadata"]["annotations"] == {"kcp.io/cluster": "zz1", ANNOTATION: "zinc", "a": "b"}


async def test_what_does_not_come_from_a_shard_gets_an_identity_here(cache: Client) -> None:
    made = await cache.post(ZINC + SLICES, copied(annotations={}))

    assert made.body["metadata"]["uid"] != UID
    assert made.body["metadata"]["generation"] == 1


async def test_spec_and_status_may_be_anything_and_are_written_together(cache: Client) -> None:
    await cache.post(ZINC + SLICES, copied() | {"spec": "text", "status": [1, None], "extra": {"any": "thing"}})

    changed = await cache.patch(f"{ZINC}{SLICES}/things", {"spec": {"a": 1}, "status": {"b": 2}})

    assert {name: changed.body[name] for name in ("spec", "status", "extra")} == {
        "spec": {"a": 1},
        "status": {"b": 2},
        "extra": {"any": "thing"},
    }
    assert changed.body["metadata"]["generation"] == 7


@pytest.mark.parametrize(("generation", "code"), [(6, 422), (7, 200), (9, 200), (None, 200)])
async def test_a_generation_never_goes_down(cache: Client, generation: int | None, code: int) -> None:
    made = (await cache.post(ZINC + SLICES, copied())).body

    changed = await cache.put(
        f"{ZINC}{SLICES}/things", made | {"metadata": made["metadata"] | {"generation": generation}}
    )

    assert changed.status == code
    if code == 422:
        assert changed.causes == {("metadata.generation", "Invalid value: 6: must not be decremented")}
    else:
        assert changed.body["metadata"]["generation"] == (generation or 7)


async def test_there_are_no_subresources(cache: Client) -> None:
    await cache.post(ZINC + SLICES, copied())

    assert (await cache.get(f"{ZINC}{SLICES}/things/status")).status == 404
    assert (await cache.patch(f"{ZINC}{SLICES}/things/status", {})).status == 404


async def test_finalizers_hold_nothing(cache: Client) -> None:
    await cache.post(ZINC + SLICES, copied(finalizers=["a/b"]))

    gone = await cache.delete(f"{ZINC}{SLICES}/things")

    assert gone.body["status"] == "Success"
    assert (await cache.get(f"{ZINC}{SLICES}/things")).status == 404


@pytest.mark.parametrize(
    ("metadata", "field"),
    [({"name": "Bad_Name"}, "metadata.name"), ({"name": "a", "labels": {"bad key!": "x"}}, "metadata.labels")],
)
async def test_names_and_labels_are_checked(cache: Client, metadata: dict[str, Any], field: str) -> None:
    refused = await cache.post(ZINC + SLICES, slice_of(metadata=metadata))

    assert refused.status == 422
    assert field in {cause[0] for cause in refused.causes}


async def test_the_same_cluster_and_name_may_be_on_two_shards(cache: Client) -> None:
    for shard in ("zinc", "tin"):
        made = await cache.post(f"/services/cache/shards/{shard}/clusters/zz1{SLICES}", copied())
        assert made.status == 201

    found = (await cache.get(ALL + SLICES)).body["items"]
    await cache.delete(f"{ZINC}{SLICES}/things")
    left = (await cache.get(ALL + SLICES)).body["items"]

    assert [item["metadata"]["annotations"][ANNOTATION] for item in found] == ["tin", "zinc"]
    assert [item["metadata"]["annotations"][ANNOTATION] for item in left] == ["tin"]


async def fill(cache: Client) -> None:
    for shard in ("tin", "zinc"):
        for cluster in ("aa1", "zz1"):
            for name in ("one", "two"):
                path = f"/services/cache/shards/{shard}/clusters/{cluster}{SLICES}"
                assert (await cache.post(path, copied(name))).status == 201


def places(body: dict[str, Any]) -> list[str]:
    """Return shard, cluster and name of each item."""
    found = []
    for item in body["items"]:
        notes = item["metadata"]["annotations"]
        found.append(f"{notes[ANNOTATION]}/{notes['kcp.io/cluster']}/{item['metadata']['name']}")
    return found


@pytest.mark.parametrize(
    ("shard", "cluster", "selector", "expected"),
    [
        ("*", "*", "two", "tin/aa1/two tin/zz1/two zinc/aa1/two zinc/zz1/two"),
        ("zinc", "*", "", "zinc/aa1/one zinc/aa1/two zinc/zz1/one zinc/zz1/two"),
        ("*", "zz1", "", "tin/zz1/one tin/zz1/two zinc/zz1/one zinc/zz1/two"),
        ("*", "zz1", "one", "tin/zz1/one zinc/zz1/one"),
        ("zinc", "zz1", "one", "zinc/zz1/one"),
        ("*", "nope", "", ""),
    ],
)
async def test_wildcards_select_by_all_that_the_path_and_the_selector_say(
    cache: Client, shard: str, cluster: str, selector: str, expected: str
) -> None:
    await fill(cache)
    query = f"?fieldSelector=metadata.name={selector}" if selector else ""

    found = await cache.get(f"/services/cache/shards/{shard}/clusters/{cluster}{SLICES}{query}")

    assert places(found.body) == expected.split()


@pytest.mark.parametrize("where", ["*/clusters/*", "zinc/clusters/*", "*/clusters/zz1"])
@pytest.mark.parametrize(
    ("verb", "name", "code"),
    [("POST", "", 405), ("GET", "/one", 404), ("PUT", "/one", 405), ("PATCH", "/one", 405), ("DELETE", "/one", 405)],
)
async def test_one_object_is_neither_read_nor_written_through_a_wildcard(
    cache: Client, where: str, verb: str, name: str, code: int
) -> None:
    await fill(cache)
    before = (await cache.get(ALL + SLICES)).body

    refused = await cache.ask(verb, f"/services/cache/shards/{where}{SLICES}{name}", copied("new"))

    assert refused.status == code
    assert (await cache.get(ALL + SLICES)).body == before


async def future(cache: Client) -> int:
    return int((await cache.get(ALL + SLICES)).body["metadata"]["resourceVersion"]) + 1_000_000


async def test_a_watch_from_the_future_is_told_that_its_revision_is_no_good(cache: Client) -> None:
    refused = await cache.get(f"{ALL}{SLICES}?watch=1&resourceVersion={await future(cache)}")

    assert (refused.body.get("object") or refused.body)["code"] == 410


async def test_a_list_from_the_future_is_refused(cache: Client) -> None:
    refused = await cache.get(f"{ALL}{SLICES}?resourceVersion={await future(cache)}")

    assert refused.status == 504
    assert "Too large resource version" in refused.message


@pytest.mark.parametrize("path", ["/apis/tenancy.kcp.io/v1alpha1/workspaces", "/api/v1/namespaces", "/apis/x/v1/ys"])
async def test_what_is_not_replicated_is_not_there(cache: Client, path: str) -> None:
    assert (await cache.get(ALL + path)).status == 404


async def test_beside_a_shard_both_are_reached_and_share_nothing(shard: Shard) -> None:
    mounts = {**shard.server.mounts, **CacheServer(MemoryStorage()).embedded}
    both = Client(ApiServer(mounts, Authentication()))

    await both.at("/clusters/root").post(SLICES, slice_of(name="here"))
    await both.post(ZINC + SLICES, copied("there"))

    in_shard = (await both.at("/clusters/*").get(SLICES)).body["items"]
    in_cache = (await both.get(ALL + SLICES)).body["items"]
    links = (await both.get(f"{ZINC}/openapi/v3")).body["paths"]
    assert [item["metadata"]["name"] for item in in_shard] == ["here"]
    assert [item["metadata"]["name"] for item in in_cache] == ["there"]
    assert all(link["serverRelativeURL"].startswith(f"{ZINC}/openapi/v3/") for link in links.values())
