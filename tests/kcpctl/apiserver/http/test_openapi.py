"""The documents that tell clients what objects look like and what may be asked."""

import hashlib
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from kcpctl.apiserver.call import Query
from kcpctl.apiserver.exchange import Answer
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.http.discovery import Discovery
from kcpctl.apiserver.http.openapi.site import OpenApi
from kcpctl.apiserver.served import Served
from tests.kcpctl.apiserver.kinds import ALL, NAMESPACES, FixedCatalog, kind

TYPED = kind(
    "example.com",
    "v1",
    "boxes",
    "Box",
    is_custom=True,
    schema={
        "type": "object",
        "description": "A box.",
        "required": ["spec"],
        "properties": {
            "metadata": {"type": "object"},
            "spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 1}}},
        },
    },
)


class Site:
    """The documents of a fixed catalogue."""

    def __init__(self, kinds: tuple[Served, ...] = ALL) -> None:
        self.groups = Discovery(FixedCatalog(kinds)).groups("root")
        self.openapi = OpenApi(now=lambda: datetime(2030, 1, 1, tzinfo=UTC))

    async def __call__(self, path: str, query: str = "", prefix: str = "", **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.openapi(tuple(path.strip("/").split("/")), self.groups, prefix, named, Query(query))

    async def document(self, path: str) -> Any:
        return msgspec.json.decode(raw(await self(f"/openapi/v3/{path}")))


def raw(answer: Answer) -> bytes:
    assert isinstance(answer.body, bytes)
    return answer.body


async def test_the_index_links_to_documents_by_their_hash() -> None:
    site = Site()
    links = msgspec.json.decode(raw(await site("/openapi/v3", prefix="/clusters/root")))["paths"]

    assert sorted(links) == [
        "api/v1",
        "apis/coordination.k8s.io/v1",
        "apis/example.com/v1",
        "apis/golden.example.com/v1",
        "apis/golden.example.com/v1beta1",
    ]
    path, _, digest = links["api/v1"]["serverRelativeURL"].partition("?hash=")
    answer = await site("/openapi/v3/api/v1", f"hash={digest}")
    assert path == "/clusters/root/openapi/v3/api/v1"
    assert hashlib.sha512(raw(answer)).hexdigest().upper() == digest
    assert ("Cache-Control", "public, immutable") in answer.headers
    assert ("Expires", "Wed, 01 Jan 2031 00:00:00 GMT") in answer.headers


async def test_an_outdated_hash_is_redirected_to_the_current_document() -> None:
    answer = await Site()("/openapi/v3/api/v1", "hash=DEAD", prefix="/clusters/x")
    location = dict(answer.headers)["Location"]

    assert answer.status == 301
    assert location.startswith("/clusters/x/openapi/v3/api/v1?hash=")
    assert not location.endswith("DEAD")


@pytest.mark.parametrize("path", ["/openapi/v3", "/openapi/v3/api/v1"])
async def test_what_a_client_has_is_not_sent_again(path: str) -> None:
    site = Site()
    etag = dict((await site(path)).headers)["ETag"]

    again = await site(path, if_none_match=etag)

    assert (again.status, again.body) == (304, b"")


async def test_version_2_is_there_for_kubectl_and_describes_nothing() -> None:
    site = Site()

    answer = await site("/openapi/v2", accept="application/com.github.proto-openapi.spec.v2@v1.0+protobuf")

    assert answer.status == 200
    assert dict(answer.headers)["Content-Type"] == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    assert isinstance(answer.body, bytes)
    assert answer.body.startswith(b"\n\x032.0")


async def test_what_is_not_served_has_no_document() -> None:
    site = Site()

    assert (await site("/openapi/v3/apis/nope/v1")).status == 404
    assert (await site("/openapi/v3/api/v1", accept="application/xml")).status == 406
    assert (await site("/openapi/v2", accept="application/json")).status == 406
    with pytest.raises(Failure):
        await site("/openapi/v4")


async def test_every_write_of_every_kind_says_that_it_knows_field_validation() -> None:
    site = Site()
    checked = set()
    for group, versions in site.groups.items():
        for version in versions:
            document = await site.document(f"apis/{group}/{version}" if group else f"api/{version}")
            for path, item in document["paths"].items():
                for method in ("post", "put", "patch"):
                    if method in item:
                        assert "fieldValidation" in [p["name"] for p in item[method]["parameters"]], path
                        checked.add(item[method]["x-kubernetes-group-version-kind"]["kind"])

    assert checked == {"Namespace", "ConfigMap", "Lease", "Widget", "Planet"}


async def test_paths_are_those_that_are_routed() -> None:
    paths = (await Site().document("apis/golden.example.com/v1"))["paths"]
    root = "/apis/golden.example.com/v1"

    assert {path: sorted(set(item) - {"parameters"}) for path, item in paths.items()} == {
        f"{root}/namespaces/{{namespace}}/widgets": ["delete", "get", "post"],
        f"{root}/namespaces/{{namespace}}/widgets/{{name}}": ["delete", "get", "patch", "put"],
        f"{root}/namespaces/{{namespace}}/widgets/{{name}}/scale": ["get", "patch", "put"],
        f"{root}/namespaces/{{namespace}}/widgets/{{name}}/status": ["get", "patch", "put"],
        f"{root}/widgets": ["get"],
    }
    listing = paths[f"{root}/namespaces/{{namespace}}/widgets"]["get"]
    assert listing["operationId"] == "listGoldenExampleComV1NamespacedWidget"


async def test_only_built_ins_take_strategic_merge_patches() -> None:
    site = Site()
    core = (await site.document("api/v1"))["paths"]["/api/v1/namespaces/{name}"]["patch"]
    custom = (await site.document("apis/example.com/v1"))["paths"]["/apis/example.com/v1/planets/{name}"]["patch"]

    assert "application/strategic-merge-patch+json" in core["requestBody"]["content"]
    assert sorted(custom["requestBody"]["content"]) == ["application/json-patch+json", "application/merge-patch+json"]


async def test_a_schema_is_published_with_the_fields_that_every_object_has() -> None:
    schemas = (await Site((TYPED,)).document("apis/example.com/v1"))["components"]["schemas"]
    box = schemas["com.example.v1.Box"]

    assert box["x-kubernetes-group-version-kind"] == [{"group": "example.com", "version": "v1", "kind": "Box"}]
    assert box["required"] == ["spec"]
    assert box["properties"]["spec"]["properties"]["size"]["default"] == 1
    assert sorted(box["properties"]) == ["apiVersion", "kind", "metadata", "spec"]


async def test_every_reference_leads_somewhere() -> None:
    site = Site((*ALL, TYPED))

    def references(node: Any) -> list[str]:
        if isinstance(node, dict):
            own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
            return own + [found for inner in node.values() for found in references(inner)]
        return [found for inner in node for found in references(inner)] if isinstance(node, list) else []

    for path in ("api/v1", "apis/golden.example.com/v1", "apis/example.com/v1"):
        document = await site.document(path)
        known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
        assert set(references(document)) <= known


async def test_kinds_that_did_not_change_keep_their_document() -> None:
    site = Site((NAMESPACES, TYPED))
    before = await site("/openapi/v3/api/v1")

    site.groups = Discovery(FixedCatalog((NAMESPACES, kind("example.com", "v1", "boxes", "Box")))).groups("root")

    assert (await site("/openapi/v3/api/v1")).body is before.body
