"""How objects are stored, and how stored bytes become served bytes without being decoded.

The canonical form is one JSON object that begins with apiVersion, kind and metadata, in this order; the metadata
begins with the annotations, if there are any. It holds nothing that the key or the revision tells: no resourceVersion,
and none of the annotations that name the logical cluster and the shard. So everything that is added on the way out goes
in at one place, right behind `"metadata":{`.
"""

from functools import lru_cache
from typing import cast

import msgspec

from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.served import JSON

CLUSTER = "kcp.io/cluster"
SHARD = "kcp.io/shard"

_METADATA = b'"metadata":{'
_ANNOTATIONS = b'"annotations":{'

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def encode(obj: JSON, scope: Scope) -> bytes:
    """Return an object in canonical form; `obj` must have apiVersion, kind and metadata.name, and is left as it is."""
    metadata: JSON = {}
    if annotations := _own_annotations(obj["metadata"].get("annotations"), scope):
        metadata["annotations"] = annotations
    for field, value in obj["metadata"].items():
        if field not in ("annotations", "resourceVersion"):
            metadata[field] = value
    whole = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": metadata}
    for field, value in obj.items():
        if field not in whole:
            whole[field] = value
    return _encode(whole)


def decode(value: bytes) -> JSON:
    """Return a stored object, fresh; it has no resourceVersion."""
    return cast("JSON", _decode(value))


@lru_cache(maxsize=1024)
def head(api_version: str, kind: str) -> bytes:
    """Return how a served object begins, up to and with the brace of its metadata."""
    return b'{"apiVersion":%s,"kind":%s,"metadata":{' % (_encode(api_version), _encode(kind))


ITEM_HEAD = b'{"metadata":{'
"""How an item of a built-in's list begins: there it has neither apiVersion nor kind."""


@lru_cache(maxsize=4096)
def notes(cluster: str, shard: str) -> bytes:
    """Return the annotations that say where an object lives, without braces; names that are "" are left out."""
    found = {CLUSTER: cluster} if cluster else {}
    if shard:
        found[SHARD] = shard
    return _encode(found)[1:-1]


def splice(value: bytes, revision: int, *, head: bytes, notes: bytes) -> bytes:
    """Return stored bytes as served: another head, the resourceVersion, and annotations beside those that are there."""
    rest = value[value.index(_METADATA) + len(_METADATA) :]
    if not notes:
        return b'%b"resourceVersion":"%d",%b' % (head, revision, rest)
    if rest.startswith(_ANNOTATIONS):
        return b'%b"resourceVersion":"%d","annotations":{%b,%b' % (head, revision, notes, rest[len(_ANNOTATIONS) :])
    return b'%b"resourceVersion":"%d","annotations":{%b},%b' % (head, revision, notes, rest)


def _own_annotations(annotations: dict[str, str] | None, scope: Scope) -> dict[str, str] | None:
    synthetic = [name for name, there in ((CLUSTER, scope.cluster), (SHARD, scope.is_cache)) if there]
    if annotations and any(name in annotations for name in synthetic):
        return {name: value for name, value in annotations.items() if name not in synthetic}
    return annotations
