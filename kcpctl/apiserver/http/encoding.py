"""From the served JSON of objects to the bytes of an answer: metadata only, YAML, indented."""

import msgspec

from kcpctl.apiserver.http import yamlout
from kcpctl.apiserver.http.negotiation import YAML, Form
from kcpctl.apiserver.served import Served

_quote = msgspec.json.Encoder().encode


class _MetadataOnly(msgspec.Struct):
    metadata: msgspec.Raw = msgspec.Raw(b"{}")


_metadata_of = msgspec.json.Decoder(_MetadataOnly).decode


def written(body: bytes, form: Form) -> bytes:
    """Return JSON as the form wants it; every document ends with a newline, but indented ones, as in Go."""
    if form.media == YAML:
        return yamlout.dump(msgspec.json.decode(body))
    return msgspec.json.format(body, indent=2) if form.pretty else body + b"\n"


def partial(body: bytes, version: str) -> bytes:
    """Return an object's PartialObjectMetadata: its metadata byte for byte, nothing else."""
    return (
        b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/%b","metadata":' % version.encode()
        + _metadata_of(body).metadata
        + b"}"
    )


def typed(body: bytes, served: Served) -> bytes:
    """Return an object with its kind and apiVersion, which items of built-in lists lack."""
    if not body.startswith(b'{"metadata"'):
        return body
    return b'{"kind":%b,"apiVersion":%b,' % (_quote(served.kind), _quote(served.api_version)) + body[1:]


def list_metadata(revision: str, continue_: str = "", remaining: int | None = None) -> bytes:
    """Return a list's metadata."""
    text = b'{"resourceVersion":' + _quote(revision)
    if continue_:
        text += b',"continue":' + _quote(continue_)
    if remaining is not None:
        text += b',"remainingItemCount":%d' % remaining
    return text + b"}"
