"""A small catalogue of kinds for tests that need something served, but nothing in particular."""

from collections.abc import Iterable
from typing import Any

from kcpctl.apiserver.served import JSON, Column, Context, FieldError, Served

READ_WRITE = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class AnythingGoes:
    """A strategy that accepts every object as it is."""

    serves_stored_bytes = True

    def coerce(self, obj: JSON) -> list[str]:
        return []

    def default(self, obj: JSON) -> None:
        pass

    def prepare_create(self, obj: JSON, context: Context) -> None:
        pass

    def prepare_update(self, obj: JSON, old: JSON, context: Context) -> None:
        pass

    def validate(self, obj: JSON, old: JSON | None, context: Context) -> list[FieldError]:
        return []

    def to_storage(self, obj: JSON) -> JSON:
        return obj

    def from_storage(self, obj: JSON) -> JSON:
        return obj


def kind(group: str, version: str, plural: str, name: str, **other: Any) -> Served:
    """Return a served kind; singular and list kind follow from the name."""
    other = {"singular": name.lower(), "list_kind": name + "List"} | other
    return Served(group, version, plural, name, AnythingGoes(), **other)


NAMESPACES = kind(
    "",
    "v1",
    "namespaces",
    "Namespace",
    namespaced=False,
    verbs=tuple(v for v in READ_WRITE if v != "deletecollection"),
    subresources=("finalize", "status"),
    short_names=("ns",),
    name_rule="label",
)
CONFIGMAPS = kind("", "v1", "configmaps", "ConfigMap", short_names=("cm",))
LEASES = kind("coordination.k8s.io", "v1", "leases", "Lease")
WIDGETS = kind(
    "golden.example.com",
    "v1",
    "widgets",
    "Widget",
    is_custom=True,
    unconditional_update=False,
    subresources=("scale", "status"),
    short_names=("wd",),
    categories=("all",),
    columns=(
        Column("Size", "integer", lambda obj: obj.get("spec", {}).get("size")),
        Column("Colour", "string", lambda obj: obj.get("spec", {}).get("color"), priority=1),
        Column("Age", "date", lambda obj: obj["metadata"].get("creationTimestamp")),
    ),
)
OLD_WIDGETS = kind("golden.example.com", "v1beta1", "widgets", "Widget", is_custom=True)
PLANETS = kind("example.com", "v1", "planets", "Planet", is_custom=True, namespaced=False)

ALL = (NAMESPACES, CONFIGMAPS, LEASES, WIDGETS, OLD_WIDGETS, PLANETS)


class FixedCatalog:
    """Serves the same kinds in every cluster."""

    def __init__(self, kinds: Iterable[Served] = ALL, *, version: str = "1") -> None:
        self.kinds = tuple(kinds)
        self.revision = version

    def find(self, cluster: str, group: str, version: str, plural: str) -> Served | None:
        wanted = (group, version, plural)
        return next((k for k in self.kinds if (k.group, k.version, k.plural) == wanted), None)

    def served(self, cluster: str) -> Iterable[Served]:
        return self.kinds

    def version(self, cluster: str) -> str:
        return self.revision
