"""Event filters: which changes pass."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api.objects import Object
from informers.api.selectors import LabelSelector, SelectorError
from informers.runtime.filters import (
    EventFilter,
    annotations_changed,
    being_deleted,
    created,
    deleted,
    event_filter,
    field_changed,
    generation_changed,
    labels_changed,
    matches,
    rv_changed,
)
from tests.informers.runtime.objects import made

CHANGE_FILTERS = [generation_changed, rv_changed, labels_changed, annotations_changed, field_changed("spec", "size")]
ids = [each.name for each in CHANGE_FILTERS]


def teams() -> st.SearchStrategy[Object[Any]]:
    def build(uid: str, generation: int, size: int | None, label: str, gone: bool) -> Object[Any]:
        metadata: dict[str, Any] = {"uid": uid, "generation": generation, "labels": {"app": label}}
        if gone:
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        return made(metadata=metadata, spec={} if size is None else {"size": size})

    return st.builds(
        build,
        st.sampled_from(["u1", "u2"]),
        st.integers(0, 2),
        st.none() | st.integers(0, 1),
        st.sampled_from("ab"),
        st.booleans(),
    )


changes = st.tuples(st.none() | teams(), st.none() | teams())
filters = st.sampled_from([*CHANGE_FILTERS, created, deleted, being_deleted, matches("app=a")])


@pytest.mark.parametrize("change_filter", CHANGE_FILTERS, ids=ids)
def test_an_unchanged_object_is_dropped(change_filter: EventFilter) -> None:
    assert not change_filter(made(spec={"size": 1}), made(spec={"size": 1}))


@pytest.mark.parametrize("change_filter", CHANGE_FILTERS, ids=ids)
def test_what_is_new_or_gone_or_going_always_passes(change_filter: EventFilter) -> None:
    going = made(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})

    assert change_filter(None, made())
    assert change_filter(made(), None)
    assert change_filter(None, None), "a deletion whose last state nobody knows"
    assert change_filter(made(), going)


@pytest.mark.parametrize("change_filter", CHANGE_FILTERS, ids=ids)
def test_an_object_that_was_made_again_passes_though_it_looks_the_same(change_filter: EventFilter) -> None:
    assert change_filter(made(metadata={"uid": "first"}), made(metadata={"uid": "second"}))


def test_generation_changed_drops_the_echo_of_a_status_write() -> None:
    written = made(metadata={"resourceVersion": "2"}, status={"ready": 1})

    assert not generation_changed(made(), written)
    assert generation_changed(made(), made(metadata={"generation": 2}))


def test_kinds_without_a_generation_pass_generation_changed() -> None:
    assert generation_changed(made(metadata={"generation": 0}), made(metadata={"generation": 0}, data={"a": "b"}))


def test_labels_and_annotations_are_told_apart() -> None:
    labelled = made(metadata={"labels": {"a": "b"}})
    annotated = made(metadata={"annotations": {"a": "b"}})

    assert labels_changed(made(), labelled)
    assert not labels_changed(made(), annotated)
    assert annotations_changed(made(), annotated)
    assert not annotations_changed(made(), labelled)


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ({"size": 1}, {"size": 2}, True),
        ({"size": 1}, {"size": 1, "colour": "blue"}, False),
        ({}, {"size": 1}, True),
        ({"size": 1}, {}, True),
        ({"size": None}, {}, True),
        ({"size": 1}, {"size": True}, True),
        ({"size": {"a": [1]}}, {"size": {"a": [1]}}, False),
    ],
)
def test_field_changed_sees_one_field_only(before: Any, after: Any, kept: bool) -> None:
    assert field_changed("spec", "size")(made(spec=before), made(spec=after)) is kept


def test_field_changed_wants_a_path() -> None:
    with pytest.raises(ValueError, match="path of a field"):
        field_changed()


@pytest.mark.parametrize("selector", ["app=a", {"matchLabels": {"app": "a"}}, LabelSelector.parse("app=a")], ids=str)
def test_entering_and_leaving_a_selector_are_changes(selector: Any) -> None:
    inside, outside = made(metadata={"labels": {"app": "a"}}), made(metadata={"labels": {"app": "b"}})
    chosen = matches(selector)

    assert chosen(outside, inside)
    assert chosen(inside, outside)
    assert chosen(inside, inside)
    assert chosen(inside, None)
    assert not chosen(outside, outside)
    assert not chosen(None, outside)


def test_a_selector_that_makes_no_sense_is_refused_at_once() -> None:
    with pytest.raises(SelectorError):
        matches("app in")


def test_being_deleted_begins_with_the_request_and_deleted_with_the_end() -> None:
    going = made(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})

    assert being_deleted(made(), going)
    assert not deleted(made(), going)
    assert deleted(going, None)
    assert not being_deleted(None, made())
    assert created(None, made())
    assert not created(made(), made())


@given(change=changes, one=filters, other=filters)
def test_filters_combine_as_logic_does(change: Any, one: EventFilter, other: EventFilter) -> None:
    assert (one & other)(*change) == (one(*change) and other(*change))
    assert (one | other)(*change) == (one(*change) or other(*change))
    assert (~one)(*change) == (not one(*change))


def test_plain_functions_combine_with_filters_on_both_sides() -> None:
    def small(old: Object[Any] | None, new: Object[Any] | None) -> bool:
        return new is not None and new.at("spec", "size") == 1

    both = small & generation_changed
    either = small | deleted

    assert both(None, made(spec={"size": 1}))
    assert not both(None, made(spec={"size": 2}))
    assert either(made(), None)
    assert not either(None, made())
    assert str(both.name) == "(small & generation_changed)"
    assert event_filter(small).name == "small"
