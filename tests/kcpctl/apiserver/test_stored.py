"""What is stored, what is served, and that the way between them needs no decoding."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver import stored
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.served import JSON

SHARD = Scope("root")
CACHE = Scope("root", "amber", is_cache=True)
PLAIN = Scope("")

texts = st.text(max_size=5) | st.sampled_from(['"metadata":{', '"annotations":{', "\\", '"'])
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
annotations = st.dictionaries(texts | st.sampled_from(["kcp.io/cluster", "kcp.io/shard"]), texts, max_size=4)


@st.composite
def objects(draw: st.DrawFn) -> JSON:
    """Objects with metadata anywhere and annotations anywhere in it."""
    metadata: list[tuple[str, Any]] = [("name", "x"), ("labels", draw(st.dictionaries(texts, texts, max_size=2)))]
    if draw(st.booleans()):
        metadata.append(("annotations", draw(st.none() | annotations)))
    if draw(st.booleans()):
        metadata.append(("resourceVersion", "7"))
    fields: list[tuple[str, Any]] = [("kind", draw(texts)), ("apiVersion", draw(texts))]
    fields.append(("metadata", dict(draw(st.permutations(metadata)))))
    fields += list(draw(st.dictionaries(st.sampled_from(["spec", "status", "data"]), values)).items())
    return dict(draw(st.permutations(fields)))


def expected(obj: JSON, own: JSON) -> JSON:
    metadata = {field: value for field, value in obj["metadata"].items() if field != "annotations"}
    if together := {**(obj["metadata"].get("annotations") or {}), **own}:
        metadata["annotations"] = together
    return {**obj, "metadata": {**metadata, "resourceVersion": "42"}}


def served(obj: JSON, scope: Scope) -> JSON:
    body = stored.splice(
        stored.encode(obj, scope),
        42,
        head=stored.head(obj["apiVersion"], obj["kind"]),
        notes=stored.notes(scope.cluster, scope.shard),
    )
    return stored.decode(body)


@given(objects())
def test_on_a_shard_the_cluster_is_added_and_everything_else_stays(obj: JSON):
    assert served(obj, SHARD) == expected(obj, {"kcp.io/cluster": "root"})


@given(objects())
def test_on_a_cache_server_cluster_and_shard_are_added(obj: JSON):
    assert served(obj, CACHE) == expected(obj, {"kcp.io/cluster": "root", "kcp.io/shard": "amber"})


@given(objects())
def test_without_clusters_an_object_comes_back_as_it_was(obj: JSON):
    assert served(obj, PLAIN) == expected(obj, {})


@given(objects())
def test_what_key_and_revision_tell_is_not_stored(obj: JSON):
    metadata = stored.decode(stored.encode(obj, CACHE))["metadata"]

    assert "resourceVersion" not in metadata
    assert metadata.get("annotations", {}).keys().isdisjoint({"kcp.io/cluster", "kcp.io/shard"})


@given(objects())
def test_encoding_leaves_the_object_alone_and_is_stable(obj: JSON):
    before = msgspec.json.encode(obj)

    once = stored.encode(obj, SHARD)

    assert msgspec.json.encode(obj) == before
    assert stored.encode(stored.decode(once), SHARD) == once


def test_items_of_built_in_lists_begin_with_their_metadata():
    value = stored.encode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {}}, PLAIN)

    item = stored.splice(value, 42, head=stored.ITEM_HEAD, notes=b"")

    assert item == b'{"metadata":{"resourceVersion":"42","name":"a"},"data":{}}'
