"""Protobuf bodies, as real Go clients encode them, become the JSON that the same clients would have sent."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcpctl.apiserver.protobuf.envelope import MAGIC, content, open_envelope, shape_of
from kcpctl.apiserver.protobuf.wire import WireError, read
from kcpctl.apiserver.shapes.core import CONFIG_MAP
from kcpctl.apiserver.shapes.crd import CUSTOM_RESOURCE_DEFINITION

BODIES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("bodies.json").read_text(encoding="utf-8"))
"""Objects, and what k8s.io/api's types encode them to."""


def opened(body: bytes) -> dict[str, Any]:
    envelope = open_envelope(body)
    shape = shape_of(envelope.api_version, envelope.kind)
    return content(envelope, shape) if shape else {}


@pytest.mark.parametrize("sample", BODIES, ids=[f"{n}-{b['type']}" for n, b in enumerate(BODIES)])
def test_a_real_body_reads_as_its_json(sample: dict[str, Any]) -> None:
    found = opened(bytes.fromhex(sample["hex"]))

    assert {k: v for k, v in found.items() if k not in ("kind", "apiVersion")} == sample["object"]


def test_the_envelope_names_kind_and_version() -> None:
    lease = next(b for b in BODIES if b["type"] == "Lease")

    found = opened(bytes.fromhex(lease["hex"]))

    assert (found["apiVersion"], found["kind"]) == ("coordination.k8s.io/v1", "Lease")


@pytest.mark.parametrize("sample", BODIES, ids=[f"{n}-{b['type']}" for n, b in enumerate(BODIES)])
def test_a_truncated_body_is_an_error_or_a_shorter_object_and_never_a_crash(sample: dict[str, Any]) -> None:
    whole = bytes.fromhex(sample["hex"])

    for end in range(len(whole)):
        try:
            envelope = open_envelope(whole[:end])
        except WireError:
            continue
        assert envelope.raw != open_envelope(whole).raw or end >= len(whole) - 4


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "empty data"),
        (b"{}", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"),
        (MAGIC, "empty body"),
        (MAGIC + b"\x12\x05ab", "unexpected EOF"),
        (MAGIC + b"\x0f\x00", "proto: illegal wireType 7"),
        (MAGIC + b"\x00\x00", "proto: Unknown: illegal tag 0 (wire type 0)"),
        (MAGIC + b"\xff" * 11, "proto: integer overflow"),
    ],
)
def test_what_is_no_envelope_is_refused_in_the_words_of_generated_code(body: bytes, message: str) -> None:
    with pytest.raises(WireError) as error:
        open_envelope(body)

    assert str(error.value) == message


def test_a_field_of_the_wrong_wire_type_is_named() -> None:
    with pytest.raises(WireError, match="proto: wrong wireType = 0 for field Metadata"):
        read(CONFIG_MAP, b"\x08\x01")


def test_messages_nested_without_end_are_refused() -> None:
    schema = b""
    for _ in range(20_000):
        schema = b"\xe2\x01" + varint(len(schema)) + schema  # not

    with pytest.raises(WireError, match="max depth"):
        read(CUSTOM_RESOURCE_DEFINITION, nested(schema))


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def nested(schema: bytes) -> bytes:
    """Wrap a schema as spec.versions[].schema.openAPIV3Schema."""
    for tag in (b"\x0a", b"\x22", b"\x3a", b"\x12"):
        schema = tag + varint(len(schema)) + schema
    return schema


@given(st.binary(max_size=200))
def test_whatever_the_bytes_the_answer_is_an_object_or_a_wire_error(data: bytes) -> None:
    try:
        found = read(CONFIG_MAP, data)
    except WireError:
        return

    assert json.loads(json.dumps(found)) == found


@given(st.sampled_from(BODIES), st.integers(0, 10_000), st.integers(0, 255))
def test_a_flipped_byte_never_crashes(sample: dict[str, Any], at: int, byte: int) -> None:
    body = bytearray.fromhex(sample["hex"])
    body[at % len(body)] = byte

    try:
        found = opened(bytes(body))
    except WireError:
        return

    assert isinstance(found, dict)
