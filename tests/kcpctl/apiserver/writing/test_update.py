"""Replacing objects."""

import asyncio

import pytest

from kcpctl.apiserver.admission import AdmissionRequest
from kcpctl.apiserver.builtin import EVENTS, LEASES, NAMESPACES
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing.subject import same_document
from tests.kcpctl.apiserver.kinds import WIDGETS
from tests.kcpctl.apiserver.writing.hands import Hand, config_map, hand, namespace, widget
from tests.kcpctl.apiserver.writing.refusals import causes, refused

LEASE = {"metadata": {"name": "l1"}, "spec": {"holderIdentity": "me"}}


async def test_an_object_that_did_not_change_keeps_its_revision(ann: Hand) -> None:
    made = await ann.create(config_map(metadata={"labels": {"b": "1", "a": "2"}}, data={"x": "1", "y": "2"}))
    before = ann.storage.revision

    same = await ann.update(made)
    shuffled = await ann.update(config_map(data={"y": "2", "x": "1"}, metadata={"labels": {"a": "2", "b": "1"}}))

    assert same == shuffled == made
    assert ann.storage.revision == before


async def test_what_the_server_owns_comes_back(ann: Hand) -> None:
    made = await ann.create(config_map(metadata={"generation": 3}))

    changed = await ann.update(
        config_map(
            metadata={"creationTimestamp": "2001-01-01T00:00:00Z", "generation": 9, "selfLink": "/x"}, data={"a": "1"}
        )
    )

    assert changed["metadata"] == made["metadata"] | {"resourceVersion": changed["metadata"]["resourceVersion"]}


async def test_a_stale_revision_conflicts_and_none_does_not(ann: Hand) -> None:
    made = await ann.create(config_map())
    await ann.update(config_map(data={"a": "1"}))

    status = await refused(ann.update(made))
    await ann.update(config_map(metadata={"resourceVersion": "0"}, data={"a": "2"}))

    assert (status.code, status.reason) == (409, "Conflict")
    assert status.message == (
        'Operation cannot be fulfilled on configmaps "c1": the object has been modified; please apply your changes to '
        "the latest version and try again"
    )


@pytest.mark.parametrize(("revision", "why"), [("abc", "invalid syntax"), ("9" * 25, "value out of range")])
async def test_a_revision_that_is_no_number_is_refused(ann: Hand, revision: str, why: str) -> None:
    await ann.create(config_map())

    status = await refused(ann.update(config_map(metadata={"resourceVersion": revision})))

    assert (status.code, status.reason) == (500, "")
    assert status.message == f'strconv.ParseUint: parsing "{revision}": {why}'


async def test_some_kinds_must_be_updated_with_their_revision(ann: Hand) -> None:
    await ann.create(widget(), WIDGETS)
    await ann.create(LEASE, LEASES)

    custom = await refused(ann.update(widget(), WIDGETS))
    lease = await refused(ann.update(LEASE, LEASES))

    why = "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    assert (custom.code, custom.message) == (422, f'widgets.golden.example.com "w1" is invalid: {why}')
    assert lease.message == f'leases.coordination.k8s.io "l1" is invalid: {why}'


async def test_another_uid_conflicts(ann: Hand) -> None:
    made = await ann.create(config_map())

    status = await refused(ann.update(config_map(metadata={"uid": "dead"})))

    assert status.code == 409
    assert status.message.endswith(
        f"Precondition failed: UID in precondition: dead, UID in object meta: {made['metadata']['uid']}"
    )


async def test_the_name_must_be_that_of_the_path(ann: Hand) -> None:
    await ann.create(config_map())

    other = await refused(ann.update(config_map("other"), name="c1"))
    none = await refused(ann.update({"metadata": {}}, name="c1"))

    assert other.message == "the name of the object (other) does not match the name on the URL (c1)"
    assert none.message == "the name of the object (c1 based on URL) was undeterminable: name must be provided"


async def test_a_missing_object_is_created_only_where_a_kind_allows_it(ann: Hand) -> None:
    status = await refused(ann.update(config_map()))
    made = await ann.update(LEASE, LEASES)
    code = ann.code
    await ann.update({"metadata": {"name": "e"}, "involvedObject": {}}, EVENTS)

    assert (status.code, status.message) == (404, 'configmaps "c1" not found')
    assert code == ann.code == 201
    assert made["metadata"]["uid"]


async def test_setting_a_deletion_time_is_no_way_to_delete(ann: Hand) -> None:
    await ann.create(config_map())

    status = await refused(ann.update(config_map(metadata={"deletionTimestamp": "2001-01-01T00:00:00Z"})))

    assert causes(status) == [
        'metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable',
    ]


async def test_a_dry_run_shows_the_change_at_the_old_revision(ann: Hand) -> None:
    made = await ann.create(config_map())

    shown = await ann.update(config_map(data={"a": "1"}), query="dryRun=All")

    assert shown == made | {"data": {"a": "1"}}
    assert await ann.get() == made


async def test_updates_that_race_are_all_done_or_conflict() -> None:
    """Whoever brings no revision cannot lose; of those who bring the same one, one wins."""
    waiting = asyncio.Barrier(3)

    async def together(request: AdmissionRequest) -> None:
        if request.verb == "update" and request.old is not None and not request.old.get("data"):
            await waiting.wait()

    ann = await hand(rules=[together])
    made = await ann.create(config_map())

    results = await asyncio.gather(
        ann.update(config_map(data={"a": "1"})),
        ann.update(made | {"data": {"a": "2"}}),
        ann.update(config_map(data={"a": "3"})),
        return_exceptions=True,
    )

    conflicts = [r for r in results if isinstance(r, Exception)]
    assert len(conflicts) <= 1
    assert ann.storage.revision == 102 + 3 - len(conflicts)


async def test_an_update_that_lost_a_race_is_made_as_it_was_sent() -> None:
    """What the first attempt made of it went through admission."""
    races = iter(range(2))

    async def be_faster(request: AdmissionRequest) -> None:
        if request.verb == "update" and (race := next(races, None)) is not None:
            request.obj["data"] = {"spoilt": str(race)}
            await bob.patch({"metadata": {"labels": {"race": str(race)}}})

    ann = await hand(rules=[be_faster])
    bob = Hand()
    bob.world = World(ann.storage, ann.world.catalog, clock=ann.clock)
    await ann.create(config_map())

    done = await ann.update(config_map(data={"a": "1"}))

    assert done["data"] == {"a": "1"}


@pytest.mark.parametrize("other", [b'{"a":1,"b":true}', b'{"a":true,"b":2}', b'{"a":true,"c":1}'])
def test_documents_that_differ_in_a_type_or_a_value_are_two(other: bytes) -> None:
    """To Python 1 and true are equal."""
    assert same_document(b'{"b":1,"a":true}', b'{"a":true,"b":1}')
    assert not same_document(b'{"a":true,"b":1}', other)


async def test_an_update_that_lost_races_gives_each_warning_once() -> None:
    races = iter(range(2))

    async def be_faster(request: AdmissionRequest) -> None:
        if request.context.user.name == "ann" and request.verb == "update" and (race := next(races, None)) is not None:
            await bob.patch({"data": {"race": str(race)}})

    ann = await hand(rules=[be_faster])
    bob = Hand()
    bob.world = World(ann.storage, ann.world.catalog, clock=ann.clock)
    await ann.create(config_map())
    owner = {"apiVersion": "v1", "kind": "Secret", "name": "s1", "uid": "u1"}

    await ann.update(config_map(metadata={"ownerReferences": [owner, owner]}))

    assert len(ann.warnings) == 1
    assert ann.warnings[0].startswith(".metadata.ownerReferences contains duplicate entries")


async def test_the_last_finalizer_takes_the_object_with_it(ann: Hand) -> None:
    await ann.create(config_map(metadata={"finalizers": ["ex.com/hold"]}))
    going = await ann.delete()

    final = await ann.update(config_map(data={"last": "words"}))

    del going["metadata"]["finalizers"]
    assert final == going | {"data": {"last": "words"}}
    assert await ann.get() is None


async def test_a_terminating_object_gets_no_new_finalizers(ann: Hand) -> None:
    await ann.create(config_map(metadata={"finalizers": ["ex.com/hold"]}))
    await ann.delete()

    status = await refused(ann.update(config_map(metadata={"finalizers": ["ex.com/hold", "ex.com/b", "ex.com/a"]})))
    await ann.update(config_map(metadata={"finalizers": ["ex.com/hold"]}, data={"a": "1"}))

    assert causes(status) == [
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"ex.com/a", "ex.com/b"}'  # noqa: E501
    ]


async def test_admission_sees_the_old_object_as_clients_do() -> None:
    seen = []

    async def rule(request: AdmissionRequest) -> None:
        seen.append((request.verb, request.old))

    ann = await hand(rules=[rule])
    made = await ann.create(config_map())

    await ann.update(config_map(data={"a": "1"}))

    assert seen[-1] == ("update", made)


async def test_status_and_finalize_change_their_part_of_a_namespace_only(ann: Hand) -> None:
    made = await ann.create(namespace("n1"), NAMESPACES)

    await refused(ann.update(namespace("n1", status={"phase": "Terminating"}), NAMESPACES, sub="status"))
    main = await ann.update(namespace("n1", spec={"finalizers": ["ex.com/x"]}, status={"phase": "Odd"}), NAMESPACES)
    finalized = await ann.update(namespace("n1", spec={"finalizers": ["ex.com/x"]}), NAMESPACES, sub="finalize")

    assert main == made
    assert finalized["spec"] == {"finalizers": ["ex.com/x"]}
    assert finalized["status"] == {"phase": "Active"}
