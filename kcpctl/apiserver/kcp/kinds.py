"""kcp's kinds, in the form of kcp 0.11: the same in every logical cluster, and what is replicated in cache servers."""

from collections.abc import Mapping, Sequence
from importlib.resources import files

import msgspec

from kcpctl.apiserver.crds.custom import Rule
from kcpctl.apiserver.crds.kinds import Schemas, kinds_of
from kcpctl.apiserver.kcp.cached import AsReplicated
from kcpctl.apiserver.kcp.rules import claims, fixed, identity_stays, kept, same_part, unchanged
from kcpctl.apiserver.served import JSON, Column, Served

_RULES: Mapping[str, Sequence[Rule]] = {
    "apiexports": (claims, identity_stays),
    "apiexportendpointslices": (fixed("spec.export", "APIExport reference must not be changed"),),
    "workspaces": (
        kept("spec.URL", "URL cannot be unset"),
        kept("spec.cluster", "cluster cannot be unset"),
        unchanged("spec.cluster", "cluster is immutable"),
        unchanged("spec.mount", "mount is immutable"),
        same_part("spec.type", "name", "name is immutable"),
        same_part("spec.type", "path", "path is immutable"),
    ),
}
_ENDPOINTS_AT = 2
_CACHED_SCHEMA: JSON = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _load() -> dict[str, Served]:
    """Return the kinds of the data file by plural."""
    data = files(__package__).joinpath("kinds.json").read_bytes()
    schemas = Schemas()
    found = {}
    for spec in msgspec.json.decode(data, type=list[JSON]):
        # All objects have passed through this very schema: there has never been another one.
        crd = {"metadata": {"generation": 1}, "spec": spec, "status": {}}
        plural = spec["names"]["plural"]
        (found[plural],) = kinds_of(crd, schemas, _RULES.get(plural, ()))
    return found


def _number_of_endpoints(obj: JSON) -> int:
    """Count the published URLs; in cache servers a status may be anything."""
    status = obj.get("status")
    endpoints = status.get("endpoints") if isinstance(status, dict) else None
    return len(endpoints) if isinstance(endpoints, list) else 0


def _with_endpoints(kind: Served) -> Served:
    """Put in the one column that no JSONPath can compute."""
    endpoints = Column("Endpoints", "integer", _number_of_endpoints, description="How many URLs are published")
    columns = (*kind.columns[:_ENDPOINTS_AT], endpoints, *kind.columns[_ENDPOINTS_AT:])
    return msgspec.structs.replace(kind, columns=columns)


def _as_cached(kind: Served) -> Served:
    return msgspec.structs.replace(kind, strategy=AsReplicated(), subresources=(), schema=_CACHED_SCHEMA)


_ALL = _load()

API_EXPORTS = _ALL["apiexports"]
SLICES = _with_endpoints(_ALL["apiexportendpointslices"])
LOGICAL_CLUSTERS = _ALL["logicalclusters"]
SHARDS = _ALL["shards"]
WORKSPACES = _ALL["workspaces"]
PARTITIONS = _ALL["partitions"]

KINDS = (API_EXPORTS, SLICES, LOGICAL_CLUSTERS, SHARDS, WORKSPACES, PARTITIONS)
"""What every logical cluster serves, in discovery order."""

CACHED = tuple(_as_cached(kind) for kind in (API_EXPORTS, SLICES, SHARDS, LOGICAL_CLUSTERS))
"""What cache servers hold copies of: whatever the objects look like, without subresources."""
