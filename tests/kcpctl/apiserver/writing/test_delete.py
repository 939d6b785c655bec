"""Deleting objects."""

import asyncio
import json

import pytest

from informers.tasks import background
from kcpctl.apiserver.admission import AdmissionRequest
from kcpctl.apiserver.builtin import LEASES, NAMESPACES, SECRETS
from kcpctl.apiserver.failures import forbidden
from tests.kcpctl.apiserver.kinds import WIDGETS
from tests.kcpctl.apiserver.writing.hands import Hand, config_map, hand, namespace, widget
from tests.kcpctl.apiserver.writing.refusals import refused

POLICIES = '"Foreground", "Background", "Orphan", "nil"'
OPTIONS = 'DeleteOptions.meta.k8s.io "" is invalid: '


async def test_an_object_that_nothing_holds_is_gone_and_the_answer_says_which(ann: Hand) -> None:
    made = await ann.create(config_map())
    lease = await ann.create({"metadata": {"name": "l1"}}, LEASES)

    assert await ann.delete() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "c1", "kind": "configmaps", "uid": made["metadata"]["uid"]},
    }
    assert (await ann.delete("l1", LEASES))["details"] == {
        "name": "l1",
        "group": "coordination.k8s.io",
        "kind": "leases",
        "uid": lease["metadata"]["uid"],
    }
    assert await ann.get() is None
    assert (await refused(ann.delete())).message == 'configmaps "c1" not found'


async def test_finalizers_hold_an_object_and_the_answer_shows_it(ann: Hand) -> None:
    made = await ann.create(config_map(metadata={"finalizers": ["ex.com/hold"], "generation": 4}))
    await ann.clock.advance(60)

    going = await ann.delete()
    again = await ann.delete()

    assert going == again == await ann.get()
    assert going["metadata"] == made["metadata"] | {
        "resourceVersion": "103",
        "deletionTimestamp": "2026-01-01T00:01:00Z",
        "deletionGracePeriodSeconds": 0,
        "generation": 5,
    }


async def test_preconditions_name_what_does_not_match(ann: Hand) -> None:
    uid = (await ann.create(config_map()))["metadata"]["uid"]

    other = await refused(ann.delete(options={"preconditions": {"uid": "bad"}}))
    older = await refused(ann.delete(options={"preconditions": {"resourceVersion": "1"}}))
    namespace_ = await refused(ann.delete("default2", NAMESPACES, {"preconditions": {"uid": "bad"}}))

    assert (other.code, other.details and other.details.kind) == (409, "ConfigMap")
    assert other.message == (
        f'Operation cannot be fulfilled on ConfigMap "c1": the UID in the precondition (bad) does not match the UID in '
        f"record ({uid}). The object might have been deleted and then recreated"
    )
    assert older.message == (
        'Operation cannot be fulfilled on ConfigMap "c1": the ResourceVersion in the precondition (1) does not match '
        "the ResourceVersion in record (102). The object might have been modified"
    )
    assert namespace_.code == 404
    await ann.delete(options={"preconditions": {"uid": uid, "resourceVersion": "102"}})


@pytest.mark.parametrize(
    ("options", "query", "message"),
    [
        (
            {"propagationPolicy": "Nope"},
            "",
            f'propagationPolicy: Unsupported value: "Nope": supported values: {POLICIES}',
        ),
        (
            {"propagationPolicy": "Orphan", "orphanDependents": True},
            "",
            'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
        ),
        (None, "dryRun=Foo", 'dryRun: Unsupported value: ["Foo"]: supported values: "All"'),
    ],
)
async def test_options_that_make_no_sense_are_refused(ann: Hand, options: object, query: str, message: str) -> None:
    await ann.create(config_map())

    status = await refused(ann.delete(options=options, query=query))

    assert (status.code, status.message) == (422, OPTIONS + message)


async def test_a_body_that_is_no_options_is_a_bad_request(ann: Hand) -> None:
    await ann.create(config_map())

    kind = await refused(ann.delete(options={"apiVersion": "v1", "kind": "ConfigMap"}))
    typed = await refused(ann.delete(options={"propagationPolicy": 5}))
    number = await refused(ann.delete(query="gracePeriodSeconds=x"))

    assert kind.message == (
        'no kind "ConfigMap" is registered for version "v1" in scheme '
        '"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"'
    )
    assert typed.message == (
        "json: cannot unmarshal number into Go struct field DeleteOptions.propagationPolicy of type "
        "v1.DeletionPropagation"
    )
    assert kind.code == typed.code == number.code == 400
    await ann.delete(options={"apiVersion": "v1", "kind": "DeleteOptions", "bogus": 1, "gracePeriodSeconds": 30})


async def test_options_may_be_yaml_or_protobuf(ann: Hand) -> None:
    await ann.create(config_map())
    dry_run = b"k8s\x00\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions\x12\x05\x2a\x03All\x1a\x00\x22\x00"

    await ann.delete(options=dry_run, media="application/vnd.kubernetes.protobuf")
    there = await ann.get()
    await ann.delete(options=b"propagationPolicy: Background\n", media="application/yaml")

    assert there is not None
    assert await ann.get() is None


async def test_a_dry_run_deletes_nothing(ann: Hand) -> None:
    made = await ann.create(config_map())

    answer = await ann.delete(query="dryRun=All")

    assert answer["status"] == "Success"
    assert await ann.get() == made


async def test_background_deletion_does_not_wait_for_a_garbage_collector(ann: Hand) -> None:
    await ann.create(config_map(metadata={"finalizers": ["foregroundDeletion"]}))

    assert (await ann.delete(options={"propagationPolicy": "Background"}))["status"] == "Success"


@pytest.mark.parametrize("policy", ["Orphan", "Foreground"])
async def test_without_dependents_every_policy_deletes_at_once(ann: Hand, policy: str) -> None:
    await ann.create(config_map())

    assert (await ann.delete(options={"propagationPolicy": policy}))["status"] == "Success"
    assert await ann.get() is None


async def test_orphans_lose_the_owner_that_goes_and_keep_the_others(ann: Hand) -> None:
    uid = (await ann.create(config_map()))["metadata"]["uid"]
    owners = [{"apiVersion": "v1", "kind": "ConfigMap", "name": n, "uid": u} for n, u in (("c1", uid), ("c2", "u2"))]
    await ann.create({"metadata": {"name": "s1", "ownerReferences": owners}}, SECRETS)
    await ann.create(widget("w1", metadata={"ownerReferences": owners[:1]}), WIDGETS)

    await ann.delete(options={"propagationPolicy": "Orphan"})

    secret, custom = await ann.get("s1", SECRETS), await ann.get("w1", WIDGETS)
    assert secret is not None
    assert custom is not None
    assert secret["metadata"]["ownerReferences"] == owners[1:]
    assert "ownerReferences" not in custom["metadata"]


async def test_very_many_orphans_all_lose_their_owner(ann: Hand) -> None:
    """More than are looked at in one step."""
    uid = (await ann.create(config_map()))["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "c1", "uid": uid}
    await ann.create({"metadata": {"name": "s0", "ownerReferences": [owner]}}, SECRETS)
    one = await ann.storage.get("/registry/core/secrets/_/default/s0")
    assert one is not None
    for number in range(1, 1100):
        await ann.storage.create(f"/registry/core/secrets/_/default/s{number}", one.value)

    await ann.delete(options={"propagationPolicy": "Orphan"})

    secrets = (await ann.storage.range("/registry/core/secrets/")).records
    assert len(secrets) == 1100
    assert not any(uid.encode() in record.value for record in secrets)


async def test_foreground_deletion_of_an_owner_is_refused_and_leaves_everything_as_it_was(ann: Hand) -> None:
    made = await ann.create(config_map())
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "c1", "uid": made["metadata"]["uid"]}
    await ann.create({"metadata": {"name": "s1", "ownerReferences": [owner]}}, SECRETS)

    status = await refused(ann.delete(options={"propagationPolicy": "Foreground"}))

    assert (status.code, status.reason) == (501, "NotImplemented")
    assert "garbage collector" in status.message
    assert await ann.get() == made


async def test_the_old_form_of_not_orphaning_has_an_answer_code_of_its_own(ann: Hand) -> None:
    await ann.create(config_map(metadata={"finalizers": ["ex.com/hold"]}))

    await ann.delete(options={"orphanDependents": False})

    assert ann.code == 202


async def test_a_namespace_goes_when_it_was_finalized(ann: Hand) -> None:
    made = await ann.create(namespace("n1"), NAMESPACES)

    going = await ann.delete("n1", NAMESPACES)
    again = await ann.delete("n1", NAMESPACES)
    final = await ann.update(namespace("n1", spec={"finalizers": []}), NAMESPACES, sub="finalize")

    assert going == again
    assert going["status"] == {"phase": "Terminating"}
    assert going["metadata"].keys() - made["metadata"].keys() == {"deletionTimestamp"}
    assert final["spec"] == {}
    assert await ann.get("n1", NAMESPACES) is None


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
async def test_some_namespaces_cannot_be_deleted(ann: Hand, name: str) -> None:
    status = await refused(ann.delete(name, NAMESPACES))

    assert (status.code, status.message) == (
        403,
        f'namespaces "{name}" is forbidden: this namespace may not be deleted',
    )


async def test_admission_may_protect_an_object() -> None:
    async def rule(request: AdmissionRequest) -> None:
        if request.verb == "delete":
            raise forbidden(request.served, request.obj["metadata"]["name"], "needed")

    ann = await hand(rules=[rule])
    await ann.create(config_map())

    assert (await refused(ann.delete())).message == 'configmaps "c1" is forbidden: needed'


async def test_a_collection_is_deleted_as_its_selector_says_and_shown_as_it_was(ann: Hand) -> None:
    for n in range(40):
        held = {"finalizers": ["ex.com/hold"]} if n == 4 else {}
        await ann.create(config_map(f"c{n:02}", metadata={"labels": {"half": str(n % 2)}, **held}))

    deleted = await ann.delete_all(query="labelSelector=half%3D0")

    assert (deleted["kind"], deleted["apiVersion"]) == ("ConfigMapList", "v1")
    assert [item["metadata"]["name"] for item in deleted["items"]] == [f"c{n:02}" for n in range(0, 40, 2)]
    assert "kind" not in deleted["items"][0]
    left = [n for n in range(40) if await ann.get(f"c{n:02}")]
    assert left == sorted([4, *range(1, 40, 2)])
    held_one = await ann.get("c04")
    assert held_one is not None
    assert held_one["metadata"]["deletionTimestamp"]


async def test_deleting_nothing_is_fine(ann: Hand) -> None:
    assert (await ann.delete_all(query="labelSelector=a%3Db"))["items"] == []


async def test_a_collection_tells_the_first_refusal() -> None:
    async def rule(request: AdmissionRequest) -> None:
        if request.verb == "delete" and request.obj["metadata"]["name"] == "c3":
            raise forbidden(request.served, "c3", "needed")

    ann = await hand(rules=[rule])
    for n in range(5):
        await ann.create(config_map(f"c{n}"))

    assert (await refused(ann.delete_all())).message == 'configmaps "c3" is forbidden: needed'
    assert await ann.get("c3")


async def test_a_collection_on_a_store_that_takes_no_writes_is_one_clear_refusal(ann: Hand) -> None:
    for number in range(3):
        await ann.create(config_map(f"c{number}"))
    await ann.storage.aclose()

    status = await refused(ann.delete_all())

    assert (status.code, status.reason, status.message) == (503, "ServiceUnavailable", "the store is closed")


async def test_deleting_a_collection_lets_others_run_even_where_nothing_waits_for_a_disk(ann: Hand) -> None:
    """Thirty thousand objects in memory held the loop for most of a second."""
    for number in range(300):
        await ann.create(config_map(f"c{number}"))
    left = set()

    async with background(ann.delete_all()) as [deleting]:
        while not deleting.done():
            left.add(len((await ann.storage.range("/registry/core/configmaps/")).records))
            await asyncio.sleep(0)

    assert len(left - {0, 300}) > 1, "somebody else saw it half done"


async def test_answers_are_json_objects(ann: Hand) -> None:
    await ann.create(config_map())

    assert json.dumps(await ann.delete_all()).startswith('{"kind": "ConfigMapList"')
