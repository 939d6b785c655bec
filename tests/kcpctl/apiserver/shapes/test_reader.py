"""JSON is read as Go's types read it: same result, same complaints."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.shapes import core, crd, meta
from kcpctl.apiserver.shapes.reader import ShapeError, read

SHAPES = {
    "ConfigMap": core.CONFIG_MAP,
    "Secret": core.SECRET,
    "Namespace": core.NAMESPACE,
    "ServiceAccount": core.SERVICE_ACCOUNT,
    "Lease": core.LEASE,
    "Event": core.EVENT,
    "EventOfEvents": core.EVENT_OF_EVENTS,
    "CRD": crd.CUSTOM_RESOURCE_DEFINITION,
    "DeleteOptions": meta.DELETE_OPTIONS,
}
READINGS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("readings.json").read_text(encoding="utf-8"))
"""What sigs.k8s.io/json and k8s.io/api's types make of some texts."""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize("sample", READINGS, ids=[f"{n}-{r['type']}" for n, r in enumerate(READINGS)])
def test_reading_gives_what_go_gives(sample: dict[str, Any]) -> None:
    shape = SHAPES[sample["type"]]

    if "error" in sample:
        with pytest.raises(ShapeError) as error:
            read(shape, sample["given"])
        assert str(error.value) == sample["error"]
    else:
        found, unknown = read(shape, sample["given"])
        assert found == sample["read"]
        assert [f'unknown field "{path}"' for path in unknown] == sample.get("strict", [])


@pytest.mark.parametrize(
    ("kind", "given", "why"),
    [
        ("ConfigMap", {"data": {"k": 5}}, "cannot convert int64 to string"),
        ("ConfigMap", {"data": {"k": 1.5}}, "unrecognized type: string"),
        ("ConfigMap", {"data": ["x"]}, "cannot restore map from slice"),
        ("ConfigMap", {"immutable": "x"}, "unrecognized type: bool"),
        ("ServiceAccount", {"secrets": [True]}, "cannot restore struct from: bool"),
        ("Namespace", {"spec": {"finalizers": "x"}}, "cannot restore slice from string"),
        ("Lease", {"spec": {"leaseDurationSeconds": 1.5}}, "cannot convert float64 to int32"),
        ("Lease", {"spec": {"leaseDurationSeconds": "x"}}, "unrecognized type: int32"),
        ("Lease", {"spec": {"renewTime": 5}}, "json: cannot unmarshal number into Go value of type string"),
        ("Secret", {"data": {"k": 5}}, "cannot restore slice from int64"),
        ("Secret", {"data": {"k": "?"}}, "error decoding from json: illegal base64 data at input byte 0"),
    ],
)
def test_the_converter_of_maps_complains_in_its_own_words(kind: str, given: dict[str, Any], why: str) -> None:
    with pytest.raises(ShapeError) as error:
        read(SHAPES[kind], given)

    assert error.value.converted == why


def test_fields_come_out_in_the_order_of_the_type() -> None:
    found, _ = read(core.CONFIG_MAP, {"data": {}, "metadata": {"labels": {"a": "b"}, "name": "x"}, "immutable": True})

    assert list(found) == ["metadata", "immutable"]
    assert list(found["metadata"]) == ["name", "labels"]


@given(
    st.sampled_from(sorted(SHAPES)),
    st.dictionaries(st.sampled_from(["metadata", "spec", "data", "status"]), json_values),
)
def test_what_was_read_reads_as_itself(kind: str, value: dict[str, Any]) -> None:
    """Reading is idempotent, so that an object that was stored and comes back is not a change."""
    try:
        once, _ = read(SHAPES[kind], value)
    except ShapeError:
        return

    assert read(SHAPES[kind], once) == (once, [])
