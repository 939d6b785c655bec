"""A recording of a real kcp as a list of moments, in the addresses that our shards have."""

import json
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import msgspec

from tests.golden import pairs
from tests.integration.objects import JSON, url_of

SHARD_NAMES = ("root", "amber", "beryl")
_ADDRESSES = {
    "https://127.0.0.1:7444": url_of("root"),
    "https://127.0.0.1:7445": url_of("amber"),
    "https://127.0.0.1:7446": url_of("beryl"),
    "https://127.0.0.1:7443": url_of("proxy"),
    "https://localhost:7446": url_of("elsewhere"),
}


class Moment(msgspec.Struct, frozen=True):
    """One record: a request and its answer, what a watch sent, or what was done to a process."""

    at: float
    """Seconds since the recording began."""
    kind: str
    """`call`, `note`, `relist`, or one of the `watch-…` kinds."""
    id: str
    record: JSON

    @property
    def method(self) -> str:
        """Return the method of a request."""
        return str(self.record["req"]["method"])

    @property
    def path(self) -> str:
        """Return the path of a request, query included."""
        return str(self.record["req"]["path"])


def moments(name: str) -> list[Moment]:
    """Return a recording in order of time: a request counts from when it was sent, so it is before its consequences."""
    return sorted(map(_moment, pairs("kcp", f"{name}.jsonl")), key=attrgetter("at"))


def answer(name: str, call: str) -> JSON:
    """Return the body of the first answer to the call of that id."""
    body: JSON = next(m.record["resp"]["body"] for m in moments(name) if m.kind == "call" and m.id == call)
    return body


def workspaces() -> dict[str, tuple[str, str]]:
    """Return the logical cluster and the shard of each workspace that the recordings are about, by its name."""
    found = {}
    for moment in moments("b00-workspaces"):
        if moment.kind == "call" and moment.id.endswith(".ready"):
            notes = moment.record["resp"]["body"]["metadata"]["annotations"]
            name = moment.record["resp"]["body"]["metadata"]["name"]
            if "core.kcp.io/shard" in notes:
                found[name] = (notes["internal.tenancy.kcp.io/cluster"], notes["core.kcp.io/shard"])
    return found


def labels(shard: str) -> dict[str, str]:
    """Return the labels that an administrator gave to a Shard."""
    made = answer("b00-workspaces", f"label.{shard}")
    return {"region": made["metadata"]["labels"]["region"]}


def _moment(record: Mapping[str, Any]) -> Moment:
    text = json.dumps(record)
    for theirs, ours in _ADDRESSES.items():
        text = text.replace(theirs, ours)
    name = record.get("id") or record.get("note", "")
    return Moment(record["t_ms"] / 1000, record["kind"], name, json.loads(text))
