"""JSON patches, and how kube-apiserver's library reads the RFC."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.patches.errors import DoesNotApply, Malformed, TooLarge
from kcpctl.apiserver.patches.jsonpatch import apply, check

DOCUMENT = {"a": {"b": [1, 2, 3]}, "x/y": 1, "m~n": 2, "null": None}


def op(kind: str, path: str, **more: Any) -> dict[str, Any]:
    return {"op": kind, "path": path} | {name.rstrip("_"): value for name, value in more.items()}


@pytest.mark.parametrize(
    ("operation", "path", "left"),
    [
        (op("add", "/a/b/1", value=9), ("a", "b"), [1, 9, 2, 3]),
        (op("add", "/a/b/-", value=9), ("a", "b"), [1, 2, 3, 9]),
        (op("add", "/a/b/3", value=9), ("a", "b"), [1, 2, 3, 9]),
        (op("add", "/a/b/-1", value=9), ("a", "b"), [1, 2, 3, 9]),
        (op("remove", "/a/b/-1"), ("a", "b"), [1, 2]),
        (op("replace", "/a/b/+0", value=9), ("a", "b"), [9, 2, 3]),
        (op("replace", "/a/new", value=9), ("a", "new"), 9),
        (op("replace", "/x~1y", value=9), ("x/y",), 9),
        (op("replace", "/m~0n", value=9), ("m~n",), 9),
        (op("replace", "", value={"z": 1}), ("z",), 1),
        (op("add", "ignored/new", value=9), ("new",), 9),
        (op("add", "/new"), ("new",), None),
        (op("move", "/c", from_="/a/b"), ("c",), [1, 2, 3]),
        (op("copy", "/c", from_="/a/b/0"), ("c",), 1),
        (op("copy", "/c", from_="/nope"), ("c",), None),
        (op("test", "/nope", value=None), ("null",), None),
        (op("test", "/a", value={"b": [1, 2, 3]}), ("a", "b"), [1, 2, 3]),
    ],
)
def test_an_operation_applies(operation: dict[str, Any], path: tuple[str, ...], left: Any) -> None:
    found: Any = apply(deepcopy(DOCUMENT), [operation])

    for step in path:
        found = found[step]
    assert found == left


@pytest.mark.parametrize(
    "operation",
    [
        op("remove", "/nope"),
        op("remove", ""),
        op("remove", "/a/b/3"),
        op("remove", "/a/b/-4"),
        op("remove", "/a/b/x"),
        op("add", "/nope/x", value=1),
        op("add", "/a/b/5", value=1),
        op("add", "/null/x", value=1),
        op("replace", "/a/b/-", value=1),
        op("replace", "", value=1),
        op("move", "/c", from_="/nope"),
        op("move", "/c"),
        op("test", "/a/b/0", value=2),
        op("test", "/a/b/0", value=True),
        op("test", "/nope", value=1),
        op("frob", "/a"),
        {"path": "/a"},
        {"op": "add", "value": 1},
    ],
)
def test_an_operation_does_not_apply(operation: dict[str, Any]) -> None:
    with pytest.raises(DoesNotApply):
        apply(deepcopy(DOCUMENT), [operation])


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"op": "add"}, "object into Go value of type []handlers.jsonPatchOp"),
        (["x"], "string into Go value of type handlers.jsonPatchOp"),
        ([{"op": 1}], "number into Go struct field jsonPatchOp.op of type string"),
    ],
)
def test_what_is_no_patch_is_malformed(patch: Any, message: str) -> None:
    with pytest.raises(Malformed) as error:
        check(patch)

    assert str(error.value) == f"json: cannot unmarshal {message}"


def test_copies_may_not_add_up_to_too_much() -> None:
    document = {"a": "x" * 100_000, "b": []}

    with pytest.raises(DoesNotApply, match="copies"):
        apply(document, [op("copy", "/b/-", from_="/a")] * 40)
    with pytest.raises(TooLarge):
        check([op("test", "/a", value=1)] * 10_001)


def test_a_value_of_the_patch_is_not_shared_with_the_document() -> None:
    patch = [op("add", "/v", value={"x": []}), op("add", "/v/x/-", value=1)]

    assert apply({}, patch) == {"v": {"x": [1]}}
    assert apply({}, patch) == {"v": {"x": [1]}}


values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab/~"), inner, max_size=3),
    max_leaves=8,
)
paths = st.lists(st.sampled_from(["a", "b", "~0", "~1", "0", "1", "-", "-1", "x"]), max_size=4).map(
    lambda pieces: "".join(f"/{piece}" for piece in pieces)
)
operations = st.builds(
    lambda kind, path, source, value: {"op": kind, "path": path, "from": source, "value": value},
    st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]),
    paths,
    paths,
    values,
)


@given(st.dictionaries(st.sampled_from("ab/~"), values, max_size=4), st.lists(operations, max_size=4))
def test_any_patch_applies_or_says_that_it_does_not(document: dict[str, Any], patch: list[dict[str, Any]]) -> None:
    assert check(patch) == []
    try:
        apply(deepcopy(document), patch)
    except DoesNotApply:
        return


@given(st.dictionaries(st.sampled_from("ab/~"), values, min_size=1, max_size=4), values)
def test_what_was_added_tests_equal_and_can_be_removed(document: dict[str, Any], value: Any) -> None:
    before = deepcopy(document)

    after = apply(document, [op("add", "/new", value=value), op("test", "/new", value=value), op("remove", "/new")])

    assert after == before
