"""When all is calm again: everything is as a fresh computation from the books says, and nobody writes any more."""

import asyncio
import difflib
import json
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from tests.chaos.api import JSON
from tests.chaos.invariants import Violation
from tests.chaos.plans import SHARDS
from tests.chaos.site import Site, until
from tests.chaos.truth import Place, Wish, World, export_wish, wish

_CALM_WITHIN = 50.0
"""Seconds; whoever could not reach the cache server waits up to 30 before it tries again."""
_STUCK_AFTER = 20.0
"""Seconds in which nobody is at work, and the same is still wrong; who follows another store waits for 15 of them."""
_LOSSES_STAND_AFTER = 3.0
"""Seconds in which what is missed has to be the same: slices are told of losses that have stood for 2 of them."""
_ORIGIN = ("cache.kcp.io/original-resource-UID", "cache.kcp.io/original-resource-version")
_CACHED = "/services/cache/shards/*/clusters/*"
_COPIED = {
    "shards": "apis/core.kcp.io/v1alpha1/shards",
    "apiexports": "apis/apis.kcp.io/v1alpha1/apiexports",
    "apiexportendpointslices": "apis/apis.kcp.io/v1alpha1/apiexportendpointslices",
}
_LEASE = "cache.kcpctl.dev/holder"
"""The annotation by which a shard renews its claim to its segment."""


async def calm(site: Site) -> list[Violation]:
    """Wait until everything is right and all queues are empty; return what is still wrong after long enough."""
    wrong: list[str] = []
    same_since = time.monotonic()
    losses = Losses()

    async def is_over() -> bool:
        nonlocal same_since
        at_work = await busy(site, losses)
        found = at_work or [line async for line in problems(site)] or await busy(site, losses)
        if at_work or found != wrong:
            same_since = time.monotonic()
        wrong[:] = found
        return not wrong or time.monotonic() - same_since > _STUCK_AFTER

    await until(is_over, _CALM_WITHIN, pause=0.2)
    return [Violation(time.monotonic(), f"when all is calm again: {line}") for line in wrong]


class Losses:
    """What each process misses, and since when that is the same."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._seen: dict[str, tuple[list[JSON], float]] = {}

    def are_young(self, name: str, missed: list[JSON], now: float) -> bool:
        """Say whether a process misses something, and missed something else just now."""
        before, since = self._seen.get(name, ([], now))
        if before != missed:
            since = now
        self._seen[name] = missed, since
        return bool(missed) and now - since < _LOSSES_STAND_AFTER


async def busy(site: Site, losses: Losses) -> list[str]:
    """Return what the processes themselves say that they are still at."""
    found: list[str] = []
    for name, status in zip(SHARDS, await _statuses(site), strict=True):
        if status is None:
            found.append(f"{name} does not answer")
            continue
        for one in status["informers"]:
            if not one["live"]:
                found.append(f"{name} does not follow {one['resource']} at {one['server']}: {one['lastError']}")
        for one in status["controllers"]:
            if not one["started"] or one["ready"] or one["active"]:
                found.append(f"{name} is still at work: {one['name']}")
        if losses.are_young(name, status["missed"], time.monotonic()):
            found.append(f"{name} has lost something just now")
        found += [f"{name} lets {line} settle" for line in settling(site.books.now, name, status["missed"])]
    return found


def settling(world: World, observer: str, missed: Sequence[JSON]) -> Iterator[str]:
    """Yield each removal that is about to count for the observer, and to be written then: one that no twin holds up."""
    for one in missed:
        home, place = one["shard"] or observer, (one["cluster"], one["name"])
        twins = [name for name in SHARDS if name != home and place in _places(world, name, one["kind"])]
        if one["state"] == "leaving" and not twins:
            yield f"{one['kind']} {'|'.join(place)} of {home}"


def _places(world: World, home: str, kind: str) -> set[Place]:
    state = world.of(home)
    return {("root", name) for name in state.shards} if kind == "shards" else set(state.exports)


async def _statuses(site: Site) -> list[Any]:
    return await asyncio.gather(*(site.shards[name].status() for name in SHARDS))


async def problems(site: Site) -> AsyncIterator[str]:
    """Yield what is not as the books say: at the shards, and of their copies in the cache."""
    world = site.books.now
    copies = {kind: await _listed(site, "cache", f"{_CACHED}/{path}") for kind, path in _COPIED.items()}
    for home in SHARDS:
        originals = {kind: await _listed(site, home, f"/clusters/*/{path}") for kind, path in _COPIED.items()}
        for line in (*_stores(world, home, originals), *_slices(world, home, originals), *_exports(world, originals)):
            yield f"{home}: {line}"
        for kind, found in originals.items():
            for line in _copies(world, home, found, copies[kind]):
                yield f"{home}'s copies of {kind}: {line}"
        if not _is_recorded(site, home, originals["apiexportendpointslices"]):
            yield f"the history of {home} is not read to its end yet"


async def _listed(site: Site, name: str, path: str) -> list[JSON]:
    found = await site.api(name).call("GET", path)
    return list(found["items"])


def place_of(obj: JSON) -> Place:
    """Return where an object is."""
    return obj["metadata"]["annotations"]["kcp.io/cluster"], obj["metadata"]["name"]


def _stores(world: World, home: str, originals: dict[str, list[JSON]]) -> Iterator[str]:
    """Yield what a store lost, or has too many."""
    state = world.of(home)
    there = {kind: {place_of(obj) for obj in found} for kind, found in originals.items()}
    booked = {
        "shards": _places(world, home, "shards"),
        "apiexports": _places(world, home, "apiexports"),
        "apiexportendpointslices": set(state.slices),
    }
    for kind, places in booked.items():
        if places != there[kind]:
            yield f"expected {kind} {sorted(places)}, found {sorted(there[kind])}"
    for obj in originals["shards"]:
        shard, name = state.shards.get(obj["metadata"]["name"]), obj["metadata"]["name"]
        found = (obj["spec"].get("virtualWorkspaceURL"), frozenset(obj["metadata"].get("labels", {}).items()))
        if shard is not None and found != tuple(shard):
            yield f"expected the Shard {name} with {shard}, found {found}"


def _slices(world: World, home: str, originals: dict[str, list[JSON]]) -> Iterator[str]:
    for obj in originals["apiexportendpointslices"]:
        if (place := place_of(obj)) in world.of(home).slices:
            urls = obj.get("status", {}).get("endpoints")
            yield from _differences(f"slice {'|'.join(place)}", wish(world, home, place), urls)


def _exports(world: World, originals: dict[str, list[JSON]]) -> Iterator[str]:
    for obj in originals["apiexports"]:
        place = place_of(obj)
        urls = obj.get("status", {}).get("virtualWorkspaces")
        yield from _differences(f"export {'|'.join(place)}", export_wish(world, place), urls)


def _differences(what: str, wanted: Wish, listed: Sequence[JSON] | None) -> Iterator[str]:
    urls = frozenset(one["url"] for one in listed or ())
    if missing := sorted(wanted.must - urls):
        yield f"{what} lacks {', '.join(missing)}"
    if surplus := sorted(urls - wanted.must - wanted.may):
        yield f"{what} still lists {', '.join(surplus)}"


def _copies(world: World, home: str, originals: list[JSON], copies: list[JSON]) -> Iterator[str]:
    ours = {place_of(obj): obj for obj in copies if obj["metadata"]["annotations"].get("kcp.io/shard") == home}
    lost = {(one.cluster, one.name) for one in world.held | world.unsure if one.home == home}
    for original in originals:
        copy = ours.pop(place_of(original), None)
        if copy is None:
            yield f"{place_of(original)} is missing"
        elif _content(copy) != _content(original):
            yield f"{place_of(original)} says {_content(copy)}, the original {_content(original)}"
        elif (origin := _origin(copy)) != [original["metadata"][field] for field in ("uid", "resourceVersion")]:
            yield f"{place_of(original)} is a copy of an earlier form: {origin}"
    # A store that was replaced lost slices as well, which nobody books: they publish nothing.
    surplus = [place for place, obj in ours.items() if place not in lost and obj["kind"] != "APIExportEndpointSlice"]
    if surplus:
        yield f"{sorted(surplus)} have no original"


def _origin(copy: JSON) -> list[str]:
    return [copy["metadata"]["annotations"].get(note, "") for note in _ORIGIN]


def _content(obj: JSON) -> JSON:
    return {"labels": obj["metadata"].get("labels"), "spec": obj.get("spec"), "status": obj.get("status")}


def _is_recorded(site: Site, home: str, slices: list[JSON]) -> bool:
    recorded = {place: seen.revision for place, seen in site.recorders[home].newest().items()}
    return recorded == {place_of(obj): obj["metadata"]["resourceVersion"] for obj in slices}


# Silence


async def writes(site: Site, seconds: float) -> list[Violation]:
    """Return every object of every kind that is written within that many seconds, lease renewals apart."""
    before = await _everything(site)
    await asyncio.sleep(seconds)
    after = await _everything(site)
    found = []
    for where in sorted(before.keys() | after.keys()):
        old, new = before.get(where), after.get(where)
        if _unleased(old) != _unleased(new):
            told = f"{' '.join(where)} was written although nothing was left to do: {_changes(old, new)}"
            found.append(Violation(time.monotonic(), told))
    return found


def _changes(old: JSON | None, new: JSON | None) -> str:
    """Return what differs between two states of an object, line by line."""
    before, after = (json.dumps(one, indent=1, sort_keys=True).splitlines() for one in (old, new))
    found = difflib.unified_diff(before, after, lineterm="", n=0)
    lines = [line for line in found if not line.startswith(("---", "+++", "@@"))]
    return " ".join(re.sub(r"\s+", " ", line) for line in lines)


async def _everything(site: Site) -> dict[tuple[str, ...], JSON]:
    found: dict[tuple[str, ...], JSON] = {}
    for process in site.processes:
        prefix = _CACHED if process.name == "cache" else "/clusters/*"
        kinds = list(_COPIED.values()) if process.name == "cache" else await _kinds(site, process.name)
        for kind in kinds:
            for obj in await _listed(site, process.name, f"{prefix}/{kind}"):
                metadata = obj["metadata"]
                notes = metadata.get("annotations", {})
                place = (notes.get("kcp.io/shard", ""), notes.get("kcp.io/cluster", ""), metadata.get("namespace", ""))
                found[(process.name, kind, *place, metadata["name"])] = obj
    return found


async def _kinds(site: Site, name: str) -> list[str]:
    """Return the paths of all kinds that a shard can list."""
    groups = (await site.api(name).call("GET", "/clusters/root/apis"))["groups"]
    roots = ["api/v1", *(f"apis/{group['preferredVersion']['groupVersion']}" for group in groups)]
    found = []
    for root in roots:
        resources = (await site.api(name).call("GET", f"/clusters/root/{root}"))["resources"]
        found += [f"{root}/{one['name']}" for one in resources if "list" in one["verbs"] and "/" not in one["name"]]
    return found


def _unleased(obj: JSON | None) -> JSON | None:
    """Return an object without what every renewal of a lease changes; without a lease, all of it."""
    notes = obj["metadata"].get("annotations", {}) if obj else {}
    if obj is None or _LEASE not in notes:
        return obj
    metadata = {k: v for k, v in obj["metadata"].items() if k not in ("resourceVersion", "managedFields")}
    metadata["annotations"] = {key: value for key, value in notes.items() if key != _LEASE}
    return {**obj, "metadata": metadata}
