"""kcp's kinds: their definitions, columns and rules."""

import json
from importlib.resources import files
from typing import Any

import pytest

from kcpctl.apiserver.schema.rules import schema_errors
from tests.kcpctl.apiserver.asking import Client
from tests.kcpctl.apiserver.kcp.conftest import EXPORTS, LOGICAL_CLUSTERS, SHARDS, SLICES, Shard, export, shard_object
from tests.kcpctl.apiserver.kcp.conftest import slice_of as a_slice

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTITIONS = "/apis/topology.kcp.io/v1alpha1/partitions"


@pytest.fixture
def root(shard: Shard) -> Client:
    return shard.root


def test_every_schema_is_one_that_a_definition_may_have() -> None:
    specs = json.loads(files("kcpctl.apiserver.kcp").joinpath("kinds.json").read_text(encoding="utf-8"))

    wrong = {
        spec["names"]["plural"]: schema_errors(version["schema"]["openAPIV3Schema"], "schema")
        for spec in specs
        for version in spec["versions"]
    }

    assert set(wrong) == {
        "apiexports",
        "apiexportendpointslices",
        "logicalclusters",
        "shards",
        "workspaces",
        "partitions",
    }
    assert not any(wrong.values()), wrong


async def table(client: Client, path: str) -> tuple[list[str], list[list[Any]]]:
    found = (await client.get(path, accept=TABLE)).body
    return [column["name"] for column in found["columnDefinitions"]], [row["cells"] for row in found["rows"]]


async def test_a_slice_is_listed_with_its_export_the_number_of_urls_and_whether_it_is_ready(
    root: Client,
) -> None:
    await root.post(SLICES, a_slice())
    status = {
        "endpoints": [{"url": "https://a"}, {"url": "https://b"}],
        "conditions": [{"type": "EndpointURLsReady", "status": "True", "lastTransitionTime": "2026-12-01T00:00:00Z"}],
    }
    await root.patch(f"{SLICES}/things/status", {"status": status})

    columns, rows = await table(root, SLICES)

    assert columns == ["Name", "Export", "Partition", "Endpoints", "Ready", "Age"]
    assert rows[0][:5] == ["things", "things", None, 2, "True"]


async def test_a_new_slice_is_listed_with_no_endpoints(root: Client) -> None:
    await root.post(SLICES, a_slice())

    _, rows = await table(root, SLICES)

    assert rows[0][:5] == ["things", "things", None, 0, None]


async def test_a_shard_is_listed_with_region_and_urls(root: Client) -> None:
    await root.post(SHARDS, shard_object(baseURL="https://a:1", externalURL="https://x:1"))

    columns, rows = await table(root, SHARDS)

    assert columns == ["Name", "Region", "URL", "External URL", "Age"]
    assert rows[0][:4] == ["amber", "eu", "https://a:1", "https://x:1"]


async def test_across_clusters_a_table_says_which_cluster(shard: Shard) -> None:
    await shard.root.post(SLICES, a_slice())

    columns, rows = await table(shard.inside("*"), SLICES)

    assert rows[0][columns.index("Cluster")] == "root"


@pytest.mark.parametrize(
    "change", [{"spec": {"export": {"name": "other"}}}, {"spec": None}], ids=["another one", "taken away"]
)
async def test_the_export_of_a_slice_cannot_be_changed(root: Client, change: dict[str, Any]) -> None:
    await root.post(SLICES, a_slice())

    refused = await root.patch(f"{SLICES}/things", change)

    assert refused.status == 422
    assert refused.message == (
        'APIExportEndpointSlice.apis.kcp.io "things" is invalid: '
        "spec.export: Invalid value: APIExport reference must not be changed"
    )


async def test_the_partition_of_a_slice_can_be_changed(root: Client) -> None:
    await root.post(SLICES, a_slice())

    changed = await root.patch(f"{SLICES}/things", {"spec": {"partition": "eu"}})

    assert changed.status == 200
    assert changed.body["metadata"]["generation"] == 2


@pytest.mark.parametrize("spec", [{"export": {"name": ""}}, None], ids=["an empty name", "no spec"])
async def test_a_slice_without_the_name_of_its_export_is_refused(root: Client, spec: Any) -> None:
    whole = a_slice({"name": ""}, "empty")
    refused = await root.post(SLICES, {name: value for name, value in (whole | {"spec": spec}).items() if value})

    assert refused.status == 403
    assert refused.message == (
        'apiexportendpointslices.apis.kcp.io "empty" is forbidden: [spec.export.name: Required value]'
    )


async def test_the_path_of_an_export_must_look_like_one(root: Client) -> None:
    refused = await root.post(SLICES, a_slice({"name": "things", "path": "Root:X"}))

    assert refused.status == 422
    assert 'spec.export.path: Invalid value: "Root:X"' in refused.message


async def test_a_slice_has_no_status_when_it_is_created(root: Client) -> None:
    made = await root.post(SLICES, a_slice(status={"endpoints": [{"url": "https://a"}]}))

    assert "status" not in made.body
    assert made.body["metadata"]["generation"] == 1
    assert made.body["metadata"]["annotations"] == {"kcp.io/cluster": "root"}


@pytest.mark.parametrize("spec", [{}, {"baseURL": ""}, {"externalURL": "https://x"}])
async def test_a_shard_needs_a_base_url(root: Client, spec: dict[str, Any]) -> None:
    refused = await root.post(SHARDS, shard_object(**spec))

    assert refused.status == 422
    assert "spec.baseURL" in refused.message


async def test_the_other_urls_of_a_shard_are_its_base_url_unless_it_names_them(root: Client) -> None:
    made = await root.post(SHARDS, shard_object(baseURL="https://a", externalURL="https://x"))
    assert made.body["spec"] == {
        "baseURL": "https://a",
        "externalURL": "https://x",
        "virtualWorkspaceURL": "https://a",
    }

    changed = await root.patch(f"{SHARDS}/amber", {"spec": {"baseURL": "https://b", "externalURL": None}})

    assert changed.body["spec"] == {
        "baseURL": "https://b",
        "externalURL": "https://b",
        "virtualWorkspaceURL": "https://a",
    }


async def test_a_partition_needs_a_spec_and_takes_any_selector(root: Client) -> None:
    partition = {"apiVersion": "topology.kcp.io/v1alpha1", "kind": "Partition", "metadata": {"name": "p"}}
    bad = {"matchExpressions": [{"key": "no key!", "operator": "Odd"}]}

    refused = await root.post(PARTITIONS, partition)
    made = await root.post(PARTITIONS, partition | {"spec": {"selector": bad}})

    assert refused.message == 'Partition.topology.kcp.io "p" is invalid: spec: Required value'
    assert made.status == 201


async def test_an_export_carries_the_path_of_its_cluster(shard: Shard) -> None:
    await shard.server.create_workspace("root:example")

    in_root = await shard.root.post(EXPORTS, export())
    below = await shard.inside("root:example").post(EXPORTS, export())

    assert in_root.body["metadata"]["annotations"]["kcp.io/path"] == "root"
    assert below.body["metadata"]["annotations"]["kcp.io/path"] == "root:example"


async def test_an_export_cannot_claim_another_path(root: Client) -> None:
    refused = await root.post(EXPORTS, export(metadata={"annotations": {"kcp.io/path": "root:other"}}))

    assert refused.status == 403
    assert refused.message == (
        'apiexports.apis.kcp.io "things" is forbidden: annotation "kcp.io/path" must match canonical path "root"'
    )


async def test_the_path_of_an_export_cannot_be_taken_away(root: Client) -> None:
    await root.post(EXPORTS, export())

    changed = await root.patch(f"{EXPORTS}/things", {"metadata": {"annotations": {"kcp.io/path": None}}})

    assert changed.body["metadata"]["annotations"]["kcp.io/path"] == "root"


async def test_other_objects_carry_a_path_only_if_they_come_with_one(root: Client) -> None:
    without = await root.post(SLICES, a_slice())
    true = await root.post(SLICES, a_slice(name="b", metadata={"name": "b", "annotations": {"kcp.io/path": "root"}}))
    false = await root.post(SLICES, a_slice(name="c", metadata={"name": "c", "annotations": {"kcp.io/path": "x"}}))

    assert "kcp.io/path" not in without.body["metadata"]["annotations"]
    assert true.body["metadata"]["annotations"]["kcp.io/path"] == "root"
    assert false.status == 403


async def test_the_identity_of_an_export_stays_once_it_is_known(root: Client) -> None:
    await root.post(EXPORTS, export())
    first = await root.patch(f"{EXPORTS}/things/status", {"status": {"identityHash": "abc"}})

    refused = await root.patch(f"{EXPORTS}/things/status", {"status": {"identityHash": "def"}})

    assert first.status == 200
    assert refused.causes == {("status.identityHash", "Invalid value: identityHash must not be changed")}


@pytest.mark.parametrize(
    ("claim", "causes"),
    [
        ({"all": True}, set()),
        ({"resourceSelector": [{"name": "a"}]}, set()),
        (
            {},
            {
                (
                    "spec.permissionClaims[0]",
                    'Invalid value: either "all" or "resourceSelector" must be set',
                )
            },
        ),
        (
            {"resourceSelector": [{}]},
            {("spec.permissionClaims[0].resourceSelector[0]", "Invalid value: at least one field must be set")},
        ),
    ],
)
async def test_a_permission_claim_says_what_it_is_about(
    root: Client, claim: dict[str, Any], causes: set[tuple[str, str]]
) -> None:
    claims = [{"resource": "configmaps"} | claim]

    answer = await root.post(EXPORTS, export(spec={"permissionClaims": claims}))

    assert (answer.causes if answer.status != 201 else set()) == causes


@pytest.mark.parametrize("path", [EXPORTS, SLICES, LOGICAL_CLUSTERS, SHARDS, PARTITIONS])
async def test_kinds_belong_to_the_category_of_kcp(root: Client, path: str) -> None:
    group, _, plural = path.rpartition("/")

    found = (await root.get(group)).body["resources"]

    assert next(one for one in found if one["name"] == plural)["categories"] == ["kcp"]


async def test_a_definition_cannot_take_the_names_of_a_kind_of_kcp(shard: Shard) -> None:
    names = {"plural": "shards", "kind": "Shard"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "shards.core.kcp.io",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
        },
        "spec": {"group": "core.kcp.io", "scope": "Cluster", "names": names, "versions": [version]},
    }
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

    made = await shard.root.post(crds, definition)
    await shard.server.wait_at_rest()
    found = (await shard.root.get(f"{crds}/shards.core.kcp.io")).body

    assert made.status == 201
    assert {c["type"]: c["status"] for c in found["status"]["conditions"]}["NamesAccepted"] == "False"
