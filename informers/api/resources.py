"""Names of served collections: group, version, plural, and the model that their objects decode to."""

from typing import Any, Generic

import msgspec
from typing_extensions import TypeVar

T = TypeVar("T", default=dict[str, Any])


class Resource(msgspec.Struct, Generic[T], frozen=True):
    """A served collection, as a controller's author names it.

    Two Resources are the same collection when group, version, plural and identity are equal; the model only says
    what `Object.value` decodes to. The core group is `""`.
    """

    group: str
    version: str
    plural: str
    model: type[T] | None = None
    """A msgspec Struct, dataclass or TypedDict; None means plain dicts."""
    kind: str = ""
    """Only needed where an owner reference or an applied object must carry it; otherwise learned from the server."""
    identity: str = ""
    """Identity hash of the APIExport that serves it (kcp wants it on wildcard requests for bound resources)."""
    namespaced: bool | None = None
    """None where nobody has asked yet."""

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects: `group/version`, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def path(self) -> str:
        """Its collection's path without cluster and namespace: `/apis/group/version` or `/api/version`."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    @property
    def segment(self) -> str:
        """Its path segment: the plural, with `:identity` where one is set."""
        return f"{self.plural}:{self.identity}" if self.identity else self.plural

    @property
    def qualified(self) -> str:
        """`plural.group` as in server messages; the plural alone for the core group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def same_as(self, other: "Resource[Any]") -> bool:
        """Say whether both name one collection, whatever their models."""
        return (self.group, self.version, self.plural, self.identity) == (
            other.group,
            other.version,
            other.plural,
            other.identity,
        )

    def __str__(self) -> str:
        return f"{self.segment}.{self.version}.{self.group or 'core'}"


class Collection(msgspec.Struct, Generic[T], frozen=True):
    """What one list or watch asks for: a resource, and which part of it.

    `cluster` and `shard` are logical cluster and shard names, `"*"` for all of them, `""` on servers that have none
    (or whose address already says which).
    """

    resource: Resource[T]
    cluster: str = ""
    shard: str = ""
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""

    def __str__(self) -> str:
        parts = [p for p in (self.shard, self.cluster, self.namespace) if p]
        chosen = [s for s in (self.label_selector, self.field_selector) if s]
        return "/".join([*parts, str(self.resource)]) + (f"?{'&'.join(chosen)}" if chosen else "")
