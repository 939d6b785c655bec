"""Keys say where objects live, and sort as lists do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.keys import Place, extent, object_key, place
from tests.kcpctl.apiserver.kinds import CONFIGMAPS, PLANETS, WIDGETS

names = st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,8}[a-z0-9])?", fullmatch=True)


@given(cluster=st.just("") | names, shard=names, namespace=names, name=names, is_cache=st.booleans())
def test_a_key_tells_the_place_that_it_was_made_from(
    cluster: str, shard: str, namespace: str, name: str, is_cache: bool
):
    scope = Scope(cluster, shard if is_cache else "", is_cache)

    key = object_key(WIDGETS, scope, namespace, name)

    assert place(key, is_cache=is_cache) == Place(cluster, namespace, name, scope.shard)


def test_cluster_scoped_objects_have_no_namespace_in_their_key():
    key = object_key(PLANETS, Scope("root"), "", "mars")

    assert key == "/registry/example.com/planets/root/mars"
    assert place(key) == Place("root", "", "mars")


def test_a_server_without_clusters_uses_a_segment_that_no_cluster_can_be_called():
    assert object_key(CONFIGMAPS, Scope(""), "ns", "a") == "/registry/core/configmaps/_/ns/a"


PLACES = [(s, c, n, x) for s in ("amber", "beryl") for c in ("one", "two") for n in ("a", "b") for x in ("x", "y")]


@pytest.mark.parametrize("shard", ["*", "amber"])
@pytest.mark.parametrize("cluster", ["*", "two"])
@pytest.mark.parametrize("namespace", ["", "b"])
def test_a_wildcard_left_of_a_name_does_not_loosen_the_name(shard: str, cluster: str, namespace: str):
    asked = extent(WIDGETS, Scope(cluster, shard, is_cache=True), namespace)

    keys = {p: object_key(WIDGETS, Scope(p[1], p[0], is_cache=True), p[2], p[3]) for p in PLACES}
    covered = {p for p, key in keys.items() if key.startswith(asked.prefix) and asked.covers(key)}

    assert covered == {
        (s, c, n, x) for s, c, n, x in PLACES if shard in ("*", s) and cluster in ("*", c) and namespace in ("", n)
    }


def test_a_cluster_whose_name_begins_like_another_is_another():
    asked = extent(CONFIGMAPS, Scope("one"))

    assert not object_key(CONFIGMAPS, Scope("one-more"), "a", "x").startswith(asked.prefix)


def test_a_namespace_called_like_the_wildcard_is_one_that_nobody_has():
    asked = extent(CONFIGMAPS, Scope("one"), "*")

    assert not object_key(CONFIGMAPS, Scope("one"), "a", "x").startswith(asked.prefix)
