"""`kcpctl status`: ask the running process of a data directory, and show the answer as text or JSON."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from kcpctl.control import ask
from kcpctl.report import HELD, ControllerView, Endpoint, InformerView, Missed, Report, ShardView, SliceView
from kcpctl.shardlist import let_go
from kcpctl.spans import ago, seconds

_QUIET = 90.0
"""Seconds of silence that are worth a word: servers send something at least every minute."""


def show(data_dir: Path, output: str) -> int:
    """Print what the process says; raises `ConfigurationError` when none answers."""
    answer = ask(data_dir, "status")
    if output == "json":
        print(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())
    else:
        print("\n".join(lines(msgspec.convert(answer, Report))))
    return 0


def lines(report: Report) -> Iterator[str]:
    """Yield a report as text."""
    process, now = report.process, report.now
    where = f" at {process.url}" if process.url else ""
    name = f"shard {process.shard}" if process.shard else "process"
    yield f"{name}{where}: kcpctl {process.version}, process {process.pid}, up for {ago(process.started, now)}"
    yield from (f"  {note}" for note in process.notes)
    if report.cache is not None:
        yield f"cache: {_cache(report)}"
    yield from _section("shards", (_shard(shard, now) for shard in report.shards))
    yield from _section("slices", (line for one in report.slices for line in _slice(one, now)))
    yield from _section("held or leaving", (_missed(one, now) for one in report.missed))
    yield from _section("cannot be read", (f"{place}: {error}" for place, error in report.malformed.items()))
    yield from _section("informers", (line for one in report.informers for line in _informer(one, now)))
    yield from _section("controllers", map(_controller, report.controllers))


def _section(title: str, found: Iterable[str]) -> Iterator[str]:
    shown = list(found)
    if shown:
        yield f"{title}:"
        yield from (f"  {line}" for line in shown)


def _cache(report: Report) -> str:
    cache = report.cache
    assert cache is not None  # asked for only where there is one
    if cache.reachable:
        return "reachable" if cache.synced else "reachable, not read to the end yet"
    if cache.stale_since is None:
        return "not reached since the start"
    return f"not reachable; what is known of it is from {ago(cache.stale_since, report.now)} ago"


def _missed(one: Missed, now: datetime) -> str:
    place = f"{one.kind} {one.path or one.cluster}|{one.name}" + (f" of shard {one.shard}" if one.shard else "")
    hint = f"; {let_go(one.name)}" if one.former else ""
    return f"{place}  {one.state} for {ago(one.since, now)}: it {one.why}{hint}"


def _shard(shard: ShardView, now: datetime) -> str:
    sources = ", ".join(
        source.source if source.held_since is None else f"{source.source} (held for {ago(source.held_since, now)})"
        for source in shard.sources
    )
    labels = ",".join(f"{key}={value}" for key, value in sorted(shard.labels.items())) or "no labels"
    problem = f"; not published: {shard.problem}" if shard.problem else ""
    return f"{shard.name}  {shard.url}  [{labels}]  from {sources}{problem}"


def _slice(one: SliceView, now: datetime) -> Iterator[str]:
    view = "" if one.complete else "  (not all shards and exports are known)"
    partition = f" partition {one.partition}" if one.partition else ""
    export = one.export.removeprefix(f"{one.cluster}:") if one.path else one.export
    of = export if export == one.export else f"{one.path}:{export}"
    yield f"{one.path or one.cluster}|{one.name}  of {of}{partition}{view}"
    for endpoint in one.endpoints:
        since = "" if endpoint.since is None else _since(endpoint, now)
        yield f"    {endpoint.url}  {endpoint.source}{since}"
    for condition in one.conditions:
        if condition.get("status") != "True":
            said = " ".join(str(condition[key]) for key in ("reason", "message") if condition.get(key))
            yield f"    {condition['type']}={condition['status']} {said}".rstrip()


def _since(endpoint: Endpoint, now: datetime) -> str:
    age = ago(endpoint.since or now, now)
    return f" for {age}" if endpoint.source == HELD else f", heard {age} ago"


def _informer(one: InformerView, now: datetime) -> Iterator[str]:
    state = "live" if one.live else "synced, not live" if one.synced else "not synced"
    silence = (now - one.last_heard).total_seconds() if one.last_heard else 0.0
    silent = f", silent for {seconds(silence)}" if silence > _QUIET or (one.last_heard and not one.live) else ""
    error = f": {one.last_error}" if one.last_error else ""
    yield f"{one.server}  {one.resource}  {state}, {one.objects} objects{silent}{error}"
    yield from (f"    set aside: {key}: {why}" for key, why in one.quarantined.items())


def _controller(one: ControllerView) -> str:
    state = "running" if one.started else "waiting for its sources"
    missing = f" ({', '.join(one.missing)} missing)" if one.missing else ""
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(one.outcomes.items())) or "no visits"
    return f"{one.name}  {state}{missing}; {one.ready} ready, {one.waiting} waiting, {one.active} active; {outcomes}"
