from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.schema.embedded import EmbeddedError
from kcpctl.apiserver.schema.pruning import prune
from kcpctl.apiserver.schema.settled import Settled
from kcpctl.apiserver.schema.structural import StructuralSchema

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}


def schema(**properties: Any) -> StructuralSchema:
    return StructuralSchema({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}})


def spec(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "n", "odd": 1}, "spec": fields}


def test_unknown_fields_go_and_are_named_by_their_paths() -> None:
    obj = spec(a="x", b=1, list=[{"a": 1, "x": 2}], map={"k": {"a": 1, "y": {"z": 1}}}, more={"q": [{"r": 1}]}) | {
        "x": 1
    }
    item = {"type": "object", "properties": {"a": INTEGER}}

    dropped = schema(
        a=TEXT,
        list={"type": "array", "items": item},
        map={"type": "object", "additionalProperties": item},
        more={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    ).prune(obj)

    assert dropped == ["spec.b", "spec.list[0].x", "spec.map.k.y", "x"]
    assert obj == spec(a="x", list=[{"a": 1}], map={"k": {"a": 1}}, more={"q": [{"r": 1}]})


def test_known_fields_below_preserved_ones_are_pruned_again() -> None:
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": {"type": "object"}}}
    obj = spec(free={"a": {"x": 1}, "b": {"x": 1}})

    assert schema(free=free).prune(obj) == ["spec.free.a.x"]


def test_items_of_preserved_lists_keep_their_fields_but_not_those_of_known_objects() -> None:
    items = {"type": "object", "properties": {"a": {"type": "object"}}}
    obj = spec(free=[{"a": {"x": 1}, "b": 1}])

    dropped = schema(free={"type": "array", "items": items, "x-kubernetes-preserve-unknown-fields": True}).prune(obj)

    assert dropped == ["spec.free[0].a.x"]
    assert obj["spec"] == {"free": [{"a": {}, "b": 1}]}


def test_any_key_is_allowed_in_an_open_map_but_nothing_is_known_below() -> None:
    obj = spec(map={"k": 1, "m": {"x": 1}})

    assert schema(map={"type": "object", "additionalProperties": True}).prune(obj) == ["spec.map.m.x"]


def test_nulls_stay_only_where_they_may() -> None:
    obj = spec(plain=None, nullable=None, defaulted=None, free={"x": None}, list=[None])
    kinds = schema(
        plain=TEXT,
        nullable=TEXT | {"nullable": True},
        defaulted=TEXT | {"default": "d"},
        free={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        list={"type": "array", "items": TEXT},
    )

    assert kinds.prune(obj) == []
    kinds.default(obj)

    assert obj["spec"] == {"nullable": None, "defaulted": "d", "free": {"x": None}, "list": [None]}


def test_defaults_come_only_below_parents_that_are_there() -> None:
    inner = {"type": "object", "properties": {"b": INTEGER | {"default": 2}}}
    kinds = schema(a=inner, c=inner | {"default": {}}, d={"type": "array", "items": inner}, e=TEXT | {"default": "e"})
    obj = spec(d=[{}, {"b": 3}, None])

    kinds.default(obj)

    assert obj["spec"] == {"c": {"b": 2}, "d": [{"b": 2}, {"b": 3}, None], "e": "e"}


def test_defaults_are_not_shared_between_objects() -> None:
    kinds = schema(a={"type": "object", "default": {"x": []}, "x-kubernetes-preserve-unknown-fields": True})
    first, second = spec(), spec()

    kinds.default(first)
    first["spec"]["a"]["x"].append(1)
    kinds.default(second)

    assert second["spec"] == {"a": {"x": []}}


EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}


def test_metadata_of_embedded_objects_is_read_as_metadata() -> None:
    obj = spec(tmpl={"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "bogus": 1}, "zz": 1})

    assert schema(tmpl=EMBEDDED).prune(obj) == ["spec.tmpl.metadata.bogus"]
    assert obj["spec"]["tmpl"] == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "zz": 1}


def test_embedded_metadata_of_the_wrong_type_cannot_be_read() -> None:
    with pytest.raises(EmbeddedError, match=r"spec.tmpl.metadata: Invalid value: .*ObjectMeta.labels of type"):
        schema(tmpl=EMBEDDED).prune(spec(tmpl={"metadata": {"labels": 1}}))


def test_stored_objects_lose_what_a_newer_schema_does_not_know() -> None:
    obj = spec(old=1, tmpl={"kind": 1, "metadata": {"labels": 1, "name": "x"}})

    schema(tmpl=EMBEDDED, new=TEXT | {"default": "n"}).refresh(obj)

    assert obj["spec"] == {"tmpl": {"metadata": {"name": "x"}}, "new": "n"}


def test_only_the_second_of_equal_items_is_an_error() -> None:
    keyed = {"type": "object", "properties": {"a": TEXT, "b": INTEGER}}
    kinds = schema(
        set={"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
        map={
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["a", "b"],
            "items": keyed,
        },
    )
    obj = spec(set=["x", "x", "x", 1, True], map=[{"a": "x"}, {"a": "x", "b": 1}, {"a": "x", "b": 1}, {"a": "x"}])

    assert [(e.field, e.message) for e in kinds.duplicates(obj)] == [
        ("spec.set[1]", 'Duplicate value: "x"'),
        ("spec.map[2]", 'Duplicate value: {"a":"x","b":1}'),
        ("spec.map[3]", 'Duplicate value: {"a":"x"}'),
    ]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from("abx"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcx"), inner, max_size=4),
    max_leaves=12,
)
SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.sampled_from([TEXT, INTEGER, TEXT | {"nullable": True}, TEXT | {"default": "d"}, EMBEDDED, {"type": "object"}]),
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(lambda p: {"type": "object", "properties": p}),
        inner.map(lambda s: {"type": "array", "items": s}),
        inner.map(lambda s: {"type": "object", "additionalProperties": s}),
        inner.map(lambda s: s | {"x-kubernetes-preserve-unknown-fields": True}),
    ),
    max_leaves=6,
)


@given(SCHEMAS, JSON_VALUES)
def test_pruning_and_defaulting_twice_changes_nothing_more(openapi: dict[str, Any], value: Any) -> None:
    kinds = schema(a=openapi)
    obj = spec(a=value)
    try:
        kinds.prune(obj)
    except EmbeddedError:
        return
    kinds.default(obj)
    once = deepcopy(obj)

    assert kinds.prune(obj) == []
    kinds.default(obj)

    assert obj == once


@given(JSON_VALUES)
def test_whatever_the_value_is_errors_have_words(value: Any) -> None:
    wrong = schema(
        a={"type": "integer", "minimum": 1, "enum": [1, 2]},
        b={"type": "object", "maxProperties": 1, "additionalProperties": TEXT},
        c={"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 2, "pattern": "^b"}},
    ).errors(spec(a=value, b=value, c=value))

    assert all(error.field.startswith("spec.") and error.message for error in wrong)


@given(SCHEMAS, JSON_VALUES)
def test_where_a_type_says_that_nothing_is_to_be_pruned_a_walk_finds_nothing(
    openapi: dict[str, Any], value: Any
) -> None:
    kinds = schema(a=openapi)
    obj = spec(a=value)

    if Settled(kinds.root)(obj):
        before = deepcopy(obj)
        assert prune(obj, kinds.root) == []
        assert obj == before


def test_a_type_knows_the_objects_of_which_most_are_made() -> None:
    item = {"type": "object", "properties": {"url": TEXT}}
    kinds = schema(urls={"type": "array", "items": item}, map={"type": "object", "additionalProperties": TEXT})
    settled = Settled(kinds.root)

    assert settled(spec(urls=[{"url": "a"}, {"url": "b"}], map={"k": "v"}))
    assert not settled(spec(urls=[{"url": "a", "x": 1}]))
    assert not settled(spec(urls=None))
