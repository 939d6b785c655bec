"""A merge patch says exactly what must change."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from informers.api.patch import apply, diff, same

scalars = st.one_of(st.booleans(), st.integers(-9, 9), st.text(max_size=3))
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner))
documents = st.dictionaries(st.text(max_size=2), values, max_size=4)


@given(documents, documents)
def test_applying_the_difference_gives_the_new_document(old: dict[str, Any], new: dict[str, Any]) -> None:
    patched = apply(old, diff(old, new))

    assert same(patched, new)


@given(documents)
def test_equal_documents_need_no_patch(document: dict[str, Any]) -> None:
    assert diff(document, document) == {}


@given(documents, documents)
def test_neither_argument_is_changed(old: dict[str, Any], new: dict[str, Any]) -> None:
    before = (repr(old), repr(new))

    apply(old, diff(old, new))

    assert (repr(old), repr(new)) == before


def test_a_change_deep_inside_sends_nothing_else() -> None:
    old = {"spec": {"a": 1, "b": {"c": 2, "d": [1, 2]}}, "status": {}}
    new = {"spec": {"a": 1, "b": {"c": 3, "d": [1, 2]}}, "status": {}}

    assert diff(old, new) == {"spec": {"b": {"c": 3}}}


def test_a_number_that_becomes_a_boolean_is_a_change() -> None:
    assert diff({"a": 1}, {"a": True}) == {"a": True}


def test_an_object_that_becomes_empty_is_emptied_key_by_key() -> None:
    assert diff({"a": {"b": 1}}, {"a": {}}) == {"a": {"b": None}}


def test_an_empty_object_that_appears_is_sent() -> None:
    assert diff({}, {"a": {}}) == {"a": {}}
