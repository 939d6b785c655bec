"""Workspaces are made by a command, and each is a context."""

import pytest

from tests.e2e.processes import Running, kcpctl


def create(shard: Running, path: str) -> tuple[int, str, str]:
    return kcpctl("workspace", "create", path, "--data-dir", shard.data_dir)


def test_a_workspace_is_made_with_a_context_and_kept_apart_from_others(shard: Running) -> None:
    code, out, _ = create(shard, "root:org")
    inner = create(shard, "root:org:team")

    assert (code, inner[0]) == (0, 0)
    assert f"kubectl --kubeconfig {shard.data_dir / 'admin.kubeconfig'} config use-context root:org" in out
    team = shard.kubectl("root:org:team")
    team("create", "configmap", "ours")
    assert "NotFound" in shard.kubectl("root:org").refused("get", "configmap", "ours")
    assert team.one("configmap", "ours")["metadata"]["annotations"]["kcp.io/cluster"] in inner[1]
    assert "root:org:team" in shard.kubectl("root:org").one("workspaces", "team")["spec"]["URL"]
    assert shard.kubectl("root:example")("get", "namespaces", "default", "-o", "name") == "namespace/default\n"


def test_what_kubectl_was_told_to_use_stays_when_a_workspace_comes(shard: Running) -> None:
    create(shard, "root:mine")
    kubectl = shard.kubectl("root:mine")
    kubectl("config", "use-context", "root:mine")
    kubectl("config", "set-context", "--current", "--namespace", "kube-system")

    create(shard, "root:mine:inner")

    assert kubectl("config", "current-context") == "root:mine\n"
    view = "jsonpath={.contexts[?(@.name=='root:mine')].context.namespace}"
    assert kubectl("config", "view", "-o", view) == "kube-system"
    kubectl("config", "use-context", "root:example")


def test_a_slice_may_reference_an_export_of_another_workspace_by_path(shard: Running) -> None:
    create(shard, "root:provider")
    shard.kubectl("root:provider")("create", "-f", "-", stdin=EXPORT)
    shard.kubectl("root:example")("create", "-f", "-", stdin=SLICE)
    shard.kubectl("root:example")(
        "wait", "apiexportendpointslices/far", "--for=condition=EndpointURLsReady", "--timeout=10s"
    )

    cluster = shard.kubectl("root:provider").one("apiexports", "far")["metadata"]["annotations"]["kcp.io/cluster"]
    (endpoint,) = shard.kubectl("root:example").one("apiexportendpointslices", "far")["status"]["endpoints"]
    assert endpoint["url"].endswith(f"/services/apiexport/{cluster}/far")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("root:nowhere:team", 'workspaces.tenancy.kcp.io "root:nowhere" not found'),
        ("root:example", "expected a path that is not taken, found a workspace root:example already"),
        ("root", "expected a workspace path such as root:org:team"),
        ("root:", "expected a workspace path such as root:org:team"),
        ("root:Org", "expected a workspace path such as root:org:team"),
        ("*", "expected a workspace path such as root:org:team"),
    ],
)
def test_a_path_that_cannot_be_had_is_one_line(shard: Running, path: str, told: str) -> None:
    code, out, err = create(shard, path)

    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) == 1


def test_without_a_process_one_line_says_how_to_start_one(shard: Running) -> None:
    done = kcpctl("workspace", "create", "root:org", "--data-dir", shard.data_dir / "elsewhere")

    assert done.code == 2
    assert "found no such directory" in done.err
    assert "python -m kcpctl run" in done.err


EXPORT = """
apiVersion: apis.kcp.io/v1alpha1
kind: APIExport
metadata: {name: far}
spec: {}
"""

SLICE = """
apiVersion: apis.kcp.io/v1alpha1
kind: APIExportEndpointSlice
metadata: {name: far}
spec: {export: {name: far, path: "root:provider"}}
"""
