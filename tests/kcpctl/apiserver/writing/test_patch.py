"""Patching objects."""

import asyncio
import json

import pytest

from kcpctl.apiserver.admission import AdmissionRequest
from kcpctl.apiserver.builtin import LEASES, NAMESPACES, SERVICE_ACCOUNTS
from kcpctl.apiserver.world import World
from tests.kcpctl.apiserver.kinds import WIDGETS
from tests.kcpctl.apiserver.writing.hands import JSON_PATCH, STRATEGIC, Hand, config_map, hand, widget
from tests.kcpctl.apiserver.writing.refusals import refused

REJECTED = "the server rejected our request due to an error in our request"
INVALID = ' "" is invalid: patch: Invalid value: '


async def test_a_patch_without_effect_writes_nothing(ann: Hand) -> None:
    made = await ann.create(config_map(data={"a": "1"}))

    for patch in ({}, {"data": {"a": "1"}}, {"data": {"missing": None}}):
        assert await ann.patch(patch) == made


async def test_a_null_in_a_merge_patch_deletes(ann: Hand) -> None:
    await ann.create(config_map(data={"a": "1", "b": "2"}))

    assert (await ann.patch({"data": {"a": None, "c": "3"}}))["data"] == {"b": "2", "c": "3"}


async def test_a_json_patch_applies_all_operations_or_none(ann: Hand) -> None:
    made = await ann.create(config_map())
    add = {"op": "add", "path": "/data", "value": {"j": "1"}}

    status = await refused(ann.patch([add, {"op": "test", "path": "/data/j", "value": "2"}], media=JSON_PATCH))

    assert (status.code, status.reason, status.message) == (422, "Invalid", REJECTED)
    assert await ann.get() == made
    assert (await ann.patch([add], media=JSON_PATCH))["data"] == {"j": "1"}


async def test_a_strategic_patch_merges_lists_by_their_keys(ann: Hand) -> None:
    await ann.create({"metadata": {"name": "robot"}, "secrets": [{"name": "a"}]}, SERVICE_ACCOUNTS)
    await ann.create(config_map(metadata={"finalizers": ["ex.com/f1"]}))

    account = await ann.patch({"secrets": [{"name": "b"}]}, SERVICE_ACCOUNTS, name="robot", media=STRATEGIC)
    merged = await ann.patch({"metadata": {"finalizers": ["ex.com/f2"]}}, media=STRATEGIC)
    rest = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["ex.com/f1"]}}

    assert account["secrets"] == [{"name": "b"}, {"name": "a"}]
    assert merged["metadata"]["finalizers"] == ["ex.com/f2", "ex.com/f1"]
    assert (await ann.patch(rest, media=STRATEGIC))["metadata"]["finalizers"] == ["ex.com/f2"]


async def test_a_patch_that_names_no_revision_never_conflicts() -> None:
    meet = asyncio.Barrier(5)

    async def together(request: AdmissionRequest) -> None:
        if request.verb == "update" and request.old is not None and not request.old.get("data"):
            await meet.wait()

    ann = await hand(rules=[together])
    await ann.create(config_map())

    await asyncio.gather(*(ann.patch({"data": {str(n): "x"}}) for n in range(5)))

    found = await ann.get()
    assert found is not None
    assert sorted(found["data"]) == ["0", "1", "2", "3", "4"]


async def test_a_patch_that_names_a_stale_revision_conflicts(ann: Hand) -> None:
    await ann.create(config_map())

    assert (await refused(ann.patch({"metadata": {"resourceVersion": "1"}}))).code == 409


async def test_identity_survives_every_patch(ann: Hand) -> None:
    await ann.create(config_map())

    renamed = await refused(ann.patch({"metadata": {"name": "zz"}}))
    moved = await refused(ann.patch({"metadata": {"namespace": "zz"}}))
    other = await refused(ann.patch({"metadata": {"uid": "zz"}}))

    assert renamed.message == "the name of the object (zz) does not match the name on the URL (c1)"
    assert moved.message == "the namespace of the provided object does not match the namespace sent on the request"
    assert other.message == 'ConfigMap "c1" is invalid: metadata.uid: Invalid value: "zz": field is immutable'


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ({"data": {"m": 5}}, "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"),
        ({"kind": "Namespace"}, "converting (v1.Namespace) to (core.ConfigMap): unknown conversion"),
        ({"kind": "Secret", "data": {"a": "?"}}, "illegal base64 data at input byte 0"),
        (
            {"kind": "Nope"},
            'no kind "Nope" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
        ),
    ],
)
async def test_what_a_patch_turns_into_nonsense_is_shown(ann: Hand, patch: object, why: str) -> None:
    await ann.create(config_map(data={"a": "1"}))

    status = await refused(ann.patch(patch))

    assert (status.code, status.reason) == (422, "Invalid")
    assert status.message.startswith(f'{INVALID}"{{\\"apiVersion\\":\\"v1\\",')
    assert status.message.endswith(f'": {why}')
    assert status.details is not None
    assert [cause.field for cause in status.details.causes] == ["patch"]


async def test_a_strategic_patch_is_shown_itself(ann: Hand) -> None:
    await ann.create(config_map())

    status = await refused(ann.patch({"data": {"m": 5}}, media=STRATEGIC))

    assert status.message == f'{INVALID}"map[data:map[m:5]]": cannot convert int64 to string'


async def test_a_micro_time_needs_its_digits(ann: Hand) -> None:
    await ann.create({"metadata": {"name": "le"}}, LEASES)

    status = await refused(ann.patch({"spec": {"renewTime": "2024-01-01T00:00:01Z"}}, LEASES, name="le"))

    assert status.message.endswith(
        'parsing time "2024-01-01T00:00:01Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"'
    )


@pytest.mark.parametrize(
    ("media", "body", "message"),
    [
        (
            "application/merge-patch+json",
            b"{nope",
            "error decoding patch: invalid character 'n' looking for beginning of object key string",
        ),
        (
            "application/merge-patch+json",
            b"[1]",
            "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        ("application/merge-patch+json", b"null", "Invalid JSON Patch"),
        (
            JSON_PATCH,
            b'{"op":"add"}',
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        (STRATEGIC, b'{"metadata":{"$deleteFromPrimitiveList":[]}}', "invalid patch format of primitive list"),
    ],
)
async def test_what_is_no_patch_is_a_bad_request(ann: Hand, media: str, body: bytes, message: str) -> None:
    await ann.create(config_map())

    status = await refused(ann.patch(body, media=media))

    assert (status.code, status.message) == (400, message)


async def test_unknown_fields_are_warned_about_or_refused(ann: Hand) -> None:
    await ann.create(config_map())
    operation = [{"op": "add", "path": "/bogus", "value": 1, "zz": 1}]
    problems = ('json patch unknown field "[0].zz"', 'unknown field "bogus"')

    await ann.patch(operation, media=JSON_PATCH)

    assert ann.warnings == problems
    status = await refused(ann.patch(operation, media=JSON_PATCH, query="fieldValidation=Strict"))
    assert status.message.endswith(f"strict decoding error: {', '.join(problems)}")
    await ann.patch(operation, media=JSON_PATCH, query="fieldValidation=Ignore")
    assert not ann.warnings


async def test_repeated_keys_of_a_patch_are_told(ann: Hand) -> None:
    await ann.create(config_map())

    await ann.patch(b'{"data":{"a":"1","a":"2"}}')

    assert ann.warnings == ('duplicate field "data.a"',)


async def test_too_many_operations_are_too_large(ann: Hand) -> None:
    status = await refused(
        ann.patch([{"op": "test", "path": "/kind", "value": "ConfigMap"}] * 10_001, media=JSON_PATCH)
    )

    assert status.code == 413
    assert status.message.endswith("The allowed maximum operations in a JSON patch is 10000, got 10001")


async def test_types_of_patches_that_do_not_fit_are_refused(ann: Hand) -> None:
    built_in = await refused(ann.patch({}, media="application/json"))
    custom = await refused(ann.patch({}, WIDGETS, media=STRATEGIC))
    apply = await refused(ann.patch({}, media="application/apply-patch+yaml"))
    forced = await refused(ann.patch({}, query="force=true"))

    assert (built_in.code, built_in.message) == (415, "415: Unsupported Media Type")
    assert custom.code == 415
    assert custom.message.endswith(
        "include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )
    assert (apply.code, apply.reason) == (501, "NotImplemented")
    assert forced.message == (
        'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch'
    )


async def test_a_missing_object_cannot_be_patched(ann: Hand) -> None:
    assert (await refused(ann.patch({}, name="nope"))).message == 'configmaps "nope" not found'
    assert (await refused(ann.patch({}, LEASES, name="nope"))).code == 404


async def test_a_custom_resource_stays_what_it_is(ann: Hand) -> None:
    await ann.create(widget(), WIDGETS)

    kind = await refused(ann.patch({"kind": "Other"}, WIDGETS, name="w1"))
    none = await refused(ann.patch({"kind": None}, WIDGETS, name="w1"))

    assert kind.message == 'Other.golden.example.com "w1" is invalid: kind: Invalid value: "Other": must be Widget'
    assert "Object 'Kind' is missing" in none.message


async def test_a_patch_may_be_the_last_thing_that_happens_to_an_object(ann: Hand) -> None:
    await ann.create(config_map(metadata={"finalizers": ["ex.com/hold"]}))
    await ann.delete()

    final = await ann.patch({"metadata": {"finalizers": None}})

    assert "finalizers" not in final["metadata"]
    assert await ann.get() is None


async def test_a_label_of_a_namespace_can_be_patched_through_the_main_path(ann: Hand) -> None:
    patched = await ann.patch({"metadata": {"labels": {"x": "y"}}}, NAMESPACES, name="default")

    assert patched["metadata"]["labels"] == {"kubernetes.io/metadata.name": "default", "x": "y"}
    assert json.dumps(patched["spec"]) == '{"finalizers": ["kubernetes"]}'


async def test_a_patch_that_lost_a_race_is_applied_as_it_was_sent() -> None:
    """What the first attempt made of it was defaulted and pruned."""
    races = iter(range(2))

    async def be_faster(request: AdmissionRequest) -> None:
        if request.verb == "update" and (race := next(races, None)) is not None:
            request.obj["spec"]["nested"]["spoilt"] = race
            await bob.patch({"metadata": {"labels": {"race": str(race)}}}, WIDGETS, name="w1")

    ann = await hand(rules=[be_faster])
    bob = Hand()
    bob.world = World(ann.storage, ann.world.catalog, clock=ann.clock)
    await ann.create(widget(), WIDGETS)

    done = await ann.patch({"spec": {"nested": {"a": 1}}}, WIDGETS, name="w1")

    assert done["metadata"]["labels"]["race"] == "1"
    assert done["spec"]["nested"] == {"a": 1}
