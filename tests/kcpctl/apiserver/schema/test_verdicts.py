"""What is said of values that do not fit: what kube-apiserver was recorded to say, else what kube-openapi says."""

from typing import Any

import pytest

from kcpctl.apiserver.field_errors import MOST_TOLD
from kcpctl.apiserver.schema.structural import StructuralSchema, ValueSchema
from kcpctl.apiserver.served import FieldError
from tests.golden import pairs


def causes(errors: list[FieldError]) -> set[tuple[str, str, str]]:
    return {(error.field, error.reason, error.message) for error in errors}


def said(openapi: dict[str, Any], value: Any) -> list[str]:
    whole = {"type": "object", "properties": {"f": openapi}}
    return [f"{e.field}: {e.message}" for e in ValueSchema(whole).errors({"f": value})]


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    return {pair["id"]: pair for pair in pairs("golden.jsonl") if pair["id"].startswith(("crd create", "cr "))}


@pytest.mark.parametrize(
    "call",
    [
        "cr create invalid many",
        "cr create dup set only",
        "cr create missing spec",
        "cr create missing size",
        "cr create null size",
        "cr create wrong type",
    ],
)
def test_a_recorded_refusal_is_given_in_the_same_words(recorded: dict[str, Any], call: str) -> None:
    crd, pair = recorded["crd create"]["req"]["body"], recorded[call]
    schema = StructuralSchema(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
    obj = pair["req"]["body"]
    about_rules = "<nil>"  # says that CEL rules were not looked at

    schema.prune(obj)
    schema.default(obj)

    expected = pair["resp"]["body"]["details"]["causes"]
    assert causes(schema.errors(obj) + schema.duplicates(obj)) == {
        (c["field"], c["reason"], c["message"]) for c in expected if c["field"] != about_rules
    }


def test_a_wrong_status_is_named_without_its_parent_as_real_servers_do(recorded: dict[str, Any]) -> None:
    crd, pair = recorded["crd create"]["req"]["body"], recorded["cr status invalid"]
    schema = StructuralSchema(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])

    found = schema.status_errors({"status": {"phase": 5}})

    assert causes(found) == {
        (c["field"], c["reason"], c["message"])
        for c in pair["resp"]["body"]["details"]["causes"]
        if c["field"] != "<nil>"
    }


@pytest.mark.parametrize(
    ("openapi", "value", "expected"),
    [
        ({"type": "string"}, None, ['f: Invalid value: "null": f in body must be of type string: "null"']),
        ({"type": "string", "nullable": True}, None, []),
        ({"type": "integer"}, 3.0, []),
        ({"type": "number"}, 3, []),
        ({"type": "integer"}, True, ['f: Invalid value: "boolean": f in body must be of type integer: "boolean"']),
        (
            {"type": "string", "format": "date-time"},
            5,
            ['f: Invalid value: "int64": f in body must be of type date-time: "int64"'],
        ),
        ({"x-kubernetes-int-or-string": True}, 1, []),
        ({"x-kubernetes-int-or-string": True}, "1", []),
        (
            {"type": "integer", "minimum": 3, "exclusiveMinimum": True},
            3,
            ["f: Invalid value: 3: f in body should be greater than 3"],
        ),
        (
            {"type": "number", "maximum": 1000000},
            1e7,
            ["f: Invalid value: 1e+07: f in body should be less than or equal to 1e+06"],
        ),
        ({"type": "integer", "multipleOf": 3}, 4, ["f: Invalid value: 4: f in body should be a multiple of 3"]),
        (
            {"type": "string", "minLength": 2},
            "é",
            ['f: Invalid value: "é": f in body should be at least 2 chars long'],
        ),
        ({"type": "string", "maxLength": 2, "pattern": "^a"}, "bcd", ["f: Too long: may not be more than 2 bytes"]),
        ({"type": "string", "pattern": "^a"}, "b", ["f: Invalid value: \"b\": f in body should match '^a'"]),
        (
            {"type": "array", "items": {"type": "string"}, "maxItems": 1},
            ["a", "b"],
            ["f: Too many: 2: must have at most 1 item"],
        ),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
            [],
            ["f: Invalid value: 0: f in body should have at least 1 items"],
        ),
        (
            {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "string"}},
            {"a": 1, "b": 2},
            ["f: Too many: 2: must have at most 1 item"],
        ),
        (
            {"type": "object", "additionalProperties": False},
            {"a": 1},
            ['f: Invalid value: "a": f.a in body is a forbidden property'],
        ),
        (
            {"type": "integer", "enum": [1, 2]},
            3,
            ['f: Unsupported value: 3: supported values: "1", "2"'],
        ),
        (
            {"type": "array", "items": {"type": "object", "required": ["x"]}},
            [{"x": 1}, {}],
            ["f[1].x: Required value"],
        ),
    ],
)
def test_each_kind_of_error_has_kube_openapis_words(openapi: dict[str, Any], value: Any, expected: list[str]) -> None:
    assert said(openapi, value) == expected


REQUIRES = [{"required": ["a"]}, {"required": ["b"]}]
NIL = '<nil>: Invalid value: "": '


@pytest.mark.parametrize(
    ("openapi", "value", "expected"),
    [
        ({"anyOf": REQUIRES}, {}, [NIL + '"f" must validate at least one schema (anyOf)', "f.a: Required value"]),
        (
            {"oneOf": REQUIRES},
            {},
            [NIL + '"f" must validate one and only one schema (oneOf). Found none valid', "f.a: Required value"],
        ),
        (
            {"oneOf": REQUIRES},
            {"a": 1, "b": 1},
            [NIL + '"f" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
        ),
        (
            {"allOf": REQUIRES},
            {"a": 1},
            ["f.b: Required value", NIL + '"f" must validate all the schemas (allOf)'],
        ),
        (
            {"allOf": REQUIRES},
            {},
            [
                "f.a: Required value",
                "f.b: Required value",
                NIL + '"f" must validate all the schemas (allOf). None validated',
            ],
        ),
        ({"not": {"required": ["a"]}}, {"a": 1}, [NIL + '"f" must not validate the schema (not)']),
        (
            {"anyOf": [{"required": ["a"]}, {"properties": {"b": {"allOf": [{"minimum": 3}]}}, "required": ["b"]}]},
            {"b": 1},
            [
                NIL + '"f" must validate at least one schema (anyOf)',
                "f.b: Invalid value: 1: f.b in body should be greater than or equal to 3",
                NIL + '"f.b" must validate all the schemas (allOf). None validated',
            ],
        ),
    ],
)
def test_failed_alternatives_are_told_with_their_best_branch(
    openapi: dict[str, Any], value: Any, expected: list[str]
) -> None:
    assert said({"type": "object"} | openapi, value) == expected


def test_a_null_that_may_be_there_is_not_looked_at_further() -> None:
    assert said({"type": "object", "nullable": True, "not": {"required": ["a"]}}, None) == []


def test_a_property_called_like_a_keyword_is_a_property() -> None:
    openapi = {"type": "object", "properties": {"if": {"type": "string"}, "allOf": {"type": "integer"}}}

    assert [text.partition(":")[0] for text in said(openapi, {"if": 1, "allOf": "x"})] == ["f.if", "f.allOf"]


def test_of_very_many_wrong_items_as_many_are_named_as_show_that_an_answer_cannot_tell_them_all() -> None:
    items = {"type": "array", "items": {"type": "integer"}}

    assert len(said(items, ["x"] * 20_000)) == MOST_TOLD + 1


def test_an_object_of_the_wrong_size_is_not_looked_into() -> None:
    schema = {"type": "object", "maxProperties": 1, "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}

    assert said({"type": "array", "items": schema}, [{"a": "x", "b": "y"}, {"a": "x"}]) == [
        "f[0]: Too many: 2: must have at most 1 item",
        'f[1].a: Invalid value: "string": f[1].a in body must be of type integer: "string"',
    ]


def test_an_enum_may_be_very_long_and_repeat_itself() -> None:
    enum = {"type": "integer", "enum": [*range(100_000), *range(100_000)]}

    assert said(enum, 99_999) == []
