"""Creating objects."""

import re
import subprocess
import sys
from random import Random

import pytest

from kcpctl.apiserver.admission import AdmissionRequest
from kcpctl.apiserver.builtin import LEASES, NAMESPACES, SECRETS
from kcpctl.apiserver.failures import forbidden
from kcpctl.apiserver.writing.identity import generated_name
from tests.kcpctl.apiserver.kinds import WIDGETS
from tests.kcpctl.apiserver.writing.hands import Hand, config_map, hand, namespace, widget
from tests.kcpctl.apiserver.writing.refusals import causes, refused


async def test_the_server_owns_identity_and_time_whatever_the_client_says(ann: Hand) -> None:
    claimed = {
        "uid": "mine",
        "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 3,
        "selfLink": "/x",
        "managedFields": [{"manager": "me"}],
        "generation": 7,
    }

    made = await ann.create(config_map(metadata=claimed, data={"a": "1"}))

    assert ann.code == 201
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", made["metadata"].pop("uid"))
    assert made == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "c1",
            "namespace": "default",
            "resourceVersion": "102",
            "generation": 7,
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "data": {"a": "1"},
    }


def test_a_process_and_what_it_forked_give_no_two_objects_one_uid() -> None:
    program = """
import os
from kcpctl.apiserver.admission import SHARD
from kcpctl.apiserver.writing.identity import begin

for forks in (0, 1):
    forks and os.fork()
    begin(metadata := {}, SHARD, "")
    os.write(1, metadata["uid"].encode() + b" ")
"""
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, timeout=30)

    assert len(set(found.stdout.split())) == 3


async def test_a_taken_name_is_refused_and_says_if_the_object_is_going_away(ann: Hand) -> None:
    await ann.create(config_map(metadata={"finalizers": ["ex.com/hold"]}))

    there = await refused(ann.create(config_map()))
    await ann.delete()
    going = await refused(ann.create(config_map()))

    assert (there.code, there.reason, there.message) == (409, "AlreadyExists", 'configmaps "c1" already exists')
    assert going.message == 'object is being deleted: configmaps "c1" already exists'


async def test_a_generated_name_begins_as_asked_and_avoids_what_is_taken() -> None:
    ann = await hand(seed=1)
    first = generated_name("gen-", Random(1))
    await ann.create(config_map(first))

    made = await ann.create({"metadata": {"generateName": "gen-"}})

    assert re.fullmatch("gen-[bcdfghjklmnpqrstvwxz2456789]{5}", made["metadata"]["name"])
    assert made["metadata"]["name"] != first


async def test_after_eight_taken_names_the_server_gives_up() -> None:
    ann = await hand(seed=1)
    rng = Random(1)
    for _ in range(8):
        await ann.create(config_map(generated_name("gen-", rng)))

    status = await refused(ann.create({"metadata": {"generateName": "gen-"}}))

    assert (status.code, status.reason) == (409, "AlreadyExists")
    assert status.message.endswith("the server was not able to generate a unique name for the object")
    assert status.details is not None
    assert status.details.retry_after_seconds == 1
    assert (await ann.create({"metadata": {"generateName": "gen-"}}))["metadata"]["name"]


async def test_a_long_prefix_leaves_room_for_the_random_letters(ann: Hand) -> None:
    made = await ann.create({"metadata": {"generateName": "x" * 100}})

    assert len(made["metadata"]["name"]) == 63


async def test_a_resource_version_makes_no_sense_on_a_new_object(ann: Hand) -> None:
    status = await refused(ann.create(config_map(metadata={"resourceVersion": "5"})))

    assert (status.code, status.reason) == (500, "")
    assert status.message == "resourceVersion should not be set on objects to be created"


async def test_a_dry_run_stores_nothing_and_shows_no_resource_version(ann: Hand) -> None:
    made = await ann.create(config_map(), query="dryRun=All")

    assert ann.code == 201
    assert made["metadata"]["uid"]
    assert "resourceVersion" not in made["metadata"]
    assert await ann.get() is None
    await ann.create(config_map())
    assert (await refused(ann.create(config_map(), query="dryRun=All"))).reason == "AlreadyExists"


async def test_objects_need_a_namespace_that_is_there_and_stays(ann: Hand) -> None:
    await ann.create(namespace("going"), NAMESPACES)
    await ann.delete("going", NAMESPACES)

    missing = await refused(ann.create(config_map(), namespace="missing"))
    going = await refused(ann.create(config_map(), namespace="going"))

    assert (missing.code, missing.message) == (404, 'namespaces "missing" not found')
    assert going.code == 403
    assert going.message == (
        'configmaps "c1" is forbidden: unable to create new content in namespace going because it is being terminated'
    )
    assert causes(going) == ["metadata.namespace: namespace going is being terminated"]


async def test_the_namespace_of_the_body_must_be_that_of_the_path(ann: Hand) -> None:
    status = await refused(ann.create(config_map(metadata={"namespace": "other"})))

    assert status.code == 400
    assert status.message == "the namespace of the provided object does not match the namespace sent on the request"


async def test_custom_resources_must_say_the_kind_that_the_path_means(ann: Hand) -> None:
    other = await refused(ann.create({**widget("nk"), "kind": "Other"}, WIDGETS))
    none = await refused(ann.create({"metadata": {"name": "nk"}}, WIDGETS))
    version = await refused(ann.create({**widget("nk"), "apiVersion": "golden.example.com/v2"}, WIDGETS))

    assert (other.code, other.message) == (
        422,
        'Other.golden.example.com "nk" is invalid: kind: Invalid value: "Other": must be Widget',
    )
    assert none.message == (
        "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in "
        '\'{"metadata": {"name": "nk"}}\' ({"metadata": {"name": "nk"}})'
    )
    assert version.message == (
        "the API version in the data (golden.example.com/v2) does not match the expected API version "
        "(golden.example.com/v1)"
    )


async def test_advice_about_finalizers_is_for_custom_resources_only(ann: Hand) -> None:
    await ann.create(widget(metadata={"finalizers": ["nodomain", "ex.com", "ex.com/x"]}), WIDGETS)
    warnings = ann.warnings
    status = await refused(ann.create(config_map(metadata={"finalizers": ["nodomain"]})))

    advice = "avoid accidental conflicts with other finalizer writers"
    assert warnings == (
        f'metadata.finalizers: "nodomain": prefer a domain-qualified finalizer name to {advice}',
        f'metadata.finalizers: "ex.com": prefer a domain-qualified finalizer name including a path (/) to {advice}',
    )
    why = "name is neither a standard finalizer name nor is it fully qualified"
    assert causes(status) == [f'metadata.finalizers[0]: Invalid value: "nodomain": {why}']


async def test_an_owner_that_is_named_twice_is_kept_once(ann: Hand) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}

    made = await ann.create(config_map(metadata={"ownerReferences": [owner, owner]}))

    assert made["metadata"]["ownerReferences"] == [owner]
    assert [w.partition(";")[0] for w in ann.warnings] == [".metadata.ownerReferences contains duplicate entries"]


async def test_admission_sees_objects_before_they_are_checked_and_may_change_or_refuse_them() -> None:
    seen = []

    async def rule(request: AdmissionRequest) -> None:
        seen.append((request.verb, request.old))
        if "refuse" in (request.obj["metadata"].get("labels") or ()):
            raise forbidden(request.served, request.obj["metadata"]["name"], "no labels here")
        request.obj["data"] = {"added": request.context.user.name}
        request.context.warnings.append("changed")

    ann = await hand(rules=[rule])
    seen.clear()

    made = await ann.create(config_map())
    status = await refused(ann.create(config_map("c2", metadata={"labels": {"refuse": "b"}})))

    assert made["data"] == {"added": "ann"}
    assert ann.warnings == ("changed",)
    assert status.message == 'configmaps "c2" is forbidden: no labels here'
    assert seen == [("create", None), ("create", None)]


async def test_what_etcd_would_not_take_is_refused(ann: Hand) -> None:
    status = await refused(ann.create(widget(spec={"x": "y" * 1_600_000}), WIDGETS))

    assert (status.code, status.message) == (500, "etcdserver: request is too large")


@pytest.mark.parametrize("served", [SECRETS, LEASES], ids=["other kind", "other group"])
async def test_another_kind_of_object_is_refused(ann: Hand, served: object) -> None:
    assert isinstance(served, type(SECRETS))

    status = await refused(ann.create(config_map(), served))

    package = "core" if served is SECRETS else "coordination"
    assert status.message == (
        f'ConfigMap in version "v1" cannot be handled as a {served.kind}: converting (v1.ConfigMap) to '
        f"({package}.{served.kind}): unknown conversion"
    )
