"""Collecting what `kcpctl status` shows, in one step, from the Manager and our view."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from controllers.entries import EXPORT, SHARD, Entry, Kind, SeenExport
from controllers.kinds import LOGICAL_CLUSTERS, SHARDS, SLICES, Slice
from controllers.names import CACHE
from controllers.publishing import SeenShard
from controllers.sightings import Sightings
from controllers.urls import UnusableUrl, frame_of, virtual_workspace_url
from informers.api.conditions import to_json
from informers.api.objects import PATH, Object
from informers.api.resources import Resource
from informers.cache.informer import SharedInformer
from informers.runtime.manager import Manager
from kcpctl.builtin import LOCAL, Ours
from kcpctl.quarantines import Quarantines
from kcpctl.report import (
    HELD,
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
)


def collect(process: Process, manager: Manager, ours: Ours | None, set_aside: Quarantines) -> Report:
    """Return what is known at this moment."""
    return Report(
        now=datetime.now(UTC),
        process=process,
        cache=_cache(manager),
        shards=_shards(ours) if ours else [],
        slices=_slices(manager, ours) if ours and _watches(manager, SLICES) else [],
        missed=[_missed(entry) for entry in ours.view.held()] if ours else [],
        malformed=_malformed(ours) if ours else {},
        informers=[_informer(informer, set_aside) for informer in manager.informers],
        controllers=_controllers(manager),
    )


def _cache(manager: Manager) -> CacheView | None:
    informers = [informer for informer in manager.informers if informer.origin.server == CACHE]
    if not informers:
        return None
    reachable = all(informer.live for informer in informers)
    heard = [informer.last_heard for informer in informers if informer.last_heard and not informer.live]
    return CacheView(
        all(informer.synced for informer in informers), reachable, min(heard) if heard and not reachable else None
    )


def _shards(ours: Ours) -> list[ShardView]:
    known = ours.view.sightings
    return [
        ShardView(shard.name, shard.url, shard.labels, [*map(_source, entries_of(shard, known))], unusable(shard))
        for shard in known.shards().seen
    ]


def entries_of(shard: SeenShard, known: Sightings) -> list[Entry]:
    """Return what is known of a shard, place by place; of one whose place another has taken, that alone."""
    called = [entry for entry in known.entries(SHARD) if entry.key.name == shard.name]
    formers = [entry for entry in called if entry.place.former]
    held = [entry for entry in formers if shard.held_since is not None and entry.what == _unheld(shard)]
    return held or [entry for entry in called if entry not in formers]


def _unheld(shard: SeenShard) -> SeenShard:
    return SeenShard(shard.name, shard.url, shard.labels)


def _source(entry: Entry) -> ShardSource:
    return ShardSource(entry.source, entry.key.cluster, entry.held_since)


def unusable(shard: SeenShard) -> str:
    """Say why a shard's URL cannot be published; "" when it can."""
    frame = frame_of(shard.url)
    return str(frame) if isinstance(frame, UnusableUrl) else ""


def _missed(entry: Entry) -> Missed:
    key, since = entry.key, entry.since
    assert since is not None  # as of all that is held or leaving
    kind, state = entry.place.kind, entry.state.value
    path = entry.what.path if isinstance(entry.what, SeenExport) else ""
    where = (entry.source, key.shard, key.cluster, key.name)
    return Missed(kind, *where, state, since, entry.why, entry.place.former, path)


def _malformed(ours: Ours) -> dict[str, str]:
    kinds: tuple[tuple[Kind, str], ...] = ((SHARD, "Shard"), (EXPORT, "APIExport"))
    every = ((name, one) for kind, name in kinds for one in ours.view.sightings.malformed(kind))
    return {f"{one.source}: {name} {one.key}": one.error for name, one in every}


def _slices(manager: Manager, ours: Ours) -> list[SliceView]:
    slices = manager.informer(SLICES)
    if not slices.synced:
        return []
    known = _Endpoints(manager, ours)
    return sorted((known.view(obj) for obj in slices.lister.list()), key=lambda view: (view.cluster, view.name))


class _Endpoints:
    """Where published URLs come from."""

    def __init__(self, manager: Manager, ours: Ours) -> None:
        """Look at what is known now."""
        self._manager = manager
        self._ours = ours
        self._known = ours.view.sightings
        self._complete = self._known.complete
        self._paths = _paths(manager)

    def view(self, obj: Object[Slice]) -> SliceView:
        """Return one slice with the source of each endpoint; one that cannot be read shows no endpoints."""
        try:
            spec, status = obj.value.spec, obj.value.status
        except msgspec.ValidationError:
            return SliceView(obj.cluster, obj.name, "", "", [], self._complete, [], self._paths.get(obj.cluster, ""))
        reference = spec.export.path or obj.cluster
        known = self._urls(reference, spec.export.name)
        endpoints = [known.get(endpoint.url, Endpoint(endpoint.url, HELD)) for endpoint in status.endpoints or ()]
        return SliceView(
            obj.cluster,
            obj.name,
            f"{reference}:{spec.export.name}",
            spec.partition,
            endpoints,
            self._complete,
            to_json(status.conditions),
            self._paths.get(obj.cluster, ""),
        )

    def _urls(self, reference: str, name: str) -> dict[str, Endpoint]:
        """Return what each known shard would have published for the export, wherever that may be."""
        found: dict[str, Endpoint] = {}
        for cluster in self._known.exports.clusters(reference, name):
            for shard in self._known.shards().seen:
                if not unusable(shard):
                    url = virtual_workspace_url(shard.url, cluster, name)
                    found[url] = self._endpoint(url, shard)
        return found

    def _endpoint(self, url: str, shard: SeenShard) -> Endpoint:
        if shard.held_since is not None:
            return Endpoint(url, HELD, shard.name, shard.held_since)
        there = (one for one in self._known.entries(SHARD) if one.key.name == shard.name and not one.held_since)
        sources = {entry.source for entry in there}
        source = LOCAL if LOCAL in sources else CACHE
        resource = self._ours.local_shards if source == LOCAL else SHARDS
        return Endpoint(url, source, shard.name, self._manager.informer(resource, source).last_heard)


def _paths(manager: Manager) -> dict[str, str]:
    """Return the paths of logical clusters by their names, where they are followed."""
    if not _watches(manager, LOGICAL_CLUSTERS):
        return {}
    return {obj.cluster: obj.annotations.get(PATH, "") for obj in manager.informer(LOGICAL_CLUSTERS).store}


def _watches(manager: Manager, resource: Resource[Any]) -> bool:
    return any(informer.origin.collection.resource.same_as(resource) for informer in manager.informers)


def _informer(informer: SharedInformer[Any], set_aside: Quarantines) -> InformerView:
    figures = informer.statistics()
    return InformerView(
        figures.origin.server,
        str(figures.origin.collection.resource),
        figures.synced,
        figures.live,
        figures.objects,
        figures.last_heard,
        "" if figures.last_error is None else f"{type(figures.last_error).__name__}: {figures.last_error}",
        set_aside.of(figures.origin),
    )


def _controllers(manager: Manager) -> list[ControllerView]:
    return [
        ControllerView(
            name,
            figures.started,
            figures.missing,
            figures.queue.ready,
            figures.queue.waiting,
            figures.queue.active,
            {str(outcome): count for outcome, count in figures.outcomes.items()},
        )
        for name, figures in manager.statistics().controllers.items()
    ]
