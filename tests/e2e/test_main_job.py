"""The main job, as a user sees it: manifests go in, URLs come out, and everything that shows it does."""

from typing import Any

import pytest

from tests.e2e.processes import Kubectl, Running, eventually, get

SLICES = "apiexportendpointslices"


@pytest.fixture
def applied(kubectl: Kubectl) -> Kubectl:
    kubectl("apply", "-f", "examples/endpointslice/")
    kubectl("wait", f"{SLICES}/widgets", "--for=condition=EndpointURLsReady", "--timeout=10s")
    return kubectl


def endpoints(kubectl: Kubectl, name: str = "widgets") -> list[str]:
    status: Any = kubectl.one(SLICES, name).get("status", {})
    return [endpoint["url"] for endpoint in status.get("endpoints") or ()]


def test_the_start_says_where_things_are_and_what_to_try(shard: Running) -> None:
    first, *others = shard.out

    assert first == f"export KUBECONFIG={shard.data_dir / 'admin.kubeconfig'}\n"
    assert f"https://127.0.0.1:{shard.port}, workspaces root and root:example" in others[0]
    assert "kubectl apply -f examples/endpointslice/" in others[-1]
    for file in ("admin.kubeconfig", "cache.kubeconfig"):
        assert (shard.data_dir / file).stat().st_mode & 0o777 == 0o600


def test_an_applied_slice_lists_the_url_of_the_shard_with_its_conditions_true(shard: Running, applied: Kubectl) -> None:
    found = applied.one(SLICES, "widgets")

    cluster = found["metadata"]["annotations"]["kcp.io/cluster"]
    url = f"https://127.0.0.1:{shard.port}/services/apiexport/{cluster}/widgets"
    assert [endpoint["url"] for endpoint in found["status"]["endpoints"]] == [url]
    conditions = {one["type"]: one["status"] for one in found["status"]["conditions"]}
    assert conditions == {"APIExportValid": "True", "EndpointURLsReady": "True", "PartitionValid": "True"}
    assert len(cluster) == 16  # a name, not a path


def test_the_columns_show_export_partition_endpoints_ready_and_age(applied: Kubectl) -> None:
    header, row = applied("get", SLICES).splitlines()

    assert header.split() == ["NAME", "EXPORT", "PARTITION", "ENDPOINTS", "READY", "AGE"]
    assert row.split()[:4] == ["widgets", "widgets", "1", "True"]


def test_the_export_shows_the_deprecated_urls(applied: Kubectl) -> None:
    applied("wait", "apiexports/widgets", "--for=condition=VirtualWorkspaceURLsReady", "--timeout=10s")

    urls = [one["url"] for one in applied.one("apiexports", "widgets")["status"]["virtualWorkspaces"]]

    assert urls == endpoints(applied)


def test_the_published_url_says_that_virtual_workspaces_are_not_built(shard: Running, applied: Kubectl) -> None:
    path = endpoints(applied)[0].partition(str(shard.port))[2]

    done = applied.run("get", "--raw", path, "--server", f"https://127.0.0.1:{shard.port}")

    assert done.code != 0
    assert "virtual workspaces are not built yet" in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_a_partition_narrows_a_slice_and_a_shard_label_brings_it_back(shard: Running, applied: Kubectl) -> None:
    applied("apply", "-f", "-", stdin=SLICE % ("narrow", "  partition: europe\n"))
    condition = "--for=jsonpath={.status.conditions[?(@.type=='PartitionValid')].status}=True"
    applied("wait", f"{SLICES}/narrow", condition, "--timeout=10s")
    assert endpoints(applied, "narrow") == []

    shard.kubectl("root")("label", "shards", "root", "region=eu")
    eventually(lambda: endpoints(applied, "narrow") == endpoints(applied))

    shard.kubectl("root")("label", "shards", "root", "region-")
    eventually(lambda: endpoints(applied, "narrow") == [])


def test_a_slice_of_an_export_that_comes_later_gets_its_url_when_it_comes(applied: Kubectl) -> None:
    applied("apply", "-f", "-", stdin=SLICE.replace("name: widgets", "name: late") % ("late", ""))
    applied("wait", f"{SLICES}/late", "--for=condition=APIExportValid=false", "--timeout=10s")

    applied("create", "-f", "-", stdin=EXPORT % "late")
    applied("wait", f"{SLICES}/late", "--for=condition=EndpointURLsReady", "--timeout=10s")

    assert len(endpoints(applied, "late")) == 1


def test_a_deleted_export_empties_its_slice(applied: Kubectl) -> None:
    applied("create", "-f", "-", stdin=EXPORT % "going")
    applied("apply", "-f", "-", stdin=SLICE.replace("name: widgets", "name: going") % ("going", ""))
    applied("wait", f"{SLICES}/going", "--for=condition=EndpointURLsReady", "--timeout=10s")

    applied("delete", "apiexports", "going")

    applied("wait", f"{SLICES}/going", "--for=condition=APIExportValid=false", "--timeout=10s")
    assert endpoints(applied, "going") == []


def test_the_reference_of_a_slice_cannot_be_changed(applied: Kubectl) -> None:
    said = applied.refused("patch", SLICES, "widgets", "--type=merge", "-p", '{"spec":{"export":{"name":"other"}}}')

    assert "APIExport reference must not be changed" in said


def test_status_lists_shards_slices_with_sources_and_informers(shard: Running, applied: Kubectl) -> None:
    def settled() -> Any:
        report = shard.status()
        return report if [len(one["sources"]) for one in report["shards"]] == [2] else None

    report = eventually(settled, what="the shard known from both sources")

    assert report["process"]["shard"] == "root"
    assert report["cache"] == {"synced": True, "reachable": True, "staleSince": None}
    assert report["shards"][0]["labels"] == {"name": "root"}
    assert {source["source"] for source in report["shards"][0]["sources"]} == {"local", "cache"}
    (widgets,) = [one for one in report["slices"] if one["name"] == "widgets"]
    assert widgets["complete"] is True
    assert [(one["url"], one["source"]) for one in widgets["endpoints"]] == [(endpoints(applied)[0], "local")]
    assert all(one["synced"] and one["live"] and one["lastHeard"] for one in report["informers"])
    assert {one["name"] for one in report["controllers"] if one["started"]} >= {"apiexportendpointslice"}


def test_the_wildcard_context_shows_all_clusters_with_a_column_that_tells_them_apart(
    shard: Running, applied: Kubectl
) -> None:
    everywhere = shard.kubectl("all")

    header, *rows = everywhere("get", "logicalclusters").splitlines()

    assert "CLUSTER" in header
    assert len(rows) == 2
    with everywhere.watching(SLICES) as lines:
        eventually(lambda: any("widgets" in line for line in lines))
    assert applied.run("get", SLICES, "--server", f"https://127.0.0.1:{shard.port}/clusters/nope-nope").code != 0


def test_health_checks_are_named_by_part(shard: Running) -> None:
    code, body = get(shard.port, "/readyz?verbose")

    assert code == 200
    for check in ("ping", "storage", "kinds", "informers", "shutdown"):
        assert f"[+]{check} ok" in body


SLICE = """
apiVersion: apis.kcp.io/v1alpha1
kind: APIExportEndpointSlice
metadata:
  name: %s
spec:
  export:
    name: widgets
%s"""

EXPORT = """
apiVersion: apis.kcp.io/v1alpha1
kind: APIExport
metadata:
  name: %s
spec: {}
"""
