"""Objects as last seen: raw bytes with just enough metadata beside them, decoded on demand."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Generic, cast

import msgspec
from typing_extensions import TypeVar

from informers.api.peeking import Peek

T = TypeVar("T", default=dict[str, Any])

CLUSTER = "kcp.io/cluster"
"""Annotation with an object's logical cluster name; set by the server on every read."""
SHARD = "kcp.io/shard"
"""Annotation with the shard an object was replicated from; set by the cache server on every read."""
PATH = "kcp.io/path"
"""Annotation with the canonical path of an object's workspace."""

_EMPTY: dict[str, str] = {}


class Key(msgspec.Struct, frozen=True, gc=False, order=True, cache_hash=True):
    """Where an object lives; equal keys mean the same place, not the same uid.

    Plain Kubernetes is the case shard = cluster = "". Only a cache server's objects carry a shard: two shards may
    hold the same cluster and name.
    """

    shard: str = ""
    cluster: str = ""
    namespace: str = ""
    name: str = ""

    def shardless(self) -> "Key":
        """Return the key that a reconciler is called with: (cluster, namespace, name)."""
        return Key("", self.cluster, self.namespace, self.name) if self.shard else self

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        cluster = f"{self.cluster}|" if self.cluster else ""
        return f"{self.shard}|{cluster}{place}" if self.shard else f"{cluster}{place}"


class OwnerReference(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One entry of metadata.ownerReferences."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False
    block_owner_deletion: bool = False

    @property
    def group(self) -> str:
        """The owner's group; "" for the core group."""
        return self.api_version.rpartition("/")[0]


class Metadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An object's whole metadata, decoded when somebody asks for it."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    owner_references: list[OwnerReference] | None = None


class _MetadataOnly(msgspec.Struct, gc=False):
    metadata: Metadata = Metadata()


class Condition(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One entry of status.conditions; `severity` is kcp's, `observed_generation` is metav1's."""

    type: str
    status: str
    severity: str = ""
    last_transition_time: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: int = 0


class _Conditions(msgspec.Struct, gc=False):
    conditions: list[Condition] | None = None


class _StatusOnly(msgspec.Struct, gc=False):
    status: _Conditions | None = None


class _TypeOnly(msgspec.Struct, gc=False, rename="camel"):
    api_version: str = ""
    kind: str = ""


_decode_metadata = msgspec.json.Decoder(_MetadataOnly).decode
_decode_conditions = msgspec.json.Decoder(_StatusOnly).decode
_decode_type = msgspec.json.Decoder(_TypeOnly).decode
_decode_any = msgspec.json.Decoder().decode
_decoders: dict[type[Any], msgspec.json.Decoder[Any]] = {}


class Object(msgspec.Struct, Generic[T], frozen=True, gc=False, eq=False):
    """An object as last seen: frozen and shared; every read of its body is a fresh decode.

    Invariants: `raw` is one JSON object, exactly what the server sent; `key`, `uid`, `rv`, `generation` and
    `deleted_at` are what `raw` says.
    """

    key: Key
    raw: bytes
    uid: str = ""
    rv: str = ""
    generation: int = 0
    deleted_at: str | None = None
    """metadata.deletionTimestamp, or None."""
    interned_labels: dict[str, str] = _EMPTY
    """Shared between objects with equal labels; read `labels` instead."""
    model: type[T] | None = None
    peek: Peek | None = None
    """What the reader read of the body on its way, for indexes."""

    @property
    def name(self) -> str:
        """metadata.name."""
        return self.key.name

    @property
    def namespace(self) -> str:
        """metadata.namespace; "" for cluster-scoped objects."""
        return self.key.namespace

    @property
    def cluster(self) -> str:
        """The logical cluster's name; "" on servers without them."""
        return self.key.cluster

    @property
    def labels(self) -> Mapping[str, str]:
        """metadata.labels, read-only."""
        return MappingProxyType(self.interned_labels)

    @property
    def deleting(self) -> bool:
        """Whether deletion was asked for and finalizers hold the object."""
        return self.deleted_at is not None

    @property
    def metadata(self) -> Metadata:
        """The whole metadata, freshly decoded."""
        return _decode_metadata(self.raw).metadata

    @property
    def annotations(self) -> dict[str, str]:
        """metadata.annotations, a fresh copy."""
        return self.metadata.annotations or {}

    @property
    def owners(self) -> list[OwnerReference]:
        """metadata.ownerReferences, a fresh copy."""
        return self.metadata.owner_references or []

    @property
    def kind(self) -> str:
        """The object's kind; "" where the server left it out (items of built-in lists)."""
        return _decode_type(self.raw).kind

    @property
    def api_version(self) -> str:
        """The object's apiVersion; "" where the server left it out."""
        return _decode_type(self.raw).api_version

    @property
    def body(self) -> dict[str, Any]:
        """The whole object as a fresh dict."""
        return cast("dict[str, Any]", _decode_any(self.raw))

    @property
    def value(self) -> T:
        """The whole object as its Resource's model, freshly decoded; a dict where there is none.

        Raises `msgspec.ValidationError` when the object does not fit the model.
        """
        if self.model is None:
            return cast("T", _decode_any(self.raw))
        decoder = _decoders.get(self.model)
        if decoder is None:
            decoder = _decoders[self.model] = msgspec.json.Decoder(self.model)
        return cast("T", decoder.decode(self.raw))

    def at(self, *path: str, default: Any = None) -> Any:
        """Return what is at the path of field names, or the default where any step is missing."""
        node: Any = self.body
        for step in path:
            if not isinstance(node, dict) or step not in node:
                return default
            node = node[step]
        return node

    @property
    def conditions(self) -> list[Condition]:
        """status.conditions, freshly decoded."""
        status = _decode_conditions(self.raw).status
        return (status.conditions or []) if status else []

    def condition(self, kind: str) -> Condition | None:
        """Return the condition of that type, or None."""
        return next((c for c in self.conditions if c.type == kind), None)

    def is_true(self, kind: str) -> bool:
        """Say whether the condition of that type is present and True."""
        found = self.condition(kind)
        return found is not None and found.status == "True"

    def __repr__(self) -> str:
        return f"<Object {self.key} rv={self.rv} {len(self.raw)} bytes>"
