"""What a CRD's schema may not contain, in kube-apiserver's words."""

from typing import Any

import pytest

from kcpctl.apiserver.schema.rules import schema_errors, unrecognized_formats

TEXT = {"type": "string"}
EXCLUSIVE = "S.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"
IDIOM = [{"type": "integer"}, {"type": "string"}]


def said(schema: dict[str, Any]) -> list[str]:
    return [f"{error.field}: {error.message}" for error in schema_errors(schema, "S")]


def below(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, ["S.type: Required value: must not be empty at the root"]),
        (TEXT, ['S.type: Invalid value: "string": must be object at the root']),
        (below(a={}), ["S.properties[a].type: Required value: must not be empty for specified object fields"]),
        (
            below(a={"type": "array", "items": {}}),
            ["S.properties[a].items.type: Required value: must not be empty for specified array items"],
        ),
        (below(a={"type": "array"}), ["S.properties[a].items: Required value: must be specified"]),
        (
            {"type": "object", "additionalProperties": TEXT},
            ["S.additionalProperties: Forbidden: must not be used at the root"],
        ),
        (
            below(a=below(b=TEXT) | {"additionalProperties": TEXT}),
            [EXCLUSIVE],
        ),
        (
            below(a=TEXT | {"anyOf": [{"type": "string"}]}),
            ["S.properties[a].anyOf[0].type: Forbidden: must be empty to be structural"],
        ),
        (
            below(a=TEXT | {"not": {"pattern": "["}}),
            [
                (
                    'S.properties[a].not.pattern: Invalid value: "[": must be a valid regular expression, but isn\'t: '
                    "error parsing regexp: missing closing ]: `[`"
                )
            ],
        ),
        (
            {"type": "object", "oneOf": [{"properties": {"a": {"minimum": 1}}}]},
            ["S.properties[a]: Required value: because it is defined in S.oneOf[0].properties[a]"],
        ),
        (
            below(metadata={"type": "object", "properties": {"labels": {"type": "object"}}}),
            [
                (
                    "S.properties[metadata]: Forbidden: must not specify anything other than name and generateName, "
                    "but metadata is implicitly specified"
                )
            ],
        ),
        (
            below(a={"x-kubernetes-int-or-string": True, "x-kubernetes-preserve-unknown-fields": True}),
            [
                (
                    "S.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if "
                    "x-kubernetes-int-or-string is true"
                )
            ],
        ),
        (
            below(a={"type": "object", "x-kubernetes-embedded-resource": True}),
            [
                (
                    "S.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource "
                    "is true without x-kubernetes-preserve-unknown-fields"
                )
            ],
        ),
        (
            below(a=TEXT | {"default": 3}),
            ['S.properties[a].default: Invalid value: "integer":  in body must be of type string: "integer"'],
        ),
        (
            below(a=below(b=TEXT) | {"default": {"c": 1}}),
            ['S.properties[a].default: Invalid value: {"c":1}: must not have unknown fields'],
        ),
        (
            below(kind=TEXT | {"default": "K"}),
            ["S.properties[kind].default: Forbidden: must not be set in top-level kind"],
        ),
        (
            below(a={"$ref": "#/x", "type": "string"}),
            ["S.properties[a].$ref: Forbidden: $ref is not supported"],
        ),
        (
            below(a={"type": "text"}),
            [
                (
                    'S.properties[a].type: Unsupported value: "text": supported values: "array", "boolean", "integer", '
                    '"number", "object", "string"'
                )
            ],
        ),
        (
            below(a={"type": "array", "items": TEXT, "x-kubernetes-list-type": "bag"}),
            [
                (
                    'S.properties[a].x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", '
                    '"set", "map"'
                )
            ],
        ),
        (
            below(
                a={
                    "type": "array",
                    "items": below(k=TEXT),
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                }
            ),
            [
                (
                    "S.properties[a].items.properties[k].default: Required value: this property is in "
                    "x-kubernetes-list-map-keys, so it must have a default or be a required property"
                )
            ],
        ),
        (
            below(a={"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"}),
            [
                (
                    "S.properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a "
                    "list with x-kubernetes-list-type=set"
                )
            ],
        ),
        (
            below(a=TEXT | {"x-kubernetes-validations": [{"rule": "true"}]}),
            [
                (
                    "S.properties[a].x-kubernetes-validations: Forbidden: validation rules (CEL) are not built into "
                    "this server; remove them, or install the CRD on another one"
                )
            ],
        ),
    ],
)
def test_a_broken_rule_is_named_with_its_place(schema: dict[str, Any], expected: list[str]) -> None:
    assert said(schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        below(a={"anyOf": IDIOM, "x-kubernetes-int-or-string": True}),
        below(a={"allOf": [{"anyOf": IDIOM}, {"pattern": "x"}], "x-kubernetes-int-or-string": True}),
        below(metadata={"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}}),
        below(a=TEXT | {"enum": ["a", "b"], "default": "a"}),
        below(a={"type": "object", "additionalProperties": True}),
    ],
)
def test_schemas_that_real_servers_take_are_taken(schema: dict[str, Any]) -> None:
    assert said(schema) == []


def test_formats_that_mean_nothing_are_told() -> None:
    assert unrecognized_formats(below(a=TEXT | {"format": "odd"}, b=TEXT | {"format": "date"})) == ["odd"]
