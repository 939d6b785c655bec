"""Servers that exist already are recognised by what they say of themselves and by what they serve."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from informers.api.errors import (
    ConfigurationError,
    ConnectionRefused,
    Forbidden,
    InformersError,
    NotFound,
    ServiceUnavailable,
    Unauthorized,
)
from informers.api.status import Status
from informers.client.addresses import Scope
from informers.client.config import ServerConfig
from informers.client.credentials import Anonymous
from informers.client.server import Server
from kcpctl.apiserver.exchange import Answer, Incoming
from kcpctl.apiserver.http.inprocess import InProcess
from kcpctl.foreign import Seen, kinds_for_force, meet, unreachable
from tests.golden import golden_dir

KCP_RESOURCES = {
    "apis.kcp.io": ("apibindings", "apiexports"),
    "core.kcp.io": ("logicalclusters", "logicalclusters/status"),
}
SLICE = "APIExportEndpointSlice"


class Documents:
    """An application that has a few documents by path, and answers everything else with what it is told to."""

    def __init__(self, documents: Mapping[str, Any], *, otherwise: int = 404) -> None:
        self._documents = documents
        self._otherwise = otherwise

    async def __call__(self, incoming: Incoming) -> Answer:
        found = self._documents.get(incoming.path)
        if found is None:
            return Answer(self._otherwise, (), b"404 page not found\n")
        return Answer(200, (("Content-Type", "application/json"),), json.dumps(found).encode())


def server(documents: Mapping[str, Any], scope: Scope = Scope.ALL, **other: Any) -> Server:
    return Server("local", InProcess(Documents(documents, **other)), scope=scope)


def describing(
    version: str, resources: Mapping[str, tuple[str, ...]] = {}, prefix: str = "/clusters/*"
) -> dict[str, Any]:
    """Return the documents of a server of that version which serves these resources."""
    lists = {
        f"{prefix}/apis/{group}/v1alpha1": {"resources": [{"name": name} for name in names]}
        for group, names in resources.items()
    }
    return {"/version": {"gitVersion": version}, **lists}


def schemas(**status: object) -> dict[str, Any]:
    kind = [{"group": "apis.kcp.io", "version": "v1alpha1", "kind": SLICE}]
    return {
        "components": {
            "schemas": {
                "a": {"x-kubernetes-group-version-kind": kind, "properties": {"status": {"properties": status}}}
            }
        }
    }


def nobody_waits(seconds: float, error: BaseException) -> None:
    raise AssertionError(error)


@pytest.mark.parametrize(
    ("version", "resources", "is_kcp"),
    [
        ("v1.33.3+kcp-v0.28.1", {}, True),
        ("v1.26.3+kcp-v0.11.0", KCP_RESOURCES, True),
        ("v0.0.0-master+$Format:%H$", KCP_RESOURCES, True),
        ("v1.36.2+kcpctl", {"core.kcp.io": ("logicalclusters", "shards")}, False),
        ("v1.36.2+kcpctl", KCP_RESOURCES, False),
        ("v1.36.2", {"core.kcp.io": ("logicalclusters", "shards")}, False),
        ("v1.36.2-gke.100", {}, False),
    ],
)
async def test_a_real_kcp_is_recognised_by_its_version_or_by_what_it_serves(
    version: str, resources: Mapping[str, tuple[str, ...]], is_kcp: bool
) -> None:
    seen = await meet(server(describing(version, resources)), nobody_waits)

    assert (seen.version, seen.is_kcp) == (version, is_kcp)


async def test_the_recorded_kcp_is_recognised() -> None:
    lines = (golden_dir() / "kcp" / "a-discovery.jsonl").read_text().splitlines()
    recorded = {
        one["req"]["path"]: one["resp"]["body"]
        for one in map(json.loads, lines)
        if one["kind"] == "call" and one["server"] in ("proxy", "root") and one["resp"]["status"] == 200
    }
    at_root = {path.removeprefix("/clusters/root"): body for path, body in recorded.items()}

    seen = await meet(server({**at_root, **recorded}, Scope.ONE), nobody_waits)

    assert seen == Seen("v0.0.0-master+$Format:%H$", True, seen.serves)
    assert "apiexportendpointslices.apis.kcp.io" in seen.serves


async def test_the_version_is_found_below_a_cluster_where_that_is_the_only_place() -> None:
    seen = await meet(server({"/clusters/*/version": {"gitVersion": "v1.33.3+kcp-v0.28.1"}}), nobody_waits)

    assert seen.is_kcp


async def test_a_server_that_refuses_us_is_not_asked_again() -> None:
    class Refusing:
        async def __call__(self, incoming: Incoming) -> Answer:
            status = json.dumps({"kind": "Status", "code": 403, "reason": "Forbidden", "message": "no"})
            return Answer(403, (("Content-Type", "application/json"),), status.encode())

    with pytest.raises(Forbidden):
        await meet(Server("local", InProcess(Refusing())), nobody_waits)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ConnectionRefused("nobody listens"), "expected an API server at {place}, found ConnectionRefused: nobody"),
        (
            ServiceUnavailable(Status(code=503, message="later")),
            "found ServiceUnavailable: later; start that server, or",
        ),
        (
            Unauthorized(Status(code=401, message="no")),
            "expected {place} to let us in, found Unauthorized: no; correct",
        ),
        (
            Forbidden(Status(code=403, message="no")),
            "expected {place} to let us in, found Forbidden: no; correct the user",
        ),
        (
            NotFound(Status(code=404, message="no\nno")),
            "expected {place} to serve an API, found NotFound: no; no; correct",
        ),
        (ConfigurationError("expected a program 'x', found none"), "expected a program 'x', found none (context"),
    ],
)
def test_a_server_that_cannot_be_had_is_one_line_with_what_to_do_about_it(error: InformersError, told: str) -> None:
    config = ServerConfig("https://a.example.com", Anonymous(), context="blue", source="~/.kube/config")

    line = str(unreachable(config, error))

    assert told.format(place="https://a.example.com (context 'blue' of ~/.kube/config)") in line
    assert line.endswith("or name another with --kubeconfig and --context")
    assert "\n" not in line


async def test_a_plain_server_is_asked_without_a_prefix() -> None:
    documents = describing("v1.36.2", {"apis.kcp.io": ("apiexports",)}, prefix="")

    seen = await meet(server(documents, Scope.PLAIN), nobody_waits)

    assert seen.serves == {"apiexports.apis.kcp.io"}


EXPORTS = "/services/cache/shards/*/clusters/*/apis/apis.kcp.io/v1alpha1/apiexports"


def export(name: str, identity: str) -> dict[str, Any]:
    metadata = {"name": name, "annotations": {"kcp.io/cluster": "root", "kcp.io/shard": "root"}, "resourceVersion": "1"}
    return {
        "apiVersion": "apis.kcp.io/v1alpha1",
        "kind": "APIExport",
        "metadata": metadata,
        "status": {"identityHash": identity},
    }


def cache(*items: dict[str, Any]) -> Server:
    found = {
        "apiVersion": "apis.kcp.io/v1alpha1",
        "kind": "APIExportList",
        "metadata": {"resourceVersion": "9"},
        "items": [*items],
    }
    return server({EXPORTS: found}, Scope.CACHE)


async def test_across_clusters_kcps_own_kinds_are_asked_for_with_their_identities() -> None:
    local = server({"/clusters/*/openapi/v3/apis/apis.kcp.io/v1alpha1": schemas(endpoints={}, conditions={})})
    copies = cache(export("shards.core.kcp.io", "abc"), export("topology.kcp.io", "def"))

    shards, partitions = await kinds_for_force(local, copies)

    assert (shards.segment, partitions.segment) == ("shards:abc", "partitions:def")


async def test_a_force_is_refused_where_slices_are_shared_with_kcps_own_controllers() -> None:
    local = server({"/clusters/root/openapi/v3/apis/apis.kcp.io/v1alpha1": schemas(shardSelector={}, endpoints={})})

    with pytest.raises(ConfigurationError, match=r"found status.shardSelector in apiexportendpointslices.apis.kcp.io"):
        await kinds_for_force(local, cache())


async def test_the_definition_that_kcp_keeps_says_it_where_no_document_does() -> None:
    schema = {"properties": {"status": {"properties": {"shardSelector": {"type": "string"}}}}}
    definition = {"spec": {"versions": [{"name": "v1alpha1", "schema": {"openAPIV3Schema": schema}}]}}
    path = "/clusters/system:system-crds/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    local = server({f"{path}/apiexportendpointslices.apis.kcp.io": definition})

    with pytest.raises(ConfigurationError, match=r"found status.shardSelector"):
        await kinds_for_force(local, cache())


async def test_where_nobody_can_say_a_force_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"found none that can be read; .* leave out --slice-controller force"):
        await kinds_for_force(server({}), cache())


async def test_exports_without_an_identity_are_waited_for_by_the_user() -> None:
    local = server({"/clusters/*/openapi/v3/apis/apis.kcp.io/v1alpha1": schemas(endpoints={})})

    with pytest.raises(
        ConfigurationError, match=r"expected APIExport topology.kcp.io in root to have an identity hash"
    ):
        await kinds_for_force(local, cache(export("shards.core.kcp.io", "abc")))
