"""A copy is written only when it differs, and a repair is one update that readers do not notice."""

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from controllers.copies import ORIGINAL_RV, ORIGINAL_UID, fields_of, updated_copy
from controllers.copies import wanted_copy as texts_of_wanted_copy
from controllers.kinds import EXPORTS
from informers.api.decoding import Reader
from tests.controllers.world import made

ORIGINAL: dict[str, Any] = {
    "apiVersion": "apis.kcp.io/v1alpha1",
    "kind": "APIExport",
    "metadata": {
        "name": "e",
        "uid": "u1",
        "resourceVersion": "7",
        "generation": 2,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "annotations": {"kcp.io/cluster": "c1", "kcp.io/path": "root:one", "note": "mine"},
        "labels": {"a": "b"},
        "managedFields": [{"manager": "kubectl"}],
    },
    "spec": {"x": [1, {"y": 2}]},
    "status": {"z": "w"},
}


def original(**changes: Any) -> Any:
    body = json.loads(json.dumps(ORIGINAL))
    body["metadata"].update(changes.pop("metadata", {}))
    return Reader(EXPORTS).object(json.dumps(body | changes).encode())


def wanted_copy(obj: Any, shard: str) -> dict[str, Any]:
    """Return the wanted copy as a cache server reads it."""
    body: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(texts_of_wanted_copy(obj, shard)))
    return body


def stored(wanted: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """Return what a cache server shows of a copy that was created like this."""
    notes = wanted["metadata"]["annotations"] | {"kcp.io/cluster": "c1"}
    return wanted | {"metadata": wanted["metadata"] | {"resourceVersion": "100", "annotations": notes} | metadata}


def test_a_copy_carries_everything_but_what_the_cache_sets_itself() -> None:
    copy = wanted_copy(original(), "amber")

    assert copy["spec"] == ORIGINAL["spec"]
    assert copy["status"] == ORIGINAL["status"]
    assert "resourceVersion" not in copy["metadata"]
    assert "managedFields" not in copy["metadata"]
    assert copy["metadata"]["uid"] == "u1"
    assert copy["metadata"]["annotations"] == {
        "kcp.io/path": "root:one",
        "note": "mine",
        "kcp.io/shard": "amber",
        ORIGINAL_RV: "7",
        ORIGINAL_UID: "u1",
    }


def test_a_copy_that_is_right_is_left_alone() -> None:
    wanted = wanted_copy(original(), "amber")

    assert updated_copy(stored(wanted), wanted) is None


def test_a_changed_original_updates_the_copy_at_the_copys_revision() -> None:
    before = stored(wanted_copy(original(), "amber"))

    changed = updated_copy(before, wanted_copy(original(spec={"x": []}, metadata={"resourceVersion": "8"}), "amber"))

    assert changed is not None
    assert changed["spec"] == {"x": []}
    assert changed["metadata"]["resourceVersion"] == "100"
    assert changed["metadata"]["annotations"][ORIGINAL_RV] == "8"


def test_an_original_that_was_made_anew_keeps_the_copys_uid_and_says_its_own() -> None:
    before = stored(wanted_copy(original(), "amber"))
    anew = original(metadata={"uid": "u2", "creationTimestamp": "2026-02-02T00:00:00Z"})

    changed = updated_copy(before, wanted_copy(anew, "amber"))

    assert changed is not None
    assert changed["metadata"]["uid"] == "u1"
    assert changed["metadata"]["annotations"][ORIGINAL_UID] == "u2"
    assert updated_copy(stored(changed), wanted_copy(anew, "amber")) is None


def test_a_raised_generation_of_the_copy_is_kept_and_blocks_nothing() -> None:
    wanted = wanted_copy(original(), "amber")

    assert updated_copy(stored(wanted, generation=99), wanted) is None
    changed = updated_copy(stored(wanted, generation=99), wanted_copy(original(spec={}), "amber"))
    assert changed is not None
    assert changed["metadata"]["generation"] == 99


def test_a_tampered_copy_is_repaired() -> None:
    wanted = wanted_copy(original(), "amber")
    tampered = stored(wanted) | {"spec": "text", "extra": 1}
    tampered["metadata"] = tampered["metadata"] | {"labels": {}}

    changed = updated_copy(tampered, wanted)

    assert changed is not None
    assert changed["spec"] == ORIGINAL["spec"]
    assert changed["metadata"]["labels"] == {"a": "b"}
    assert "extra" not in changed


values = st.recursive(
    st.booleans() | st.integers(0, 3) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=4,
)


@given(values, values, st.dictionaries(st.sampled_from(["a", "b"]), st.text(max_size=1)))
def test_after_one_update_nothing_is_left_to_do(spec: Any, other: Any, labels: dict[str, str]) -> None:
    before = stored(wanted_copy(original(spec=spec), "amber"))
    wanted = wanted_copy(original(spec=other, metadata={"labels": labels}), "amber")

    changed = updated_copy(before, wanted)

    assert updated_copy(stored(changed or wanted), wanted) is None


def test_an_original_without_annotations_has_a_copy_all_the_same() -> None:
    bare = made(EXPORTS, "bare")

    wanted = wanted_copy(bare, "amber")

    assert updated_copy(stored(wanted), wanted) is None


@given(st.sampled_from([1, True, "1", [1], {"a": 1, "b": 2}]), st.sampled_from([1, True, "1", {"b": 2, "a": 1}]))
def test_copies_are_compared_as_json_however_they_are_written(one: Any, other: Any) -> None:
    wanted = texts_of_wanted_copy(original(spec={"x": one}), "amber")
    found = stored(wanted_copy(original(spec={"x": other}), "amber"))
    spaced = Reader(EXPORTS).object(json.dumps(found, indent=1).encode())

    changed = updated_copy(fields_of(spaced), wanted)

    assert (changed is None) is (json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True))
    assert (updated_copy(found, wanted) is None) is (changed is None)
