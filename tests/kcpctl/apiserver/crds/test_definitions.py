"""What a definition may say and how it may change, in kube-apiserver's words."""

import copy
from typing import Any

import pytest

from tests.golden import pairs
from tests.kcpctl.apiserver.crds.conftest import CRDS, TEXT, Server, crd

V1 = crd()["spec"]["versions"][0]
SCHEMA = {"openAPIV3Schema": {"type": "object"}}
LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"group": "example"}, ("spec.group", 'Invalid value: "example": should be a domain with at least one dot')),
        ({"group": ""}, ("spec.group", "Required value")),
        ({"scope": ""}, ("spec.scope", "Required value")),
        (
            {"scope": "Galaxy"},
            ("spec.scope", 'Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"'),
        ),
        ({"names": {"kind": ""}}, ("spec.names.kind", "Required value")),
        ({"names": {"shortNames": ["W"]}}, ("spec.names.shortNames[0]", f'Invalid value: "W": {LABEL}')),
        (
            {"names": {"listKind": "Widget"}},
            ("spec.names.listKind", 'Invalid value: "Widget": kind and listKind may not be the same'),
        ),
        (
            {"versions": [V1, V1 | {"storage": False}]},
            ("spec.versions", 'Invalid value: ["v1","v1"]: must contain unique version names'),
        ),
        (
            {"version": {"storage": False}},
            ("spec.versions", 'Invalid value: ["v1"]: must have exactly one version marked as storage version'),
        ),
        ({"version": {"name": "V1"}}, ("spec.versions[0].name", f'Invalid value: "V1": {LABEL}')),
        (
            {"version": {"deprecationWarning": "old"}},
            (
                "spec.versions[0].deprecationWarning",
                'Invalid value: "old": can only be set for deprecated versions',
            ),
        ),
        (
            {"conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}}},
            (
                "spec.conversion.strategy",
                (
                    "Forbidden: conversion webhooks are not built into this server; use None, or install the CRD on "
                    "another one"
                ),
            ),
        ),
        (
            {"version": {"selectableFields": [{"jsonPath": ".spec"}]}},
            (
                "spec.versions[0].selectableFields[0].jsonPath",
                (
                    'Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string '
                    "fields and strings with formats are allowed."
                ),
            ),
        ),
        (
            {
                "version": {
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": {"type": "object", "enum": [1]}},
                }
            },
            (
                "spec.versions[0].schema.openAPIV3Schema",
                (
                    'Invalid value: ["enum"]: only [Description Type Format Title Maximum ExclusiveMaximum Minimum '
                    "ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required "
                    "Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at "
                    "the root of the schema if the status subresource is enabled"
                ),
            ),
        ),
    ],
)
async def test_a_wrong_definition_is_refused_with_the_field(
    server: Server, changes: dict[str, Any], expected: tuple[str, str]
) -> None:
    refused = await server.post(CRDS, crd(**copy.deepcopy(changes)))

    assert refused.status == 422
    assert expected in refused.causes


NOT_OURS = {
    "crd bad cel": "validation rules are not built",
    "crd cel msgexpr cost": "validation rules are not built",
    "crd cel cost": "validation rules are not built",
    "crd two storage": "we show the names of the versions, not 70 kB of Go structs",
    "crd names conflict": "is accepted; see the lifecycle",
}


async def test_recorded_refusals_are_given_in_the_same_words(server: Server) -> None:
    compared = 0
    for pair in pairs("golden.jsonl"):
        is_creation = pair["req"]["method"] == "POST" and "customresourcedefinitions" in pair["req"]["path"]
        if not is_creation or pair["resp"].get("status") != 422 or pair["id"] in NOT_OURS:
            continue
        refused = await server.post(pair["req"]["path"], pair["req"]["body"])
        about_rules = {cause for cause in refused.causes if "(CEL)" in cause[1]}
        wanted = {(c["field"], c["message"]) for c in pair["resp"]["body"]["details"]["causes"]}
        assert refused.causes - about_rules == wanted, pair["id"]
        compared += 1

    assert compared == 15


async def test_what_names_the_resource_cannot_change(server: Server) -> None:
    found = await server.establish(crd())
    found["spec"]["scope"] = "Namespaced"
    found["spec"]["names"]["kind"] = "Gadget"
    found["spec"]["names"]["plural"] = "gadgets"

    refused = await server.put(f"{CRDS}/widgets.example.com", found)

    assert refused.causes == {
        ("spec.scope", 'Invalid value: "Namespaced": field is immutable'),
        ("spec.names.kind", 'Invalid value: "Gadget": field is immutable'),
        ("spec.names.plural", 'Invalid value: "gadgets": field is immutable'),
    }


async def test_a_version_that_was_stored_must_stay_until_it_is_struck_off(server: Server) -> None:
    found = await server.establish(crd())
    second = copy.deepcopy(V1) | {"name": "v2"}
    found["spec"]["versions"] = [found["spec"]["versions"][0] | {"storage": False}, second]
    found = (await server.put(f"{CRDS}/widgets.example.com", found)).body
    assert found["status"]["storedVersions"] == ["v1", "v2"]

    found["spec"]["versions"] = found["spec"]["versions"][1:]
    refused = await server.put(f"{CRDS}/widgets.example.com", found)
    await server.patch(f"{CRDS}/widgets.example.com/status", {"status": {"storedVersions": ["v2"]}})
    accepted = await server.patch(f"{CRDS}/widgets.example.com", {"spec": {"versions": found["spec"]["versions"]}})

    assert refused.causes == {
        (
            "status.storedVersions[0]",
            (
                'Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain '
                "in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 "
                "from status.storedVersions"
            ),
        )
    }
    assert accepted.status == 200


async def test_a_schema_that_was_accepted_once_is_not_looked_at_again(server: Server) -> None:
    found = await server.establish(crd())
    await server.patch(f"{CRDS}/widgets.example.com", {"metadata": {"labels": {"a": "b"}}})

    changed = await server.patch(f"{CRDS}/widgets.example.com", {"spec": {"names": {"shortNames": ["wd"]}}})

    assert (changed.status, changed.body["metadata"]["generation"]) == (200, found["metadata"]["generation"] + 1)
    assert (await server.rested("widgets.example.com"))["status"]["acceptedNames"]["shortNames"] == ["wd"]


async def test_new_formats_that_mean_nothing_are_told(server: Server) -> None:
    definition = crd()
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    schema["properties"]["color"] = TEXT | {"format": "shade"}

    created = await server.post(CRDS, definition)
    again = await server.patch(f"{CRDS}/widgets.example.com", {"metadata": {"labels": {"a": "b"}}})

    assert (created.warnings, again.warnings) == (['299 - "unrecognized format \\"shade\\""'], [])


async def test_groups_of_the_community_need_a_note(server: Server) -> None:
    definition = crd(group="x.k8s.io")
    definition["metadata"]["name"] = "widgets.x.k8s.io"
    refused = await server.post(CRDS, definition)
    definition["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}

    found = await server.establish(definition)

    assert refused.status == 422
    assert server.conditions(found)["KubernetesAPIApprovalPolicyConformant"] == (
        "False",
        "UnapprovedAnnotation",
        'not approved: "unapproved, a test"',
    )


async def test_unknown_fields_of_a_definition_are_told(server: Server) -> None:
    definition = crd()
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["typ"] = "object"

    created = await server.post(CRDS, definition)

    assert created.warnings == ['299 - "unknown field \\"spec.versions[0].schema.openAPIV3Schema.typ\\""']
