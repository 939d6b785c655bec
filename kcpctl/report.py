"""What a running process says of itself: the answer to `kcpctl status`, as values."""

from datetime import datetime
from typing import Any, cast

import msgspec

HELD = "held"
"""The source of an endpoint that stays although no source shows its shard now."""


class Process(msgspec.Struct, frozen=True, rename="camel"):
    """The process itself."""

    version: str
    pid: int
    started: datetime
    data_dir: str
    shard: str = ""
    url: str = ""
    """Where it serves, "" where it serves nothing."""
    notes: tuple[str, ...] = ()
    """What does not run, and why."""


class CacheView(msgspec.Struct, frozen=True, rename="camel"):
    """How well the cache server is known."""

    synced: bool
    reachable: bool
    stale_since: datetime | None = None
    """When it was last heard, where it cannot be reached now."""


class ShardSource(msgspec.Struct, frozen=True, rename="camel"):
    """One place that a shard is known from."""

    source: str
    cluster: str
    held_since: datetime | None = None


class Missed(msgspec.Struct, frozen=True, rename="camel"):
    """A Shard or an APIExport that is not there, and counts nevertheless."""

    kind: str
    source: str
    shard: str
    """The shard whose segment of the cache it was seen in; "" where it was seen at home."""
    cluster: str
    name: str
    state: str
    """`held`, or `leaving`."""
    since: datetime
    why: str
    former: str = ""
    """Its uid, where another one has taken its place."""
    path: str = ""
    """Its workspace, where that is known."""


class ShardView(msgspec.Struct, frozen=True, rename="camel"):
    """One shard, by name."""

    name: str
    url: str
    labels: dict[str, str]
    sources: list[ShardSource]
    problem: str = ""
    """Why its URL cannot be published."""


class Endpoint(msgspec.Struct, frozen=True, rename="camel"):
    """One published URL, and what is known of it."""

    url: str
    source: str
    """`local`, `cache` or `held`."""
    shard: str = ""
    since: datetime | None = None
    """When the source was last heard; for a held one, since when it is held."""


class SliceView(msgspec.Struct, frozen=True, rename="camel"):
    """One APIExportEndpointSlice of this shard."""

    cluster: str
    name: str
    export: str
    partition: str
    endpoints: list[Endpoint]
    complete: bool
    """Whether all shards and exports are known in this process."""
    conditions: list[dict[str, Any]]
    path: str = ""
    """Its workspace, where that is known."""


class InformerView(msgspec.Struct, frozen=True, rename="camel"):
    """One informer."""

    server: str
    resource: str
    synced: bool
    live: bool
    objects: int
    last_heard: datetime | None = None
    last_error: str = ""
    quarantined: dict[str, str] = {}
    """Objects set aside, by key, and why."""


class ControllerView(msgspec.Struct, frozen=True, rename="camel"):
    """One controller."""

    name: str
    started: bool
    missing: tuple[str, ...]
    """Sources that have not synced."""
    ready: int
    waiting: int
    active: int
    outcomes: dict[str, int]


class Report(msgspec.Struct, frozen=True, rename="camel"):
    """All of it; a server without controllers has only the first two."""

    now: datetime
    process: Process
    cache: CacheView | None = None
    shards: list[ShardView] = []
    slices: list[SliceView] = []
    missed: list[Missed] = []
    malformed: dict[str, str] = {}
    """Shards and exports that cannot be read, by source and key, and why."""
    informers: list[InformerView] = []
    controllers: list[ControllerView] = []


def shown(report: Report) -> dict[str, Any]:
    """Return a report as JSON values."""
    return cast("dict[str, Any]", msgspec.to_builtins(report))
