"""Objects for the tests of the cache, made the way they come: from bytes."""

import json
from typing import Any

from informers.api.decoding import Reader
from informers.api.objects import Key, Object
from informers.api.resources import Resource

WIDGETS: Resource[Any] = Resource("example.com", "v1", "widgets")
READER: Reader[Any] = Reader(WIDGETS)


def body(
    name: str,
    *,
    namespace: str = "",
    cluster: str = "",
    shard: str = "",
    rv: int | str = 1,
    uid: str = "",
    labels: dict[str, str] | None = None,
    owners: list[str] | None = None,
    spec: Any = None,
) -> bytes:
    """Return the JSON of a widget."""
    meta: dict[str, Any] = {"name": name, "uid": uid or f"uid-of-{name}", "resourceVersion": str(rv)}
    notes = {k: v for k, v in (("kcp.io/cluster", cluster), ("kcp.io/shard", shard)) if v}
    optional = {"namespace": namespace, "labels": labels, "annotations": notes}
    meta |= {field: value for field, value in optional.items() if value}
    if owners:
        meta["ownerReferences"] = [{"apiVersion": "v1", "kind": "Owner", "name": uid, "uid": uid} for uid in owners]
    return json.dumps({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": meta, "spec": spec or {}}).encode()


def widget(name: str, **fields: Any) -> Object[Any]:
    """Return a widget as a reader reads it."""
    return READER.object(body(name, **fields))


def key(name: str, namespace: str = "", cluster: str = "", shard: str = "") -> Key:
    """Return the key of a widget."""
    return Key(shard, cluster, namespace, name)
