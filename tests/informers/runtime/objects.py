"""Objects for tests, read from bytes as a server would send them."""

from typing import Any

import msgspec

from informers.api.decoding import Reader
from informers.api.objects import Object
from informers.api.resources import Resource

TEAMS = Resource("example.com", "v1", "teams", kind="Team", namespaced=True)
MEMBERS = Resource("example.com", "v1", "members", kind="Member", namespaced=True)


def body(name: str = "blue", namespace: str = "default", kind: str = "Team", **fields: Any) -> dict[str, Any]:
    """Return an object's JSON; `metadata` is merged into the usual one."""
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": "1", "generation": 1}
    if namespace:
        metadata["namespace"] = namespace
    metadata.update(fields.pop("metadata", {}))
    return {"apiVersion": "example.com/v1", "kind": kind, "metadata": metadata, **fields}


def made(name: str = "blue", *, resource: Resource[Any] = TEAMS, **fields: Any) -> Object[Any]:
    """Return an object as last seen."""
    return Reader(resource).object(msgspec.json.encode(body(name, **fields)))


def owned_by(owner: str, *, kind: str = "Team", controller: bool = True, group: str = "example.com") -> dict[str, Any]:
    """Return metadata with one owner reference."""
    reference = {"apiVersion": f"{group}/v1", "kind": kind, "name": owner, "uid": f"uid-{owner}"}
    return {"ownerReferences": [{**reference, "controller": controller}]}
