"""The recordings of a real kcp in the form that replays take: calls, and watches with their events."""

from collections.abc import Iterator, Mapping
from typing import Any

from kcpctl.apiserver.exchange import User
from tests.golden import pairs

LIST_OF_KINDS = "APIResourceList"
MASTERS = ("cache-client", "shard-admin")
TOKENS = {
    **{name: User(name, groups=("system:masters",)) for name in MASTERS},
    "kcp-admin": User("kcp-admin", groups=("system:kcp:admin",)),
    "user-ann": User("ann"),
    "logical-cluster-admin": User("logical-cluster-admin"),
    "external-logical-cluster-admin": User("external-logical-cluster-admin"),
}
"""Who asked, by the name in the recordings; all others proved nothing that counts."""


def calls(name: str) -> Iterator[dict[str, Any]]:
    """Yield what one file of recordings holds, in order of time: requests with their answers as `resp`.

    A watch is one request; what it sent until it ended is in its answer as `events`. Watches that had no time limit are
    left out: they were open beside other requests.
    """
    watches: dict[str, dict[str, Any]] = {}
    for record in pairs("kcp", name):
        kind = record["kind"]
        if kind == "call":
            yield _pair(record)
        elif kind == "watch-open":
            watches[record["id"]] = _pair(record)
        elif kind == "watch-event":
            watches[record["id"]]["resp"].setdefault("events", []).append(record["event"])
        elif kind == "watch-error":
            watch = watches.pop(record["id"])
            watch["resp"]["body"] = record["body"]
            yield watch
        elif kind == "watch-end" and "timeoutSeconds" in watches[record["id"]]["req"]["path"]:
            watch = watches.pop(record["id"])
            watch["resp"].setdefault("events", [])
            yield watch


def _pair(record: Mapping[str, Any]) -> dict[str, Any]:
    asked = dict(record["req"]) | ({"token": record["as"]} if record["as"] in TOKENS else {})
    return {"id": record["id"], "as": record["as"], "server": record["server"], "req": asked, "resp": record["resp"]}


def distinct(*lists: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the items of recorded lists, each once, in the order of their revisions."""
    items = {
        (item["apiVersion"], item["kind"], shard_of(item), cluster_of(item), item["metadata"]["name"]): item
        for body in lists
        for item in body["items"]
    }
    return sorted(items.values(), key=lambda item: int(item["metadata"]["resourceVersion"]))


def served_part(recorded: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recorded answer without the kinds of a discovery document that ours does not have."""
    body, own = recorded.get("body"), ours.get("body")
    if not (isinstance(body, dict) and isinstance(own, dict) and body.get("kind") == own.get("kind") == LIST_OF_KINDS):
        return dict(recorded)
    names = {one["name"] for one in own["resources"]}
    kinds = [one for one in body["resources"] if one["name"] in names]
    return dict(recorded) | {"body": body | {"resources": kinds}}


def cluster_of(obj: Mapping[str, Any]) -> str:
    """Return the logical cluster that an object is in."""
    found: str = obj["metadata"]["annotations"]["kcp.io/cluster"]
    return found


def shard_of(obj: Mapping[str, Any]) -> str:
    """Return the shard that an object in a cache server is from."""
    found: str = obj["metadata"]["annotations"].get("kcp.io/shard", "")
    return found
