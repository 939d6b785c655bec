"""What is particular to each built-in kind."""

from base64 import b64encode
from typing import Any

import pytest

from kcpctl.apiserver.builtin import BUILT_IN, CONFIG_MAPS, EVENTS, EVENTS_OF_EVENTS, LEASES, SECRETS, SERVICE_ACCOUNTS
from kcpctl.apiserver.served import Served
from tests.kcpctl.apiserver.writing.hands import STRATEGIC, Hand, config_map, hand
from tests.kcpctl.apiserver.writing.refusals import causes, refused

REDACTED = "<secret contents redacted>"
FROZEN = "Forbidden: field is immutable when `immutable` is set"
KEY_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
ABOUT = {"kind": "ConfigMap", "namespace": "default", "name": "c1"}
CORE_EVENT = {"metadata": {"name": "e1"}, "involvedObject": ABOUT, "reason": "R", "message": "M", "type": "Normal"}
NEW_EVENT = {
    "metadata": {"name": "e2"},
    "eventTime": "2024-01-01T00:00:00.000000Z",
    "reportingController": "golden",
    "reportingInstance": "g-1",
    "action": "Act",
    "reason": "R2",
    "regarding": ABOUT,
    "note": "N",
    "type": "Normal",
}


@pytest.fixture
async def ann() -> Hand:
    return await hand()


def secret(**fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": "s1"}, **fields}


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


async def test_a_secret_turns_texts_into_data(ann: Hand) -> None:
    made = await ann.create(secret(data={"p": encoded("old"), "q": encoded("q")}, stringData={"p": "w"}), SECRETS)

    assert made["data"] == {"p": "dw==", "q": encoded("q")}
    assert made["type"] == "Opaque"
    assert "stringData" not in made
    patched = await ann.patch({"stringData": {"p": "x"}}, SECRETS, name="s1", media=STRATEGIC)
    assert patched["data"]["p"] == encoded("x")


@pytest.mark.parametrize(
    ("kind", "data", "messages"),
    [
        ("kubernetes.io/tls", {"tls.crt": ""}, ["data[tls.key]: Required value"]),
        ("kubernetes.io/ssh-auth", {"ssh-privatekey": ""}, ["data[ssh-privatekey]: Required value"]),
        ("kubernetes.io/basic-auth", {}, ["data[username]: Required value", "data[password]: Required value"]),
        ("kubernetes.io/basic-auth", {"password": ""}, []),
        ("kubernetes.io/dockercfg", {}, ["data[.dockercfg]: Required value"]),
        ("kubernetes.io/dockerconfigjson", {".dockerconfigjson": "{}"}, []),
        (
            "kubernetes.io/dockerconfigjson",
            {".dockerconfigjson": "{"},
            [f'data[.dockerconfigjson]: Invalid value: "{REDACTED}": unexpected end of JSON input'],
        ),
        (
            "kubernetes.io/service-account-token",
            {},
            ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
        ),
        ("helm.sh/release.v1", {}, []),
    ],
)
async def test_secrets_of_a_type_hold_what_the_type_needs(
    ann: Hand, kind: str, data: dict[str, str], messages: list[str]
) -> None:
    obj = secret(type=kind, data={key: encoded(text) for key, text in data.items()})

    if messages:
        assert causes(await refused(ann.create(obj, SECRETS))) == messages
    else:
        await ann.create(obj, SECRETS)


async def test_a_secret_keeps_its_type_and_an_immutable_one_its_data(ann: Hand) -> None:
    await ann.create(secret(immutable=True, data={"a": ""}), SECRETS)

    assert causes(await refused(ann.patch({"type": "x/y"}, SECRETS, name="s1"))) == [
        'type: Invalid value: "x/y": field is immutable'
    ]
    assert causes(await refused(ann.patch({"immutable": False, "data": {"b": ""}}, SECRETS, name="s1"))) == [
        f"immutable: {FROZEN}",
        f"data: {FROZEN}",
    ]


async def test_an_immutable_config_map_may_change_its_labels_only(ann: Hand) -> None:
    await ann.create(config_map(immutable=True, data={"a": "1"}))

    await ann.patch({"metadata": {"labels": {"a": "b"}}})

    assert causes(await refused(ann.patch({"data": {"z": "1"}, "binaryData": {"y": ""}}))) == [
        f"data: {FROZEN}",
        f"binaryData: {FROZEN}",
    ]


@pytest.mark.parametrize(
    ("data", "messages"),
    [
        (
            {"": "v", "a/b": "c"},
            [f'data[]: Invalid value: "": {KEY_RULE}', f'data[a/b]: Invalid value: "a/b": {KEY_RULE}'],
        ),
        ({"..a": "v"}, ["data[..a]: Invalid value: \"..a\": must not start with '..'"]),
        ({"k" * 254: "v"}, [f'data[{"k" * 254}]: Invalid value: "{"k" * 254}": must be no more than 253 characters']),
        ({"x": "y" * (1024 * 1024 + 1)}, ["[]: Too long: may not be more than 1048576 bytes"]),
    ],
)
async def test_keys_and_size_of_a_config_map_are_limited(ann: Hand, data: dict[str, str], messages: list[str]) -> None:
    assert causes(await refused(ann.create(config_map(data=data)))) == messages


async def test_a_key_is_text_or_binary(ann: Hand) -> None:
    assert causes(await refused(ann.create(config_map(data={"a": ""}, binaryData={"a": ""})))) == [
        'data[a]: Invalid value: "a": duplicate of key present in binaryData'
    ]


async def test_a_lease_lasts_and_is_handed_over_in_numbers_that_make_sense(ann: Hand) -> None:
    lease = {"metadata": {"name": "l1"}, "spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}}

    assert causes(await refused(ann.create(lease, LEASES))) == [
        "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
        "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
    ]
    made = await ann.create({"metadata": {"name": "l1"}, "spec": {"strategy": "OldestEmulationVersion"}}, LEASES)
    assert made["spec"] == {}


async def test_a_service_account_keeps_names_of_secrets_only(ann: Hand) -> None:
    annotated = {"kubernetes.io/enforce-mountable-secrets": "true"}
    account = {
        "metadata": {"name": "robot", "annotations": annotated},
        "secrets": [{"kind": "Secret", "name": "a"}, {}],
    }

    made = await ann.create(account, SERVICE_ACCOUNTS)

    assert made["secrets"] == [{"name": "a"}, {}]
    assert ann.warnings[0].startswith("metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated")
    await ann.patch({"metadata": {"labels": {"a": "b"}}}, SERVICE_ACCOUNTS, name="robot")
    assert not ann.warnings


async def test_an_event_is_served_in_both_groups(ann: Hand) -> None:
    await ann.create(CORE_EVENT, EVENTS)
    await ann.create(NEW_EVENT, EVENTS_OF_EVENTS)

    new = await ann.get("e1", EVENTS_OF_EVENTS)
    old = await ann.get("e2", EVENTS)

    assert new is not None
    assert old is not None
    new.pop("metadata")
    old.pop("metadata")
    assert new == {
        "kind": "Event",
        "apiVersion": "events.k8s.io/v1",
        "eventTime": None,
        "reason": "R",
        "regarding": ABOUT,
        "note": "M",
        "type": "Normal",
        "deprecatedSource": {},
        "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
    }
    assert old == {
        "kind": "Event",
        "apiVersion": "v1",
        "involvedObject": ABOUT,
        "reason": "R2",
        "message": "N",
        "source": {},
        "firstTimestamp": None,
        "lastTimestamp": None,
        "type": "Normal",
        "eventTime": "2024-01-01T00:00:00.000000Z",
        "action": "Act",
        "reportingComponent": "golden",
        "reportingInstance": "g-1",
    }


async def test_an_event_may_be_changed_through_either_group_and_no_change_is_none(ann: Hand) -> None:
    made = await ann.create(NEW_EVENT, EVENTS_OF_EVENTS)

    assert await ann.update(made, EVENTS_OF_EVENTS) == made
    await ann.patch({"message": "other"}, EVENTS, name="e2")
    found = await ann.get("e2", EVENTS_OF_EVENTS)
    assert found is not None
    assert found["note"] == "other"


async def test_new_events_are_checked_strictly_and_old_ones_hardly(ann: Hand) -> None:
    new = await refused(ann.create({"metadata": {"name": "e3"}}, EVENTS_OF_EVENTS, namespace="default"))
    elsewhere = await refused(ann.create(CORE_EVENT | {"involvedObject": ABOUT | {"namespace": "other"}}, EVENTS))

    assert new.message == (
        'Event "e3" is invalid: [eventTime: Required value, type: Invalid value: "": has invalid value: ]'
    )
    assert causes(elsewhere) == ['involvedObject.namespace: Invalid value: "other": does not match event.namespace']
    await ann.create({"metadata": {"name": "Any_Name"}, "involvedObject": {}}, EVENTS)


async def test_a_new_event_never_changes_what_it_says(ann: Hand) -> None:
    await ann.create(NEW_EVENT, EVENTS_OF_EVENTS)
    series = {"count": 1, "lastObservedTime": None}

    status = await refused(ann.patch({"note": "x", "series": series}, EVENTS_OF_EVENTS, name="e2"))
    good = {"count": 2, "lastObservedTime": "2024-01-01T00:00:01.000000Z"}
    patched = await ann.patch({"series": good}, EVENTS_OF_EVENTS, name="e2")

    assert causes(status) == [
        'series.count: Invalid value: "": should be at least 2',
        "series.lastObservedTime: Required value",
        'message: Invalid value: "x": field is immutable',
    ]
    assert patched["series"] == good


@pytest.mark.parametrize(
    ("served", "obj", "cells"),
    [
        (CONFIG_MAPS, {"data": {"a": ""}, "binaryData": {"b": ""}}, {"Data": 2}),
        (SECRETS, {"type": "t", "data": {"a": ""}}, {"Type": "t", "Data": 1}),
        (LEASES, {"spec": {"holderIdentity": "me"}}, {"Holder": "me"}),
        (LEASES, {"spec": {}}, {"Holder": ""}),
        (
            EVENTS,
            CORE_EVENT | {"source": {"component": "c", "host": "h"}, "firstTimestamp": "t1", "lastTimestamp": "t2"},
            {
                "Last Seen": "t2",
                "First Seen": "t1",
                "Object": "configmap/c1",
                "Source": "c, h",
                "Count": 1,
                "Message": "M",
            },
        ),
        (
            EVENTS_OF_EVENTS,
            {"apiVersion": "events.k8s.io/v1", **NEW_EVENT},
            {
                "Last Seen": "2024-01-01T00:00:00.000000Z",
                "Source": "golden, g-1",
                "Message": "N",
                "Object": "configmap/c1",
            },
        ),
    ],
)
def test_columns_show_what_kubectl_shows(served: Served, obj: dict[str, Any], cells: dict[str, Any]) -> None:
    shown = {column.name: column.cell({"metadata": {"name": "n"}, **obj}) for column in served.columns}

    assert {name: shown[name] for name in cells} == cells


@pytest.mark.parametrize("served", BUILT_IN, ids=lambda kind: kind.qualified)
def test_the_published_schema_knows_every_field_and_how_lists_merge(served: Served) -> None:
    schema = served.schema
    assert schema is not None

    owners = schema["properties"]["metadata"]["properties"]["ownerReferences"]

    assert owners["x-kubernetes-patch-merge-key"] == "uid"
    assert served.merge_keys is not None
    assert served.merge_keys["metadata.ownerReferences"] == {"key": "uid"}
    assert {"apiVersion", "kind", "metadata"} <= schema["properties"].keys()
