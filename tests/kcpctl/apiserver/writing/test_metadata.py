"""What metadata may say."""

from typing import Any

import pytest

from kcpctl.apiserver.builtin import CONFIG_MAPS, EVENTS, NAMESPACES
from kcpctl.apiserver.served import FieldError, Served
from kcpctl.apiserver.writing.metadata import errors_on_create, errors_on_update

GOOD = {"name": "c1", "namespace": "default"}
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
BOTH = "finalizer orphan and foregroundDeletion cannot be both set"
EVENT_OWNER = '{"apiVersion":"v1","kind":"Event","name":"o","uid":"u"}'
NEGATIVE = "must be greater than or equal to 0"


def wrong(field: str, value: str, why: str) -> str:
    return f"metadata.{field}: Invalid value: {value}: {why}"


def said(errors: list[FieldError]) -> list[str]:
    return [f"{error.field}: {error.message}" for error in errors]


@pytest.mark.parametrize(
    ("served", "metadata", "messages"),
    [
        (CONFIG_MAPS, {}, []),
        (CONFIG_MAPS, {"name": ""}, ["metadata.name: Required value: name or generateName is required"]),
        (CONFIG_MAPS, {"name": "Bad_Name"}, [wrong("name", '"Bad_Name"', SUBDOMAIN)]),
        (CONFIG_MAPS, {"generateName": "ok-"}, []),
        (CONFIG_MAPS, {"generateName": "No-"}, [wrong("generateName", '"No-"', SUBDOMAIN)]),
        (NAMESPACES, {"name": "a.b"}, [wrong("name", '"a.b"', "must not contain dots")]),
        (EVENTS, {"name": "Any_Name"}, []),
        (EVENTS, {"name": "a/b%"}, [wrong("name", '"a/b%"', f"may not contain '{char}'") for char in "/%"]),
        (EVENTS, {"name": ".."}, [wrong("name", '".."', "may not be '..'")]),
        (CONFIG_MAPS, {"generation": -1}, [wrong("generation", "-1", NEGATIVE)]),
        (CONFIG_MAPS, {"annotations": {"UPPER.Case/ok": "v"}}, []),
        (
            CONFIG_MAPS,
            {"annotations": {"x": "y" * 262_144}},
            ["metadata.annotations: Too long: may not be more than 262144 bytes"],
        ),
        (
            CONFIG_MAPS,
            {"finalizers": ["orphan", "foregroundDeletion"]},
            [wrong("finalizers", '["orphan","foregroundDeletion"]', BOTH)],
        ),
        (
            CONFIG_MAPS,
            {"ownerReferences": [OWNER | {"apiVersion": "a/b/c", "uid": ""}]},
            [
                wrong("ownerReferences[0].apiVersion", '"a/b/c"', "must be <group>/<version> or <version>"),
                "metadata.ownerReferences[0].uid: Required value: must not be empty",
            ],
        ),
        (
            CONFIG_MAPS,
            {"ownerReferences": [OWNER | {"kind": "Event"}]},
            [wrong("ownerReferences[0]", EVENT_OWNER, "/v1, Kind=Event is disallowed from being an owner")],
        ),
    ],
)
def test_new_metadata(served: Served, metadata: dict[str, Any], messages: list[str]) -> None:
    assert said(errors_on_create(served, GOOD | metadata)) == messages


def test_only_one_owner_may_control() -> None:
    owners = [OWNER | {"controller": True}, OWNER | {"name": "p", "uid": "v", "controller": True}]

    (error,) = errors_on_create(CONFIG_MAPS, GOOD | {"ownerReferences": owners})

    assert error.message.endswith(
        'Only one reference can have Controller set to true. Found "true" in references for ConfigMap/o and ConfigMap/p'
    )


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        ({}, []),
        ({"generation": 2}, ["metadata.generation: Invalid value: 2: must not be decremented"]),
        ({"generation": 4}, []),
        ({"name": "c2"}, ['metadata.name: Invalid value: "c2": field is immutable']),
        (
            {"deletionGracePeriodSeconds": 3},
            ["metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable"],
        ),
        ({"labels": {"a": "b c"}}, None),
    ],
)
def test_changed_metadata(change: dict[str, Any], messages: list[str] | None) -> None:
    old = GOOD | {"generation": 3, "uid": "u"}

    found = said(errors_on_update(CONFIG_MAPS, old | change, old))

    if messages is None:
        assert found[0].startswith('metadata.labels: Invalid value: "b c": a valid label must be')
    else:
        assert found == messages
