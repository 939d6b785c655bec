"""What is served: kinds in group-versions, and the catalogue that says which logical cluster serves what."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec

from kcpctl.apiserver.exchange import User

JSON = dict[str, Any]


class FieldError(msgspec.Struct, frozen=True):
    """One thing wrong with an object, as it becomes a cause of a 422."""

    field: str
    """Path such as `spec.list[0].x` or `metadata.labels`."""
    reason: str
    """FieldValueRequired, FieldValueInvalid, FieldValueNotSupported, …"""
    message: str
    """What follows the path: `Required value`, `Invalid value: 3: must be …`."""


class Column(msgspec.Struct, frozen=True):
    """A printer column: a cell is computed from the object (decoded) by `cell`."""

    name: str
    type: str
    """string, integer, number, boolean or date."""
    cell: Callable[[JSON], Any]
    format: str = ""
    description: str = ""
    priority: int = 0
    """Above 0 only with `-o wide`."""
    age: bool | None = None
    """Whether the cell is a timestamp to be printed as an age. None: dates are, and nothing else is."""


class Context(msgspec.Struct, frozen=True):
    """What a strategy may know of the request it works for."""

    cluster: str
    user: User
    now: str
    """RFC 3339, seconds, UTC."""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    shard: str = ""
    warnings: list[str] = []
    """What the client should be told although the request succeeds; strategies and admission rules append to it."""


class Strategy(Protocol):
    """What is particular to one kind; the verbs do the rest.

    All methods work on freshly decoded objects, which they may change in place. None of them waits.
    """

    def coerce(self, obj: JSON) -> list[str]:
        """Drop unknown fields and return their dotted paths; raises `shapes.reader.ShapeError` on types it cannot read.

        A custom resource's metadata has been read already; kind and apiVersion may be those of another kind.
        """

    def default(self, obj: JSON) -> None:
        """Fill in defaults."""

    def prepare_create(self, obj: JSON, context: Context) -> None:
        """Reset what clients may not set at creation (status, generation, …) and fill in what the kind computes."""

    def prepare_update(self, obj: JSON, old: JSON, context: Context) -> None:
        """Put back what this (sub)resource may not change, and bump the generation where its rules say so."""

    def validate(self, obj: JSON, old: JSON | None, context: Context) -> list[FieldError]:
        """Return everything wrong with the object; `old` is None at creation."""

    def to_storage(self, obj: JSON) -> JSON:
        """Return an object of this version as it is stored (in the storage version's shape and apiVersion)."""

    def from_storage(self, obj: JSON) -> JSON:
        """Return a stored object as this version serves it (conversion, pruning, defaults that came later)."""

    @property
    def serves_stored_bytes(self) -> bool:
        """Whether `from_storage` changes nothing, so that stored bytes can be sent as they are."""


class Deletion(Protocol):
    """What deletion means for a kind whose objects hold themselves until a controller has emptied them.

    Such an object always gets a deletionTimestamp first, and no deletionGracePeriodSeconds.
    """

    def begin(self, obj: JSON, context: Context) -> None:
        """Mark the object as going away (phase, conditions, own finalizer), in place."""

    def held(self, obj: JSON) -> bool:
        """Whether something besides metadata.finalizers still holds the object."""


class Served(msgspec.Struct, frozen=True, eq=False):
    """One kind in one served version."""

    group: str
    version: str
    plural: str
    kind: str
    strategy: Strategy
    namespaced: bool = True
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
    subresources: tuple[str, ...] = ()
    """Such as `status`, `finalize`."""
    columns: tuple[Column, ...] = ()
    """Name comes first by itself, unless a column of that name is among them; an empty tuple means Name and Age."""
    schema: JSON | None = None
    """OpenAPI v3 schema of the whole object as published; None publishes an open object."""
    is_custom: bool = False
    """Custom resources differ: no protobuf, no strategic merge patch, unconditional PUT refused, text 404s."""
    unconditional_update: bool = True
    """Whether a PUT without resourceVersion is accepted."""
    create_on_update: bool = False
    """Whether a PUT of a missing object creates it (Lease, Event)."""
    storage_group: str | None = None
    """Where the objects of this kind are stored when not under their own group (events)."""
    storage_version: str = ""
    """The version that objects are stored in, for discovery; `""` where it is this one."""
    field_selectors: tuple[str, ...] = ()
    """Selectable paths besides metadata.name and metadata.namespace."""
    merge_keys: JSON | None = None
    """Strategic merge table: path → {"key": …} or {"set": true}."""
    deprecation: str = ""
    """Warning text for every request to this version; "" for none."""
    list_kind: str = ""
    name_rule: str = "subdomain"
    """subdomain, label, or path-segment."""
    deletion: Deletion | None = None
    """For Namespace and CustomResourceDefinition; None deletes as soon as metadata.finalizers is empty."""

    @property
    def api_version(self) -> str:
        """`group/version`, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """`plural.group` as in messages."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified_kind(self) -> str:
        """`Kind.group` as in messages of 422s."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    @property
    def prefix(self) -> str:
        """The storage prefix of all objects of this kind, whatever the version: `/registry/{group}/{plural}/`.

        The core group's segment is `core`. Below it: `{cluster}/[{namespace}/]{name}`; in a cache server
        `{shard}/{cluster}/[{namespace}/]{name}`.
        """
        group = self.group if self.storage_group is None else self.storage_group
        return f"/registry/{group or 'core'}/{self.plural}/"


class Catalog(Protocol):
    """Which kinds a logical cluster serves now."""

    def find(self, cluster: str, group: str, version: str, plural: str) -> Served | None:
        """Return the served kind, or None. `"*"` finds what any cluster serves."""

    def served(self, cluster: str) -> Iterable[Served]:
        """Return everything that the cluster serves, in discovery order."""

    def version(self, cluster: str) -> str:
        """Return a text that changes whenever `served(cluster)` does (for ETags)."""
