"""What is different on a cache server, and what a wildcard may not do."""

import pytest

from kcpctl.apiserver import writing
from kcpctl.apiserver.call import Scope
from tests.kcpctl.apiserver.kinds import PLANETS, WIDGETS
from tests.kcpctl.apiserver.writing.hands import KINDS, Hand, config_map, widget
from tests.kcpctl.apiserver.writing.refusals import causes, refused

IDENTITY = {
    "uid": "11111111-2222-3333-4444-555555555555",
    "generation": 7,
    "creationTimestamp": "2020-01-01T00:00:00Z",
    "finalizers": ["a/b"],
}
FROM_A_SHARD = {"annotations": {"kcp.io/shard": "zinc"}, **IDENTITY}


@pytest.fixture
def cache() -> Hand:
    """Return somebody who writes to a cache server, as one shard for one logical cluster."""
    return Hand((*KINDS, PLANETS), scope=Scope("zz1", "zinc", is_cache=True))


async def test_an_object_from_a_shard_keeps_its_identity(cache: Hand) -> None:
    managed = [{"manager": "m", "operation": "Update"}]

    made = await cache.create(widget(metadata=FROM_A_SHARD | {"managedFields": managed}), WIDGETS)

    assert {field: made["metadata"][field] for field in IDENTITY} == IDENTITY
    assert made["metadata"]["managedFields"] == managed
    assert made["metadata"]["annotations"] == {"kcp.io/shard": "zinc", "kcp.io/cluster": "zz1"}


async def test_an_object_without_the_annotation_gets_a_new_identity(cache: Hand) -> None:
    made = await cache.create(widget(metadata=IDENTITY), WIDGETS)

    assert made["metadata"]["uid"] != IDENTITY["uid"]
    assert made["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"


async def test_an_object_from_a_shard_must_have_an_identity(cache: Hand) -> None:
    status = await refused(cache.create(widget(metadata={"annotations": {"kcp.io/shard": "zinc"}}), WIDGETS))

    assert (status.code, status.message) == (500, "Internal error occurred: system metadata was not initialized")


async def test_namespaces_need_not_exist(cache: Hand) -> None:
    assert (await cache.create(config_map(), namespace="nowhere"))["metadata"]["namespace"] == "nowhere"


async def test_the_client_counts_generations_but_not_down(cache: Hand) -> None:
    made = await cache.create(widget(metadata=FROM_A_SHARD, spec={"a": 1}), WIDGETS)

    higher = await cache.update(made | {"metadata": made["metadata"] | {"generation": 9}}, WIDGETS)
    lower = await refused(cache.update(higher | {"metadata": higher["metadata"] | {"generation": 8}}, WIDGETS))
    patched = await cache.patch({"spec": {"a": 2}}, WIDGETS, name="w1")

    assert higher["metadata"]["generation"] == patched["metadata"]["generation"] == 9
    assert causes(lower) == ["metadata.generation: Invalid value: 8: must not be decremented"]


async def test_finalizers_do_not_delay_deletion(cache: Hand) -> None:
    await cache.create(widget(metadata=FROM_A_SHARD), WIDGETS)

    assert (await cache.delete("w1", WIDGETS))["status"] == "Success"


async def test_another_uid_and_an_old_revision_conflict_here_too(cache: Hand) -> None:
    made = await cache.create(widget(metadata=FROM_A_SHARD), WIDGETS)
    await cache.patch({"spec": {"a": 1}}, WIDGETS, name="w1")

    assert (await refused(cache.update(made, WIDGETS))).code == 409
    other = made["metadata"] | {"uid": "other"}
    del other["resourceVersion"]
    assert (await refused(cache.update(made | {"metadata": other}, WIDGETS))).code == 409


@pytest.mark.parametrize(
    "scope",
    [Scope("*"), Scope("*", "zinc", is_cache=True), Scope("zz1", "*", is_cache=True), Scope("*", "*", is_cache=True)],
)
@pytest.mark.parametrize("verb", ["create", "update", "patch", "delete", "delete_collection"])
async def test_nothing_is_written_through_a_wildcard(scope: Scope, verb: str) -> None:
    hand = Hand((*KINDS, PLANETS), scope=scope)
    body = {"apiVersion": "example.com/v1", "kind": "Planet", "metadata": {"name": "p"}} if verb != "delete" else None
    media = "application/merge-patch+json" if verb == "patch" else "application/json"
    name = "" if verb in ("create", "delete_collection") else "p"

    call = hand.call(verb.replace("_", ""), PLANETS, body if "delete" not in verb else None, name=name, media=media)
    status = await refused(getattr(writing, verb)(hand.world, call))

    assert (status.code, status.reason) == (405, "MethodNotAllowed")
    assert "'*'" in status.message
    assert hand.storage.revision == 100
