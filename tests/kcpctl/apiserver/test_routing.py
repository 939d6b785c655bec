"""Which path and method ask for what, and what the answer is where nothing is served."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver import routing
from kcpctl.apiserver.call import Query, Scope
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.served import Served
from tests.kcpctl.apiserver.kinds import FixedCatalog

WIDGETS = "/apis/golden.example.com/v1"
CATALOG = FixedCatalog()


def target(method: str, path: str, query: str = "") -> routing.Target:
    return routing.parse(method, path, Query(query))


def found(method: str, path: str, query: str = "") -> Served:
    return routing.find(target(method, path, query), CATALOG, Scope("root"))


@pytest.mark.parametrize(
    ("method", "path", "verb", "namespace", "resource", "name", "subresource"),
    [
        ("GET", "/api/v1/namespaces", "list", "", "namespaces", "", ""),
        ("GET", "/api/v1/namespaces/g1", "get", "g1", "namespaces", "g1", ""),
        ("PUT", "/api/v1/namespaces/g1/finalize", "update", "g1", "namespaces", "g1", "finalize"),
        ("GET", "/api/v1/namespaces/g1/configmaps", "list", "g1", "configmaps", "", ""),
        ("GET", "/api/v1/namespaces/g1/configmaps/", "list", "g1", "configmaps", "", ""),
        ("GET", "/api/v1/namespaces/g1/configmaps/a%2Eb", "get", "g1", "configmaps", "a.b", ""),
        ("DELETE", "/api/v1/namespaces/g1/configmaps", "deletecollection", "g1", "configmaps", "", ""),
        ("DELETE", "/api/v1/namespaces/g1/configmaps/c", "delete", "g1", "configmaps", "c", ""),
        ("GET", "/api/v1/configmaps", "list", "", "configmaps", "", ""),
        ("GET", "/api/v1/watch/configmaps", "watch", "", "configmaps", "", ""),
        ("GET", "/api/v1/watch/namespaces/g1/configmaps/c", "watch", "g1", "configmaps", "c", ""),
        ("POST", f"{WIDGETS}/namespaces/g1/widgets", "create", "g1", "widgets", "", ""),
        ("PATCH", f"{WIDGETS}/namespaces/g1/widgets/w/status", "patch", "g1", "widgets", "w", "status"),
        ("PUT", f"{WIDGETS}/namespaces/g1/widgets/w/scale", "update", "g1", "widgets", "w", "scale"),
        ("GET", "/apis/example.com/v1/planets/earth", "get", "", "planets", "earth", ""),
    ],
)
def test_a_path_and_a_method_are_a_verb_on_a_resource(
    method: str, path: str, verb: str, namespace: str, resource: str, name: str, subresource: str
) -> None:
    seen = target(method, path)

    assert seen.is_resource
    assert (seen.verb, seen.namespace, seen.resource, seen.name, seen.subresource) == (
        verb,
        namespace,
        resource,
        name,
        subresource,
    )
    assert found(method, path).plural == resource


def test_watch_is_asked_for_by_parameter_on_collections_only() -> None:
    assert target("GET", "/api/v1/configmaps", "watch=1").verb == "watch"
    assert target("GET", "/api/v1/configmaps", "watch=false").verb == "list"
    assert target("GET", "/api/v1/namespaces/g1/configmaps/c", "watch=1").verb == "get"


@pytest.mark.parametrize("path", ["/", "", "/version", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1/"])
def test_discovery_and_the_like_are_no_resources(path: str) -> None:
    seen = target("GET", path)

    assert not seen.is_resource
    assert seen.verb == "get"


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/nopes",
        "/api/v2/configmaps",
        "/api/v1/namespaces/g1/configmaps/c/status",
        "/api/v1/namespaces/g1/configmaps/c/a/b",
        "/api/v1/namespaces/g1/configmaps//c",
        "/api/v1/namespaces/g1/configmaps/a%2Fb",
        "/api/v1/configmaps/c",
        "/apis/coordination.k8s.io/v1/nopes",
    ],
)
def test_what_built_in_groups_lack_is_a_status(path: str) -> None:
    with pytest.raises(Failure) as caught:
        found("GET", path)

    assert caught.value.status.code == 404
    assert caught.value.status.message == "the server could not find the requested resource"
    assert caught.value.text is None


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/apis/nope.example.com/v1/things"),
        ("GET", "/apis/golden.example.com/v9/namespaces/g1/widgets"),
        ("GET", f"{WIDGETS}/namespaces/g1/nopes"),
        ("POST", f"{WIDGETS}/widgets"),
        ("GET", f"{WIDGETS}/widgets/w"),
        ("DELETE", f"{WIDGETS}/widgets"),
        ("GET", "/apis/example.com/v1/namespaces/g1/planets"),
    ],
)
def test_what_custom_groups_lack_is_plain_text(method: str, path: str) -> None:
    with pytest.raises(Failure) as caught:
        found(method, path)

    assert caught.value.text == "404 page not found\n"


def test_an_unknown_subresource_of_a_custom_resource_says_the_object_is_missing() -> None:
    with pytest.raises(Failure) as caught:
        found("GET", f"{WIDGETS}/namespaces/g1/widgets/w/bogus")

    assert caught.value.status.message == 'widgets.golden.example.com "w" not found'


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("HEAD", "/api/v1/namespaces/g1/configmaps/c"),
        ("HEAD", "/api/v1/namespaces/g1/configmaps"),
        ("OPTIONS", "/api/v1/namespaces/g1/configmaps/c"),
        ("BREW", "/api/v1/namespaces/g1/configmaps/c"),
        ("POST", "/api/v1/namespaces/g1/configmaps/c"),
        ("PUT", "/api/v1/namespaces/g1/configmaps"),
        ("DELETE", "/api/v1/configmaps"),
        ("POST", "/api/v1/configmaps"),
        ("DELETE", "/api/v1/namespaces"),
        ("GET", "/api/v1/namespaces/g1/finalize"),
        ("POST", "/api/v1/watch/configmaps"),
    ],
)
def test_methods_that_do_not_fit_built_ins_are_refused(method: str, path: str) -> None:
    with pytest.raises(Failure) as caught:
        found(method, path)

    assert caught.value.status.code == 405
    assert caught.value.status.message == "the server does not allow this method on the requested resource"


@pytest.mark.parametrize(("method", "verb"), [("DELETE", "delete"), ("POST", "create")])
def test_methods_that_do_not_fit_custom_resources_are_refused_by_name(method: str, verb: str) -> None:
    with pytest.raises(Failure) as caught:
        found(method, f"{WIDGETS}/namespaces/g1/widgets/w/status")

    assert caught.value.status.code == 405
    assert caught.value.status.message == f'{verb} is not supported on resources of kind "widgets.golden.example.com"'


@pytest.mark.parametrize(
    ("scope", "method", "code", "message"),
    [
        (
            Scope("*"),
            "GET",
            405,
            'get is not supported on resources of kind "planets.example.com" in the `*` logical cluster',
        ),
        (
            Scope("*", "amber", is_cache=True),
            "PUT",
            405,
            'update is not supported on resources of kind "planets.example.com" in the `*` logical cluster',
        ),
        (
            Scope("root", "*", is_cache=True),
            "DELETE",
            405,
            'delete is not supported on resources of kind "planets.example.com" in the `*` shard',
        ),
        (Scope("root", "*", is_cache=True), "GET", 404, 'planets.example.com "earth" not found'),
    ],
)
def test_across_clusters_and_shards_only_collections_are_read(
    scope: Scope, method: str, code: int, message: str
) -> None:
    collection, one = (
        target("GET", "/apis/example.com/v1/planets"),
        target(method, "/apis/example.com/v1/planets/earth"),
    )

    assert routing.find(collection, CATALOG, scope).plural == "planets"
    with pytest.raises(Failure) as caught:
        routing.find(one, CATALOG, scope)

    assert (caught.value.status.code, caught.value.status.message) == (code, message)


def test_an_identity_behind_the_plural_finds_the_plural() -> None:
    assert found("GET", "/apis/example.com/v1/planets:0a1b2c").plural == "planets"


@pytest.mark.parametrize("name", ["a%25b", "..", "%2e"])
def test_names_that_would_leave_their_place_are_refused(name: str) -> None:
    with pytest.raises(Failure, match="Name parameter invalid"):
        found("GET", f"/api/v1/namespaces/g1/configmaps/{name}")


@given(st.sampled_from(["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "X"]), st.text(), st.text())
def test_every_request_line_is_answered_or_refused(method: str, path: str, query: str) -> None:
    with suppress(Failure):
        found(method, "/api/v1/" + path, query)
