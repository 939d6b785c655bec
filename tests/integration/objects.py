"""What users make in these tests, and what comes of it."""

from typing import Any

from controllers.kinds import EXPORTS, SHARDS, SLICES
from informers import Object, Resource

JSON = dict[str, Any]

REPLICATED: tuple[Resource[Any], ...] = (SHARDS, EXPORTS, SLICES)
"""What has copies in the cache."""


def url_of(shard: str) -> str:
    """Return where a shard says it is."""
    return f"https://{shard}.example.com:6443"


# What users make


def export(name: str = "widgets") -> JSON:
    """Return an APIExport."""
    return {"metadata": {"name": name}, "spec": {}}


def slice_of(name: str = "widgets", *, export: str = "widgets", path: str = "", partition: str = "") -> JSON:
    """Return an APIExportEndpointSlice."""
    reference = {"name": export} | ({"path": path} if path else {})
    return {"metadata": {"name": name}, "spec": {"export": reference} | ({"partition": partition} if partition else {})}


def partition(name: str = "europe", **labels: str) -> JSON:
    """Return a Partition of the shards with these labels."""
    return {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": labels}}}


# What comes of it


def urls(obj: Object[Any]) -> list[str]:
    """Return the URLs that a slice publishes."""
    return [endpoint["url"] for endpoint in obj.at("status", "endpoints") or ()]


def conditions(obj: Object[Any]) -> dict[str, tuple[str, str]]:
    """Return the conditions of an object as type: (status, reason)."""
    return {condition.type: (condition.status, condition.reason) for condition in obj.conditions}


def published(cluster: str, *shards: str, export: str = "widgets") -> list[str]:
    """Return the URLs that an export has on these shards."""
    return sorted(f"{url_of(shard)}/services/apiexport/{cluster}/{export}" for shard in shards)
