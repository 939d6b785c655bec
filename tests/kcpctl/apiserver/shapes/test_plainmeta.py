"""Metadata that is told to need no reading is what reading makes of it, order included."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.shapes.meta import OBJECT_META
from kcpctl.apiserver.shapes.plainmeta import plain_metadata
from kcpctl.apiserver.shapes.reader import read

TIMES = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00+01:00", "0001-01-01T00:00:00Z", "soon", "")
TEXTS = st.sampled_from(["", "a", "b"])
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 1, 1.5, [], {}, ["a"], {"a": None}, {"a": 1}, [{"uid": "u"}]]
)
USUAL: dict[str, st.SearchStrategy[Any]] = {field.name: TEXTS for field in OBJECT_META.fields} | {
    "generation": st.sampled_from([0, 1, -1, 1 << 62, 1 << 63, 1 << 64, 2.0]),
    "deletionGracePeriodSeconds": st.sampled_from([0, 30]),
    "creationTimestamp": st.sampled_from(TIMES),
    "deletionTimestamp": st.sampled_from(TIMES),
    "labels": st.dictionaries(TEXTS, TEXTS),
    "annotations": st.dictionaries(TEXTS, TEXTS),
    "finalizers": st.lists(TEXTS),
    "unknown": TEXTS,
}
FIELDS = st.lists(st.sampled_from(list(USUAL)), unique=True, max_size=8)


@given(st.data(), FIELDS)
def test_plain_metadata_is_what_reading_makes_of_it(data: st.DataObject, names: list[str]) -> None:
    value = {name: data.draw(USUAL[name] | ODD if data.draw(st.booleans()) else USUAL[name]) for name in names}

    plain = plain_metadata(value)

    if plain is not None:
        result, unknown = read(OBJECT_META, value)
        assert msgspec.json.encode(plain) == msgspec.json.encode(result)
        assert not unknown


@pytest.mark.parametrize("change", [{}, {"finalizers": ["a/b"]}, {"deletionGracePeriodSeconds": 0}, {"labels": {}}])
def test_usual_metadata_is_plain_and_fresh(change: dict[str, Any]) -> None:
    value = {
        "annotations": {"a": "b"},
        "name": "e",
        "uid": "u",
        "generation": 2,
        "creationTimestamp": TIMES[0],
    } | change

    plain = plain_metadata(value)

    assert plain is not None
    assert list(plain)[:2] == ["name", "uid"]
    assert plain["annotations"] is not value["annotations"]
