"""A report is readable: what is well is short, what is not well says since when and why."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from kcpctl.report import (
    CacheView,
    ControllerView,
    Endpoint,
    InformerView,
    Missed,
    Process,
    Report,
    ShardSource,
    ShardView,
    SliceView,
    shown,
)
from kcpctl.status import lines

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PROCESS = Process("0.1.0", 42, NOW - timedelta(hours=3), "/data", "root", "https://127.0.0.1:6443")


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def text(**parts: object) -> str:
    return "\n".join(lines(msgspec.convert(shown(Report(NOW, PROCESS, **parts)), Report)))  # type: ignore[arg-type]


def test_the_process_and_what_does_not_run() -> None:
    process = msgspec.structs.replace(PROCESS, notes=("replication is off: there is no cache server",))

    assert list(lines(Report(NOW, process))) == [
        "shard root at https://127.0.0.1:6443: kcpctl 0.1.0, process 42, up for 3h",
        "  replication is off: there is no cache server",
    ]


@pytest.mark.parametrize(
    ("cache", "told"),
    [
        (CacheView(True, True), "cache: reachable"),
        (CacheView(False, True), "cache: reachable, not read to the end yet"),
        (CacheView(True, False, ago(150)), "cache: not reachable; what is known of it is from 2m ago"),
        (CacheView(False, False), "cache: not reached since the start"),
    ],
)
def test_the_cache_says_since_when_it_is_stale(cache: CacheView, told: str) -> None:
    assert told in text(cache=cache).splitlines()


def test_a_shard_says_where_it_is_known_from_and_what_is_wrong_with_it() -> None:
    held = ShardSource("cache", "root", ago(7200))
    shard = ShardView("amber", "https://h:x", {"region": "eu"}, [ShardSource("local", "root"), held], "no port")

    assert text(shards=[shard]).endswith(
        "shards:\n  amber  https://h:x  [region=eu]  from local, cache (held for 2h); not published: no port"
    )


def test_what_is_not_there_and_counts_nevertheless_says_since_when_and_why() -> None:
    missed = [
        Missed("shards", "cache", "amber", "root", "amber", "held", ago(7200), "is not listed any more"),
        Missed("apiexports", "local", "", "c1", "widgets", "held", ago(60), "is not in the local store"),
        Missed("shards", "cache", "azure", "root", "azure", "held", ago(60), "was lost", "uid of what was there"),
    ]

    assert text(missed=missed).endswith(
        "held or leaving:\n"
        "  shards root|amber of shard amber  held for 2h: it is not listed any more\n"
        "  apiexports c1|widgets  held for 60s: it is not in the local store\n"
        "  shards root|azure of shard azure  held for 60s: it was lost; "
        "let go of it by `kcpctl shards remove azure --former`"
    )


def test_a_slice_says_of_each_endpoint_where_it_is_from_and_how_old_that_is() -> None:
    endpoints = [Endpoint("https://a", "local", "root", ago(3)), Endpoint("https://b", "held", "amber", ago(200000))]
    conditions = [
        {"type": "APIExportValid", "status": "True"},
        {"type": "EndpointURLsReady", "status": "Unknown", "reason": "EndpointsHeld", "message": "b is held"},
    ]
    one = SliceView("c1", "widgets", "c1:widgets", "europe", endpoints, False, conditions)

    assert text(slices=[one]).splitlines()[-4:] == [
        "  c1|widgets  of c1:widgets partition europe  (not all shards and exports are known)",
        "      https://a  local, heard 3s ago",
        "      https://b  held for 2d",
        "      EndpointURLsReady=Unknown EndpointsHeld b is held",
    ]


def test_what_is_in_a_workspace_that_is_known_is_named_by_its_path() -> None:
    def first(export: str, path: str = "root:example") -> str:
        one = SliceView("c1", "widgets", export, "", [], True, [], path)
        return text(slices=[one]).splitlines()[-1]

    assert first("c1:widgets") == "  root:example|widgets  of root:example:widgets"
    assert first("root:other:widgets") == "  root:example|widgets  of root:other:widgets"
    assert first("c1:widgets", "") == "  c1|widgets  of c1:widgets"
    missed = Missed("apiexports", "cache", "amber", "c1", "e", "held", ago(60), "was lost", path="root:example")
    assert "apiexports root:example|e of shard amber" in text(missed=[missed])


def test_an_informer_says_how_long_it_has_been_silent_and_what_it_set_aside() -> None:
    dead = InformerView("cache", "shards", True, False, 3, ago(30), "ConnectError: refused", {"a|b": "no name"})
    fine = InformerView("local", "shards", True, True, 3, ago(5))

    assert text(informers=[fine, dead]).splitlines()[-3:] == [
        "  local  shards  live, 3 objects",
        "  cache  shards  synced, not live, 3 objects, silent for 30s: ConnectError: refused",
        "      set aside: a|b: no name",
    ]


def test_a_controller_says_what_it_waits_for() -> None:
    waiting = ControllerView("team", False, ("local:teams",), 0, 1, 0, {})

    assert text(controllers=[waiting]).splitlines()[-1] == (
        "  team  waiting for its sources (local:teams missing); 0 ready, 1 waiting, 0 active; no visits"
    )
