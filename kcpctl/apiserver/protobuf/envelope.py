"""Open the envelope that Kubernetes puts around protobuf bodies."""

import msgspec

from kcpctl.apiserver.protobuf.wire import WireError, pieces, read
from kcpctl.apiserver.served import JSON
from kcpctl.apiserver.shapes import core, crd, meta
from kcpctl.apiserver.shapes.fields import Message

MAGIC = b"k8s\x00"

_SHAPES = {
    ("v1", "ConfigMap"): core.CONFIG_MAP,
    ("v1", "Event"): core.EVENT,
    ("v1", "Namespace"): core.NAMESPACE,
    ("v1", "Secret"): core.SECRET,
    ("v1", "ServiceAccount"): core.SERVICE_ACCOUNT,
    ("coordination.k8s.io/v1", "Lease"): core.LEASE,
    ("events.k8s.io/v1", "Event"): core.EVENT_OF_EVENTS,
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): crd.CUSTOM_RESOURCE_DEFINITION,
}


class Envelope(msgspec.Struct, frozen=True):
    """What an envelope says about its content."""

    api_version: str
    kind: str
    raw: bytes


def open_envelope(body: bytes) -> Envelope:
    """Read a body up to its content; raises `WireError`."""
    if not body:
        raise WireError("empty data")
    if not body.startswith(MAGIC):
        raise WireError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    if body == MAGIC:
        raise WireError("empty body")
    found = {number: value for number, wire, value in pieces(memoryview(body)[len(MAGIC) :], "Unknown") if wire == 2}
    about = {number: value for number, wire, value in pieces(found.get(1, memoryview(b"")), "TypeMeta") if wire == 2}
    texts = {number: bytes(value).decode("utf-8", "replace") for number, value in about.items()}
    return Envelope(texts.get(1, ""), texts.get(2, ""), bytes(found.get(2, b"")))


def shape_of(api_version: str, kind: str) -> Message | None:
    """Return the type of objects of that kind, None for kinds that never travel as protobuf."""
    return meta.DELETE_OPTIONS if kind == "DeleteOptions" else _SHAPES.get((api_version, kind))


def content(envelope: Envelope, shape: Message) -> JSON:
    """Return the enveloped object as JSON, with the envelope's kind and apiVersion; raises `WireError`."""
    obj = read(shape, envelope.raw)
    return {"kind": envelope.kind, "apiVersion": envelope.api_version, **obj}
