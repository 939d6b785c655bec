"""Whether applying again would change anything, by the managedFields that kube-apiserver writes."""

import json
from typing import Any

import pytest

from informers.runtime.ownership import is_applied


def owning(fields: dict[str, Any], **status: Any) -> dict[str, Any]:
    entry = {
        "manager": "team",
        "operation": "Apply",
        "apiVersion": "example.com/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:status": fields},
        "subresource": "status",
    }
    other = {**entry, "manager": "other", "fieldsV1": {"f:status": {"f:theirs": {}}}}
    return {"metadata": {"managedFields": [other, entry]}, "status": status}


def applied(body: dict[str, Any], **status: Any) -> bool:
    return is_applied(body, {"status": status}, manager="team", subresource="status")


def test_nothing_is_applied_before_the_first_apply() -> None:
    assert not applied({"metadata": {}, "status": {"members": 1}}, members=1)


def test_other_managers_subresources_and_operations_do_not_count() -> None:
    body = owning({"f:members": {}}, members=1)

    assert not is_applied(body, {"status": {"members": 1}}, manager="team")
    assert not is_applied(body, {"status": {"members": 1}}, manager="someone", subresource="status")
    body["metadata"]["managedFields"][1]["operation"] = "Update"
    assert not applied(body, members=1)


def test_owned_fields_with_the_wished_values_are_applied_beside_those_of_others() -> None:
    body = owning({"f:members": {}, "f:deep": {"f:er": {}}}, members=1, deep={"er": "x", "theirs": 1}, theirs=2)

    assert applied(body, members=1, deep={"er": "x"})


def test_another_value_a_new_field_and_one_to_let_go_are_each_a_reason_to_apply() -> None:
    body = owning({"f:members": {}, "f:ready": {}}, members=1, ready=1)

    assert applied(body, members=1, ready=1)
    assert not applied(body, members=2, ready=1)
    assert not applied(body, members=True, ready=1)
    assert not applied(body, members=1, ready=1, more=1)
    assert not applied(body, members=1)


def test_a_field_that_somebody_removed_is_applied_again() -> None:
    assert not applied(owning({"f:members": {}, "f:ready": {}}, members=1), members=1, ready=1)


CONDITIONS: dict[str, Any] = {"f:conditions": {'k:{"type":"Ready"}': {".": {}, "f:type": {}, "f:status": {}}}}
READY = {"type": "Ready", "status": "True"}
THEIRS = {"type": "Theirs", "status": "False"}


def test_items_of_a_list_map_are_compared_by_their_keys() -> None:
    body = owning(CONDITIONS, conditions=[THEIRS, READY])

    assert applied(body, conditions=[READY])
    assert not applied(body, conditions=[{**READY, "status": "False"}])
    assert not applied(body, conditions=[READY, THEIRS])
    assert not applied(body, conditions=[])
    assert not applied(owning(CONDITIONS, conditions=[THEIRS]), conditions=[READY])


def test_sets_hold_their_values_in_any_order() -> None:
    body = owning({"f:urls": {'v:"a"': {}, 'v:"b"': {}}}, urls=["theirs", "b", "a"])

    assert applied(body, urls=["a", "b"])
    assert not applied(body, urls=["a"])
    assert not applied(body, urls=["a", "c"])


@pytest.mark.parametrize("value", [["b", "a"], {"k": "v"}])
def test_atomic_lists_and_maps_are_compared_whole(value: Any) -> None:
    body = owning({"f:whole": {}}, whole=value)

    assert applied(body, whole=value)
    assert not applied(body, whole=json.loads(json.dumps(value).replace("a", "x").replace("v", "x")))


def test_an_empty_map_is_applied_when_there_is_a_map() -> None:
    assert applied(owning({"f:map": {}}, map={"theirs": 1}), map={})
