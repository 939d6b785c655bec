"""Strategic merge patches: keys, sets, directives and orders."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.patches.errors import DoesNotApply, Malformed, PatchError, Unexpected
from kcpctl.apiserver.patches.ordering import deduplicated
from kcpctl.apiserver.patches.strategic import merge
from kcpctl.apiserver.shapes.core import NAMESPACE
from kcpctl.apiserver.shapes.openapi import merge_table

TABLE = {"refs": {"key": "uid"}, "refs.tags": {"set": True}, "set": {"set": True}, "in.refs": {"key": "uid"}}


def refs(*uids: str) -> list[dict[str, Any]]:
    return [{"uid": uid} for uid in uids]


@pytest.mark.parametrize(
    ("document", "patch", "result"),
    [
        ({"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}),
        ({"a": {"x": 1}}, {"a": {"x": None}}, {"a": {}}),
        ({"a": {"x": 1}}, {"a": None}, {}),
        ({}, {"a": {"x": None, "y": {"z": None}}}, {"a": {"y": {}}}),
        ({"a": 1}, {"a": {"x": None, "y": 1}}, {"a": {"y": 1}}),
        ({"a": {"x": 1}}, {"a": {"$patch": "replace", "y": 2}}, {"a": {"y": 2}}),
        ({"a": {"x": 1}}, {"a": {"$patch": "delete"}}, {"a": {}}),
        ({}, {"a": {"$patch": "delete"}, "b": 1}, {"b": 1}),
        ({"list": [1, 2]}, {"list": [3]}, {"list": [3]}),
        ({"set": ["a"]}, {"set": ["b", "a"]}, {"set": ["b", "a"]}),
        ({"set": ["a", "c"]}, {"set": ["b"]}, {"set": ["b", "a", "c"]}),
        ({"set": ["a", "b", "c"]}, {"$deleteFromPrimitiveList/set": ["b", "z"]}, {"set": ["a", "c"]}),
        ({"set": ["a", "b", "c"]}, {"$setElementOrder/set": ["c", "a"]}, {"set": ["b", "c", "a"]}),
        ({"set": ["a"]}, {"set": ["c"], "$setElementOrder/set": ["a", "c"]}, {"set": ["a", "c"]}),
        ({}, {"set": ["c"], "$setElementOrder/set": ["a", "c"]}, {"set": ["c"]}),
        ({}, {"$setElementOrder/set": ["a"]}, {}),
        (
            {"refs": [{"uid": "u", "x": 1}, {"uid": "v"}]},
            {"refs": [{"uid": "u", "y": 2}]},
            {"refs": [{"uid": "u", "x": 1, "y": 2}, {"uid": "v"}]},
        ),
        (
            {"refs": [{"uid": "u", "tags": ["a"]}]},
            {"refs": [{"uid": "u", "tags": ["b"]}]},
            {"refs": [{"uid": "u", "tags": ["b", "a"]}]},
        ),
        ({"in": {"refs": refs("u")}}, {"in": {"refs": refs("v")}}, {"in": {"refs": refs("v", "u")}}),
        ({"refs": refs("u", "v")}, {"refs": [{"uid": "u", "$patch": "delete"}]}, {"refs": refs("v")}),
        ({"refs": refs("u", "v")}, {"refs": [{"uid": "w"}, {"$patch": "replace"}]}, {"refs": refs("w")}),
        (
            {"refs": refs("u", "v", "w")},
            {"refs": refs("x"), "$setElementOrder/refs": refs("v", "x", "u")},
            {"refs": refs("v", "x", "u", "w")},
        ),
        ({"a": {"x": 1, "y": 2}}, {"a": {"$retainKeys": ["y", "z"], "z": 3}}, {"a": {"y": 2, "z": 3}}),
    ],
)
def test_a_patch_applies(document: Any, patch: Any, result: Any) -> None:
    assert merge(document, patch, TABLE) == result


NO_KEY = "does not contain declared merge key: uid"
NOT_TYPED = "list element types are not identical: [[a] [[b] [c]]]"
OUT_OF_ORDER = "The order in patch list:\n[b c]\n doesn't match $setElementOrder list:\n[c b]\n"
NOT_YET = "merging lists cannot yet be specified in the patch"


@pytest.mark.parametrize(
    ("document", "patch", "kind", "message"),
    [
        ({"refs": refs("u")}, {"refs": [{"x": 1}]}, Unexpected, f"map: map[x:1] {NO_KEY}"),
        ({"refs": refs("u")}, {"refs": [{"$patch": "delete"}]}, Unexpected, f"map: map[$patch:delete] {NO_KEY}"),
        ({"refs": refs("u")}, {"refs": [{"uid": "u", "$patch": "merge"}]}, Unexpected, NOT_YET),
        ({"a": {}}, {"a": {"$patch": "huh"}}, Unexpected, "unknown patch type: huh in map: map[$patch:huh]"),
        ({"set": ["a"]}, {"set": [["b"], ["c"]]}, Unexpected, NOT_TYPED),
        ({"set": []}, {"set": [["b"]]}, DoesNotApply, "lists of lists are not supported"),
        ({}, {"$deleteFromPrimitiveList": ["a"]}, Malformed, "invalid patch format of primitive list"),
        ({}, {"$setElementOrder": ["a"]}, Malformed, "invalid patch format of setElementOrder list"),
        ({"set": ["a"]}, {"$setElementOrder/set": "a"}, Unexpected, "expected a []interface {}, but received a string"),
        ({"a": {}}, {"a": {"$retainKeys": "x"}}, Malformed, "invalid patch format of retainKeys"),
        ({"a": {}}, {"a": {"$retainKeys": ["x"], "y": 1}}, Malformed, "invalid patch format of retainKeys"),
        ({"set": ["a"]}, {"set": ["b", "c"], "$setElementOrder/set": ["c", "b"]}, Unexpected, OUT_OF_ORDER),
    ],
)
def test_a_patch_that_does_not_apply_says_why(document: Any, patch: Any, kind: type[PatchError], message: str) -> None:
    with pytest.raises(kind) as error:
        merge(document, patch, TABLE)

    assert str(error.value) == message


def test_the_table_of_a_kind_follows_its_type() -> None:
    assert merge_table(NAMESPACE) == {
        "metadata.ownerReferences": {"key": "uid"},
        "metadata.finalizers": {"set": True},
        "status.conditions": {"key": "type"},
    }


scalars = st.booleans() | st.integers(0, 2) | st.sampled_from("xyz")
objects = st.dictionaries(st.sampled_from("ab"), scalars, max_size=2)
keyed = st.lists(st.tuples(st.sampled_from("uvw"), objects), max_size=3, unique_by=lambda pair: pair[0]).map(
    lambda pairs: [{"uid": uid, **fields} for uid, fields in pairs]
)
documents = st.fixed_dictionaries(
    {}, optional={"a": objects, "refs": keyed, "set": st.lists(st.sampled_from("pqr"), unique=True), "n": scalars}
)


@given(documents, documents)
def test_applying_a_patch_twice_is_applying_it_once(document: Any, patch: Any) -> None:
    once = merge(deepcopy(document), deepcopy(patch), TABLE)

    assert merge(deepcopy(once), deepcopy(patch), TABLE) == once


@given(documents, documents)
def test_what_the_patch_says_is_there_and_nothing_else_is_lost(document: Any, patch: Any) -> None:
    result = merge(deepcopy(document), deepcopy(patch), TABLE)

    uids = {ref["uid"] for part in (document, patch) for ref in part.get("refs", ())}
    assert {ref["uid"] for ref in result.get("refs", ())} == uids
    assert set(result.get("set", ())) == {*document.get("set", ()), *patch.get("set", ())}
    assert result.get("a", {}) == document.get("a", {}) | patch.get("a", {})


@given(documents, keyed.filter(bool))
def test_entries_of_the_patch_keep_their_order(document: Any, entries: list[dict[str, Any]]) -> None:
    wanted = [entry["uid"] for entry in entries]

    result = merge(deepcopy(document), {"refs": deepcopy(entries)}, TABLE)

    assert [ref["uid"] for ref in result["refs"] if ref["uid"] in wanted] == wanted


def test_long_lists_are_merged_as_quickly_as_short_ones() -> None:
    old, new = [f"a/{n}" for n in range(20_000)], [f"b/{n}" for n in range(20_000)]

    merged = deduplicated([*old, *new, *old])

    assert sorted(merged) == sorted([*old, *new])


@given(st.lists(st.sampled_from([0, 1, True, "1", "a", 2, 3])))
def test_the_last_entry_takes_the_place_of_one_that_is_dropped(items: list[Any]) -> None:
    left = list(items)
    at = 0
    while at < len(left):  # as the library does it
        other = at + 1
        while other < len(left):
            if (type(left[at]), left[at]) == (type(left[other]), left[other]):
                left[other] = left[-1]
                left.pop()
            else:
                other += 1
        at += 1

    assert [(type(one), one) for one in deduplicated(items)] == [(type(one), one) for one in left]
