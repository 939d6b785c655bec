"""What a cluster serves, as clients find out."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.http.discovery import Discovery, storage_version_hash, wants_aggregated
from kcpctl.apiserver.http.versions import rank
from tests.kcpctl.apiserver.kinds import ALL, CONFIGMAPS, LEASES, NAMESPACES, WIDGETS, FixedCatalog

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
V2BETA1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
ORDERED = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"]


def legacy(*segments: str, catalog: FixedCatalog | None = None) -> Any:
    return msgspec.json.decode(Discovery(catalog or FixedCatalog()).legacy("root", segments, "127.0.0.1:6443"))


@given(st.permutations(ORDERED))
def test_stable_versions_come_first_and_higher_numbers_before_lower(versions: list[str]) -> None:
    assert sorted(versions, key=rank) == ORDERED


def test_the_core_group_has_its_own_root() -> None:
    assert legacy("api")["versions"] == ["v1"]
    assert legacy("api")["serverAddressByClientCIDRs"][0]["serverAddress"] == "127.0.0.1:6443"
    assert legacy("api", "v1")["groupVersion"] == "v1"
    assert "apiVersion" not in legacy("api", "v1")


def test_groups_name_their_preferred_version() -> None:
    group = legacy("apis", "golden.example.com")

    assert [v["version"] for v in group["versions"]] == ["v1", "v1beta1"]
    assert group["preferredVersion"] == {"groupVersion": "golden.example.com/v1", "version": "v1"}
    assert [g["name"] for g in legacy("apis")["groups"]] == ["coordination.k8s.io", "golden.example.com", "example.com"]


def test_resources_are_listed_with_their_subresources() -> None:
    widgets, status, scale = legacy("apis", "golden.example.com", "v1")["resources"]

    assert widgets["verbs"] == ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
    assert (widgets["shortNames"], widgets["categories"], widgets["singularName"]) == (["wd"], ["all"], "widget")
    assert (status["name"], status["kind"], status["verbs"]) == ("widgets/status", "Widget", ["get", "patch", "update"])
    assert (scale["name"], scale["group"], scale["version"], scale["kind"]) == (
        "widgets/scale",
        "autoscaling",
        "v1",
        "Scale",
    )


def test_built_in_resources_come_by_alphabet() -> None:
    names = [r["name"] for r in legacy("api", "v1")["resources"]]

    assert names == ["configmaps", "namespaces", "namespaces/finalize", "namespaces/status"]


@pytest.mark.parametrize(
    "segments",
    [("apis", "nope"), ("apis", "nope", "v1"), ("apis", "golden.example.com", "v9"), ("apis", "")],
)
def test_unknown_groups_are_not_found_in_text(segments: tuple[str, ...]) -> None:
    with pytest.raises(Failure) as caught:
        legacy(*segments)

    assert caught.value.text == "404 page not found\n"


def test_hashes_are_those_of_real_servers() -> None:
    assert storage_version_hash(CONFIGMAPS) == "qFsyl6wFWjQ="
    assert storage_version_hash(LEASES) == "gqkMMb/YqFM="
    assert storage_version_hash(WIDGETS) == "FtbgEmiKtnw="


def test_one_document_tells_everything() -> None:
    found = msgspec.json.decode(Discovery(FixedCatalog()).aggregated("root", core=False).body)
    core = msgspec.json.decode(Discovery(FixedCatalog()).aggregated("root", core=True).body)
    golden = next(item for item in found["items"] if item["metadata"]["name"] == "golden.example.com")

    assert [item["metadata"] for item in core["items"]] == [{}]
    assert [version["version"] for version in golden["versions"]] == ["v1", "v1beta1"]
    (widgets,) = golden["versions"][0]["resources"]
    assert widgets["responseKind"] == {"group": "golden.example.com", "version": "v1", "kind": "Widget"}
    assert [s["subresource"] for s in widgets["subresources"]] == ["status", "scale"]
    namespaces = next(r for r in core["items"][0]["versions"][0]["resources"] if r["resource"] == "namespaces")
    assert namespaces["scope"] == "Cluster"
    assert namespaces["responseKind"] == {"group": "", "version": "", "kind": "Namespace"}


def test_documents_follow_the_catalogue() -> None:
    catalog = FixedCatalog([NAMESPACES])
    discovery = Discovery(catalog)
    before = discovery.aggregated("root", core=False)

    assert discovery.aggregated("root", core=False) is before
    catalog.kinds, catalog.revision = ALL, "2"
    assert discovery.aggregated("root", core=False).etag != before.etag
    assert "example.com" in discovery.groups("root")


@pytest.mark.parametrize(
    ("accept", "aggregated"),
    [
        ("", False),
        ("application/json", False),
        (f"{V2},{V2BETA1},application/json", True),
        (f"{V2BETA1},application/json", False),
        (f"application/json,{V2}", False),
        ("application/yaml", False),
        ("*/*", False),
    ],
)
def test_the_first_known_form_is_chosen(accept: str, aggregated: bool) -> None:
    assert wants_aggregated(accept) is aggregated


@pytest.mark.parametrize("accept", [V2BETA1, "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList"])
def test_a_form_that_is_gone_is_not_acceptable(accept: str) -> None:
    with pytest.raises(Failure) as caught:
        wants_aggregated(accept)

    assert caught.value.status.code == 406
