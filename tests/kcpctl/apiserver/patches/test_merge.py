"""Merge patches."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api import patch as rfc
from kcpctl.apiserver.patches.merge import merge

scalars = st.booleans() | st.integers(0, 3) | st.sampled_from(["", "x"])
documents = st.recursive(
    st.dictionaries(st.sampled_from("abc"), scalars, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner | scalars | st.lists(scalars), max_size=3),
    max_leaves=8,
)
patches = st.recursive(
    st.dictionaries(st.sampled_from("abc"), scalars | st.none(), max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner | scalars | st.none() | st.lists(scalars), max_size=3),
    max_leaves=8,
)


@given(documents, patches)
def test_where_lists_hold_no_nulls_it_is_rfc_7386(document: Any, patch: Any) -> None:
    assert merge(deepcopy(document), patch) == rfc.apply(document, patch)


@given(documents, documents)
def test_a_difference_patches_one_document_into_the_other(old: Any, new: Any) -> None:
    assert merge(deepcopy(old), rfc.diff(old, new)) == new


@given(documents, patches)
def test_applying_a_patch_twice_is_applying_it_once(document: Any, patch: Any) -> None:
    once = merge(deepcopy(document), patch)

    assert merge(deepcopy(once), patch) == once


@pytest.mark.parametrize(
    ("document", "patch", "result"),
    [
        ({}, {"a": [{"b": None}]}, {"a": [{}]}),
        ({"a": [1]}, {"a": [None, {"b": None}]}, {"a": [None, {}]}),
        ({"a": {"x": 1}}, {"a": [{"b": None}]}, {"a": [{"b": None}]}),
        ({"a": 1}, [1], [1]),
    ],
)
def test_nulls_in_lists_go_where_the_library_makes_them_go(document: Any, patch: Any, result: Any) -> None:
    assert merge(document, patch) == result


@given(documents, patches)
def test_the_document_stays_as_it_was(document: Any, patch: Any) -> None:
    before = deepcopy(document)

    merge(document, patch)

    assert document == before


@given(documents, documents)
def test_where_there_are_no_nulls_none_have_to_be_looked_for(document: Any, patch: Any) -> None:
    assert merge(document, patch, nulls=False) == merge(document, patch)
