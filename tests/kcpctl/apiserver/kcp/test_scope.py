"""What the prefixes of paths mean, and which are refused."""

import pytest

from tests.kcpctl.apiserver.asking import Client
from tests.kcpctl.apiserver.kcp.conftest import SHARDS, SLICES, Shard, shard_object, slice_of


@pytest.mark.parametrize("name", ["Root", "-a", "root:", "a" * 70, "root%20x", "a_b", "root%2Fapis"])
async def test_a_name_that_no_cluster_can_have_is_refused(shard: Shard, name: str) -> None:
    refused = await shard.inside(name).get(SLICES)

    shown = name.replace("%20", " ").replace("%2F", "/")
    assert refused.status == 400
    assert refused.message == f'invalid cluster: "{shown}" does not match the regex'


@pytest.mark.parametrize("path", ["root:nowhere", "root:example:below", "nowhere:x"])
async def test_a_path_that_leads_nowhere_is_not_found(shard: Shard, path: str) -> None:
    await shard.server.create_workspace("root:example")

    refused = await shard.inside(path).get(SLICES)

    assert refused.status == 404
    assert refused.message == f'workspaces.tenancy.kcp.io "{path}" not found'


@pytest.mark.parametrize("verb", ["GET", "POST"])
@pytest.mark.parametrize("name", ["nope", "system:admin", "1234567890abcdef"])
async def test_a_cluster_that_is_not_here_is_refused_even_to_masters(shard: Shard, verb: str, name: str) -> None:
    refused = await shard.inside(name).ask(verb, SLICES, slice_of() if verb == "POST" else None)

    assert refused.status == 403
    assert refused.body["reason"] == "Forbidden"
    assert f'"{name}" is not on this shard' in refused.message


@pytest.mark.parametrize("path", [SLICES, "/api", "/apis", "/openapi/v3", "/", "/api/v1/namespaces"])
async def test_without_a_cluster_nothing_in_one_can_be_reached(shard: Shard, path: str) -> None:
    refused = await shard.get(path)

    assert refused.status == 403
    assert refused.message.strip() == f"a logical cluster is required: /clusters/<name or path>{path}"


@pytest.mark.parametrize("path", ["/%61pi/v1/namespaces", "/%2fapi/v1/namespaces", f"/%2F{SLICES}", "/%61pis"])
async def test_an_encoded_path_is_in_a_cluster_all_the_same(shard: Shard, cache: Client, path: str) -> None:
    assert (await shard.get(path)).status == 403
    assert (await cache.get(path)).status == 400


@pytest.mark.parametrize("path", ["/clusters", "/clusters/", f"/clusters/{SLICES}"])
async def test_a_cluster_without_a_name_is_refused(shard: Shard, path: str) -> None:
    refused = await shard.get(path)

    assert refused.status == 403
    assert "a logical cluster is required: /clusters/<name or path>/" in refused.message


@pytest.mark.parametrize("path", ["/api", "/apis", "/apis/apis.kcp.io/v1alpha1", "/clusters/nope/api"])
async def test_refused_discovery_is_answered_in_words_that_kubectl_shows(shard: Shard, path: str) -> None:
    answer = await shard.open("GET", path)

    assert answer.status == 403
    assert dict(answer.headers)["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("path", ["/version", "/readyz", "/livez", "/healthz", "/clusters/root/version"])
async def test_what_is_about_the_server_needs_no_cluster(shard: Shard, path: str) -> None:
    assert (await shard.get(path)).status == 200


@pytest.mark.parametrize("path", ["/clusters/root", "/clusters/root/", "/clusters/root/apis", "/clusters/%2A/apis"])
async def test_each_cluster_has_a_root_and_discovery(shard: Shard, path: str) -> None:
    assert (await shard.get(path)).status == 200


async def test_links_keep_the_prefix_that_the_client_used(shard: Shard) -> None:
    await shard.server.create_workspace("root:example")

    found = (await shard.inside("root:example").get("/openapi/v3")).body["paths"]

    link = found["apis/apis.kcp.io/v1alpha1"]["serverRelativeURL"]
    assert link.startswith("/clusters/root:example/openapi/v3/apis/apis.kcp.io/v1alpha1?hash=")
    assert (await shard.get(link)).status == 200


async def test_across_clusters_objects_say_where_they_are(shard: Shard) -> None:
    cluster = await shard.server.create_workspace("root:example")
    await shard.root.post(SLICES, slice_of())
    await shard.inside("root:example").post(SLICES, slice_of())

    found = (await shard.inside("*").get(SLICES)).body["items"]
    one = (await shard.inside("*").get(f"{SLICES}?fieldSelector=metadata.name=things&limit=1")).body

    assert {item["metadata"]["annotations"]["kcp.io/cluster"] for item in found} == {"root", cluster}
    assert len(one["items"]) == 1
    assert one["metadata"]["continue"]


@pytest.mark.parametrize(
    ("verb", "name", "said"),
    [
        ("GET", "/x", "get"),
        ("POST", "", "create"),
        ("PUT", "/x", "update"),
        ("PATCH", "/x", "patch"),
        ("DELETE", "/x", "delete"),
        ("DELETE", "", "deletecollection"),
    ],
)
async def test_across_clusters_only_collections_are_read(shard: Shard, verb: str, name: str, said: str) -> None:
    refused = await shard.inside("*").ask(verb, SLICES + name, slice_of())

    assert refused.status == 405
    assert refused.message == (
        f'{said} is not supported on resources of kind "apiexportendpointslices.apis.kcp.io" in the `*` logical cluster'
    )


async def test_an_identity_behind_the_plural_is_accepted_whatever_it_is(shard: Shard) -> None:
    await shard.root.post(SHARDS, shard_object(baseURL="https://a"))

    with_identity = await shard.inside("*").get(f"{SHARDS}:{'0' * 64}")
    without = await shard.inside("*").get(SHARDS)

    assert with_identity.body == without.body
    assert len(without.body["items"]) == 1


SHARD_REQUIRED = "a shard name is required"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/services/cache", SHARD_REQUIRED),
        ("/services/cache/shards", SHARD_REQUIRED),
        ("/services/cache/shards/", "unable to parse shard: no `/` found in path "),
        ("/services/cache/shards/amber", "unable to parse shard: no `/` found in path amber"),
        (f"/services/cache/shards//clusters/*{SLICES}", SHARD_REQUIRED),
        (f"/services/cache/shards/Amber/clusters/*{SLICES}", 'invalid shard: "Amber" does not match the regex'),
        (f"/services/cache/shards/a_b/clusters/*{SLICES}", 'invalid shard: "a_b" does not match the regex'),
        (f"/services/cache/clusters/*{SLICES}", SHARD_REQUIRED),
        (f"/services/cache{SLICES}", SHARD_REQUIRED),
        (SLICES, SHARD_REQUIRED),
        (f"/services/cache/shards/amber{SLICES}", "a logical cluster is required: /shards/amber/clusters/<name>"),
        (
            f"/services/cache/shards/amber/clusters/{SLICES}",
            "a logical cluster is required: /shards/amber/clusters/<name>",
        ),
        ("/services/cache/shards/amber/", "a logical cluster is required: /shards/amber/clusters/<name>"),
        (f"/shards/amber/clusters/Root{SLICES}", 'invalid cluster: "Root" does not match the regex'),
        (
            f"/shards/amber/clusters/root:prov{SLICES}",
            'invalid cluster: "root:prov" is not a logical cluster name',
        ),
    ],
)
async def test_a_cache_server_says_what_is_wrong_with_a_path(cache: Client, path: str, message: str) -> None:
    refused = await cache.get(path)

    assert refused.status == 400
    assert refused.message == message


@pytest.mark.parametrize("prefix", ["/services/cache", ""])
@pytest.mark.parametrize("where", ["/shards/*/clusters/*", "/shards/nope/clusters/nope", "/shards/a/clusters/system:x"])
async def test_a_cache_server_knows_every_shard_and_cluster(cache: Client, prefix: str, where: str) -> None:
    found = await cache.get(prefix + where + SLICES)

    assert found.status == 200
    assert found.body["items"] == []


@pytest.mark.parametrize("path", ["/readyz", "/livez", "/healthz", "/version", "/services/cache/readyz"])
async def test_a_cache_servers_health_needs_no_shard(cache: Client, path: str) -> None:
    assert (await cache.get(path)).status == 200


async def test_a_cache_servers_links_keep_the_whole_prefix(cache: Client) -> None:
    prefix = "/services/cache/shards/*/clusters/*"

    link = (await cache.get(f"{prefix}/openapi/v3")).body["paths"]["apis/core.kcp.io/v1alpha1"]["serverRelativeURL"]

    assert link.startswith(f"{prefix}/openapi/v3/apis/core.kcp.io/v1alpha1?hash=")
    assert (await cache.get(link)).status == 200
