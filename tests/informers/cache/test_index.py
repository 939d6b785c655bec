"""Promises of one index and of the ready-made indexers."""

from typing import Any

import pytest

from informers.api.objects import Object
from informers.cache.index import Index, IndexerFailed
from informers.cache.indexers import by_cluster, by_label, by_namespace, by_owner_uid, by_path
from tests.informers.cache.making import key, widget


def test_a_value_without_keys_leaves_nothing_behind() -> None:
    index: Index[Any] = Index("label", by_label("app"))
    index.add(key("a"), ("x",))
    index.add(key("b"), ("x",))

    index.discard(key("a"), ("x",))
    index.discard(key("b"), ("x",))

    assert len(index) == 0
    assert index.keys("x") == []


def test_keys_come_back_in_the_order_they_came() -> None:
    index: Index[Any] = Index("label", by_label("app"))
    for name in ("c", "a", "b"):
        index.add(key(name), ("x",))

    assert [k.name for k in index.keys("x")] == ["c", "a", "b"]


def test_adding_and_discarding_twice_is_the_same_as_once() -> None:
    index: Index[Any] = Index("label", by_label("app"))
    index.add(key("a"), ("x", "x"))
    index.add(key("b"), ("x",))
    index.add(key("b"), ("x",))
    index.discard(key("a"), ("x", "x"))
    index.discard(key("a"), ("x",))

    assert index.keys("x") == [key("b")]


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        ("text", "expected an iterable of texts, found the text 'text'"),
        ([1], "expected texts, found a value of type int"),
        ((None,), "expected texts, found a value of type NoneType"),
        (([],), "expected texts, found a value of type list"),
        (7, "not iterable"),
    ],
)
def test_an_indexer_that_gives_no_texts_fails_with_the_index_and_the_key(returned: Any, complaint: str) -> None:
    index: Index[Any] = Index("odd", lambda _: returned)

    with pytest.raises(IndexerFailed, match=r"index 'odd' of ns/a: TypeError") as caught:
        index.values(widget("a", namespace="ns"))

    assert complaint in str(caught.value)


def test_an_indexer_may_return_any_iterable() -> None:
    def letters(obj: Object[Any]) -> Any:
        yield from obj.name

    assert Index("letters", letters).values(widget("abc")) == ("a", "b", "c")


def test_objects_are_found_by_where_they_live() -> None:
    obj = widget("a", namespace="ns", cluster="root", shard="amber")

    assert by_namespace(obj) == ("ns",)
    assert by_cluster(obj) == ("root",)


def test_objects_are_found_by_a_label_only_where_they_have_it() -> None:
    assert by_label("app")(widget("a", labels={"app": "web"})) == ("web",)
    assert by_label("app")(widget("a", labels={"other": "web"})) == ()


def test_objects_are_found_by_each_of_their_owners() -> None:
    assert by_owner_uid(widget("a", owners=["u1", "u2"])) == ("u1", "u2")
    assert by_owner_uid(widget("a")) == ()
    assert by_owner_uid(widget("a", spec={"ownerReferences": [{"uid": "not metadata"}]})) == ()


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"node": "n1"}, ("n1",)),
        ({"node": ["n1", "n2"]}, ("n1", "n2")),
        ({"node": True}, ("true",)),
        ({"node": 3}, ("3",)),
        ({"node": None}, ()),
        ({}, ()),
        (["not an object"], ()),
    ],
)
def test_objects_are_found_by_what_is_at_a_path(spec: Any, found: tuple[str, ...]) -> None:
    assert by_path("spec", "node")(widget("a", spec=spec)) == found


def test_a_path_may_have_names_that_are_no_identifiers() -> None:
    assert by_path("spec", "my-field", "class")(widget("a", spec={"my-field": {"class": "x"}})) == ("x",)


def test_what_cannot_be_a_value_is_refused_by_type() -> None:
    with pytest.raises(TypeError, match="expected a text, a number or a boolean to index by, found dict"):
        by_path("spec", "node")(widget("a", spec={"node": {"name": "n1"}}))


def test_two_who_ask_for_the_same_index_get_the_same_function() -> None:
    """Else the second declaration of an index would look like another one under a taken name."""
    assert by_label("app") == by_label("app") != by_label("other")
    assert by_path("spec", "node") is by_path("spec", "node")
