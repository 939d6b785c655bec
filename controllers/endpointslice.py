"""The endpoint slice controller: each APIExportEndpointSlice lists one URL per shard of its partition.

Conditions, reasons and messages are those of kcp v0.11. What differs on purpose: nothing is taken away because somebody
could not be reached (controllers.publishing), and a malformed selector waits for its Partition to change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from controllers.kinds import (
    EXPORTS,
    LOGICAL_CLUSTERS,
    PARTITIONS,
    SHARDS,
    SLICES,
    Partition,
    Shard,
    Slice,
)
from controllers.names import CACHE, SHARD_CHANGED
from controllers.publishing import FAILED, Decision, Held, decide, urls_condition
from controllers.references import (
    EXPORT_INDEX,
    PARTITION_INDEX,
    REFERENCE_INDEX,
    export_of_slice,
    names_of_cluster,
    own_key,
    partition_of_slice,
    references_to_export,
)
from controllers.sightings import ExportMemory, ShardMemory
from controllers.urls import is_url_for
from informers.api.conditions import (
    Condition,
    find,
    mark_false,
    mark_true,
    mark_unknown,
    set_condition,
    to_json,
)
from informers.api.errors import Ambiguous, CacheError
from informers.api.objects import Object
from informers.api.resources import Resource
from informers.api.selectors import EVERYTHING, LabelSelector, SelectorError
from informers.cache.listers import Lister
from informers.runtime.cluster import Cluster
from informers.runtime.controller import Controller, controller
from informers.runtime.filters import annotations_changed
from informers.runtime.result import Result
from informers.runtime.sources import ByIndex, EveryKey, Read, Watch

EXPORT_VALID = "APIExportValid"
PARTITION_VALID = "PartitionValid"
URLS_READY = "EndpointURLsReady"


@dataclass
class _Wish:
    """A slice's status as it takes shape: conditions change one by one, endpoints only when they are decided."""

    conditions: list[Condition]
    now: datetime
    endpoints: tuple[str, ...] | None = None

    def set(self, condition: Condition) -> None:
        self.conditions = set_condition(self.conditions, condition, now=self.now)

    def find(self, kind: str) -> Condition | None:
        return find(self.conditions, kind)

    def result(self, before: Object[Slice], *, error: Exception | None = None) -> Result:
        status = dict(before.at("status", default={}))
        status["conditions"] = to_json(self.conditions)
        if self.endpoints is not None:
            status["endpoints"] = [{"url": url} for url in self.endpoints] or None
        return Result(status=status, error=error)


class _Export(msgspec.Struct, frozen=True):
    """What is known of a slice's export: where it is, and whether it is only held. Neither means that it is gone."""

    cluster: str | None = None
    held: Held | None = None


@dataclass(frozen=True)
class EndpointSlices:
    """Says what a slice should publish, from what is known of shards, exports and partitions."""

    shards: ShardMemory
    exports: ExportMemory
    shard_name: str
    """The local shard's name: all that can be published before the cache was ever seen."""
    partitions: Resource[Partition] = PARTITIONS
    """Partitions as the local server wants them asked for: a real kcp wants an identity across clusters."""

    async def __call__(self, obj: Object[Slice], cluster: Cluster) -> Result | None:
        """Say which endpoints the slice should publish; absence is never taken for deletion."""
        spec, status = obj.value.spec, obj.value.status
        published = [endpoint.url for endpoint in status.endpoints or ()]
        complete = self.shards.complete and self.exports.complete
        known = self.shards.shards() if complete else self.shards.only(self.shard_name)
        if not complete and (published or not known.seen):
            return None  # nothing is known that could add to it, or take from it
        wish = _Wish(list(status.conditions), cluster.now())
        try:
            export = self._export(obj, cluster, complete, published)
        except CacheError as error:
            return _lookup_failed(obj, wish, error)
        if export.cluster is None:
            return _without_export(obj, wish, export, published) if complete else None
        wish.set(mark_true(EXPORT_VALID))
        selector = _selector(obj, wish, cluster.lister(self.partitions))
        if selector is None:
            return wish.result(obj)
        if not known.seen and not published:
            wish.set(mark_false(URLS_READY, FAILED, "no Shards known"))
            return wish.result(obj)
        decision = decide(published, export.cluster, spec.export.name, known, selector)
        wish.endpoints = decision.urls
        wish.set(urls_condition(URLS_READY, decision, wish.find(URLS_READY), wish.now, export=export.held))
        return wish.result(obj)

    def _export(self, obj: Object[Slice], cluster: Cluster, complete: bool, published: Sequence[str]) -> _Export:
        """Find the slice's export, local first, then in the cache; what is missing without evidence is held.

        One that is held counts beside one that is there: of two of the same path nobody can say which is meant. An
        export that has its home here, and is not there, is gone; so is one that was deleted before our eyes, and one
        that nothing was ever published for.
        """
        reference, name = _reference(obj)
        halves = cluster.pair(EXPORTS, CACHE).cluster("*")
        found = halves if complete or halves.local is None else halves.local
        everywhere = found.by_index(REFERENCE_INDEX, f"{reference}:{name}")
        there = {export.cluster for export in everywhere if export.key.shard != self.shard_name}  # no copies of ours
        is_here = any(not export.key.shard for export in everywhere)
        known = there if is_here or not complete else there | self.exports.clusters(reference, name)
        if len(known) > 1:
            raise Ambiguous(f"multiple APIExports found for {reference}:{name}: in {', '.join(sorted(known))}")
        if there:
            return _Export(there.pop())
        sighting = self.exports.seen(reference, name)
        what = f"APIExport {reference}|{name}"
        if sighting is not None:
            since = sighting.held_since  # None while the list that lacks it is still being told
            return _Export(sighting.what.cluster, Held(what, "it is not listed any more", since) if since else None)
        if not published or _has_its_home_here(obj, cluster, published) or self.exports.evidently_gone(reference, name):
            return _Export()
        return _Export(None, Held(what, "no server is known to have it", self.shards.shards().since))


def _has_its_home_here(obj: Object[Slice], cluster: Cluster, published: Sequence[str]) -> bool:
    """Say whether the export that the URLs were published for belongs in a logical cluster of the local server.

    A path says little, since two shards may have it; the URLs tell whose export it was.
    """
    reference, name = _reference(obj)
    homes = {one.cluster for one in cluster.lister(LOGICAL_CLUSTERS).cluster("*").by_index(REFERENCE_INDEX, reference)}
    return reference in homes or any(is_url_for(url, home, name) for url in published for home in homes)


def _reference(obj: Object[Slice]) -> tuple[str, str]:
    export = obj.value.spec.export
    return export.path or obj.cluster, export.name


def _lookup_failed(obj: Object[Slice], wish: _Wish, error: Exception) -> Result:
    """Keep the endpoints, say so, and try again."""
    wish.set(mark_false(EXPORT_VALID, "InternalError", f"Error getting APIExport {'|'.join(_reference(obj))}"))
    wish.set(mark_unknown(URLS_READY, FAILED))
    return wish.result(obj, error=error)


def _without_export(obj: Object[Slice], wish: _Wish, export: _Export, published: Sequence[str]) -> Result:
    """Empty a slice whose export is gone; leave one alone whose export is held and whose cluster nobody knows."""
    if export.held is not None:
        decision = Decision(tuple(published))
        wish.set(urls_condition(URLS_READY, decision, wish.find(URLS_READY), wish.now, export=export.held))
        return wish.result(obj)
    wish.endpoints = ()
    wish.set(mark_false(EXPORT_VALID, "APIExportNotFound", f"Error getting APIExport {'|'.join(_reference(obj))}"))
    wish.set(mark_false(URLS_READY, FAILED))
    return wish.result(obj)


def _selector(obj: Object[Slice], wish: _Wish, partitions: Lister[Partition]) -> LabelSelector | None:
    """Return what the slice's partition selects, or None when it has one that cannot be used."""
    name = obj.value.spec.partition
    if not name:
        wish.set(mark_true(PARTITION_VALID))
        return EVERYTHING
    partition = partitions.find(name)
    if partition is None:
        wish.endpoints = ()
        message = f'partition.topology.kcp.io "{name}" not found'
        wish.set(mark_false(PARTITION_VALID, "PartitionInvalidReference", message))
        wish.set(mark_false(URLS_READY, FAILED))
        return None
    try:
        selector = LabelSelector.from_api(partition.value.spec.selector)
    except (SelectorError, msgspec.ValidationError) as error:
        wish.set(mark_false(PARTITION_VALID, "PartitionInvalidReference", str(error)))
        wish.set(mark_false(URLS_READY, FAILED))
        return None
    wish.set(mark_true(PARTITION_VALID))
    return selector


def endpoint_slices(
    shards: ShardMemory,
    exports: ExportMemory,
    shard_name: str,
    *,
    patience: float = 2.0,
    local_shards: Resource[Shard] = SHARDS,
    partitions: Resource[Partition] = PARTITIONS,
) -> Controller[Slice]:
    """Return the controller; its Manager needs a server named `cache` besides its first.

    `patience` is how many seconds it waits for the cache before it goes on with what is known locally. `local_shards`
    and `partitions` are the resources as the local server wants them asked for.
    """
    export_index = {REFERENCE_INDEX: references_to_export}
    by_export = ByIndex(EXPORT_INDEX, references_to_export)
    return controller(
        SLICES,
        name="apiexportendpointslice",
        indexers={EXPORT_INDEX: export_of_slice, PARTITION_INDEX: partition_of_slice},
        watches=[
            Watch(EXPORTS, to=by_export, where=annotations_changed, indexers=export_index),
            Watch(
                EXPORTS, to=by_export, where=annotations_changed, indexers=export_index, server=CACHE, patience=patience
            ),
            Watch(local_shards, to=EveryKey(), where=SHARD_CHANGED),
            Watch(SHARDS, to=EveryKey(), where=SHARD_CHANGED, server=CACHE, patience=patience),
            Watch(partitions, to=ByIndex(PARTITION_INDEX, own_key)),
        ],
        reads=[Read(LOGICAL_CLUSTERS, indexers={REFERENCE_INDEX: names_of_cluster})],
        workers=4,
    )(EndpointSlices(shards, exports, shard_name, partitions))
