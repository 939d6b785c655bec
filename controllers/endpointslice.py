"""The endpoint slice controller: each APIExportEndpointSlice lists one URL per shard of its partition.

Conditions, reasons and messages are those of kcp v0.11. What differs on purpose: nothing is taken away because somebody
could not be reached (controllers.publishing), and a malformed selector waits for its Partition to change.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial

import msgspec

from controllers.departures import Departures
from controllers.entries import Reference
from controllers.evidence import LOST
from controllers.kinds import LOGICAL_CLUSTERS, PARTITIONS, SLICES, Partition, Slice
from controllers.publishing import FAILED, Decision, Held, Shards, decide, urls_condition
from controllers.references import (
    EXPORT_INDEX,
    PARTITION_INDEX,
    REFERENCE_INDEX,
    export_of_slice,
    names_of_cluster,
    own_key,
    partition_of_slice,
    slice_of,
    spec_of,
)
from controllers.resolving import Found, Resolver, reference_of
from controllers.sightings import Sightings
from controllers.statuses import fields_of_status
from controllers.urls import is_url_for
from controllers.view import View
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
from informers.api.objects import Key, Object
from informers.api.resources import Resource
from informers.api.selectors import EVERYTHING, LabelSelector, SelectorError
from informers.cache.listers import Lister
from informers.runtime.channels import Listen, every_key
from informers.runtime.cluster import Cluster
from informers.runtime.controller import Controller, controller
from informers.runtime.result import Result
from informers.runtime.sources import ByIndex, Read, Watch

EXPORT_VALID = "APIExportValid"
PARTITION_VALID = "PartitionValid"
URLS_READY = "EndpointURLsReady"

_AT_ONCE = 64
"""Slices that are visited at a time: the store takes as many with one wait for the disk, before copies are made."""


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
        status = fields_of_status(before)
        status["conditions"] = to_json(self.conditions)
        if self.endpoints is not None:
            status["endpoints"] = _as_json(self.endpoints) if self.endpoints else None
        return Result(status=status, error=error)


@lru_cache(maxsize=4)
def _as_json(urls: tuple[str, ...]) -> msgspec.Raw:
    """Return the endpoints as a JSON text; a change of shards gives many slices of an export the same ones."""
    return msgspec.Raw(msgspec.json.encode([{"url": url} for url in urls]))


@dataclass(frozen=True)
class EndpointSlices:
    """Says what a slice should publish, from what is known of shards, exports and partitions."""

    known: Sightings
    partitions: Resource[Partition] = PARTITIONS
    """Partitions as the local server wants them asked for: a real kcp wants an identity across clusters."""
    deleted: Container[Key] = frozenset()
    """Partitions that were deleted before our eyes."""

    async def __call__(self, obj: Object[Slice], cluster: Cluster) -> Result | None:
        """Say which endpoints the slice should publish; absence is never taken for deletion."""
        found = slice_of(obj)
        spec, status = found.spec, found.status
        published = [endpoint.url for endpoint in status.endpoints or ()]
        complete = self.known.complete
        known = self.known.shards() if complete else self.known.only(self.known.home)
        if not complete and (published or not known.seen):
            return None  # nothing is known that could add to it, or take from it
        wish, resolver = _Wish(list(status.conditions), cluster.now()), Resolver(self.known)
        try:
            export = resolver.find(obj, cluster, published)
        except CacheError as error:
            if complete and isinstance(error, Ambiguous):
                self._follow_published(obj, wish, published, known, cluster.lister(self.partitions))
            return _lookup_failed(obj, wish, error)
        if export.cluster is None:
            return _without_export(obj, wish, export, published) if complete else None
        wish.set(mark_true(EXPORT_VALID))
        selector = self._selector(obj, wish, published, cluster.lister(self.partitions))
        if selector is None:
            return wish.result(obj)
        if not known.seen and not published:
            wish.set(mark_false(URLS_READY, FAILED, "no Shards known"))
            return wish.result(obj)
        has_left = partial(resolver.has_left, export, cluster)
        decision = decide(published, export.cluster, spec.export.name, known, selector, has_left=has_left)
        wish.endpoints = decision.urls
        wish.set(urls_condition(URLS_READY, decision, wish.find(URLS_READY), wish.now, cause=export.held))
        return wish.result(obj)

    def _follow_published(
        self,
        obj: Object[Slice],
        wish: _Wish,
        published: Sequence[str],
        known: Shards,
        partitions: Lister[Partition],
    ) -> None:
        """Follow shards and the partition for the exports whose URLs are published; nobody knows which one is meant."""
        asked = _Wish([], wish.now)
        selector = self._selector(obj, asked, published, partitions)
        if selector is None:
            wish.endpoints = asked.endpoints
            return
        reference, name = reference_of(obj)
        urls = set(published)
        for cluster in self.known.exports.clusters(reference, name):
            if own := [url for url in published if is_url_for(url, cluster, name)]:
                decision = decide(own, cluster, name, known, selector, has_left=lambda _: False)
                urls = urls.difference(own).union(decision.urls)
        if urls != set(published):
            wish.endpoints = tuple(sorted(urls))

    def _selector(
        self, obj: Object[Slice], wish: _Wish, published: Sequence[str], partitions: Lister[Partition]
    ) -> LabelSelector | None:
        """Return what the slice's partition selects, or None when it has one that cannot be used."""
        name = spec_of(obj).partition
        if not name:
            wish.set(mark_true(PARTITION_VALID))
            return EVERYTHING
        partition = partitions.find(name)
        if partition is None:
            message = f'partition.topology.kcp.io "{name}" not found'
            wish.set(mark_false(PARTITION_VALID, "PartitionInvalidReference", message))
            self._without_partition(obj, wish, published)
            return None
        try:
            selector = LabelSelector.from_api(partition.value.spec.selector)
        except (SelectorError, msgspec.ValidationError) as error:
            wish.set(mark_false(PARTITION_VALID, "PartitionInvalidReference", str(error)))
            wish.set(mark_false(URLS_READY, FAILED))
            return None
        wish.set(mark_true(PARTITION_VALID))
        return selector

    def _without_partition(self, obj: Object[Slice], wish: _Wish, published: Sequence[str]) -> None:
        """Empty a slice whose partition is not there, unless the local store may have lost it.

        What was seen to be deleted in a store was not lost by it, doubted or not.
        """
        key = Key("", obj.cluster, "", spec_of(obj).partition)
        if published and self.known.local_is_doubted and key not in self.deleted:
            what = f"Partition {obj.cluster}|{spec_of(obj).partition}"
            held = Held(what, f"it {LOST}", self.known.standing.doubted_since)
            wish.set(urls_condition(URLS_READY, Decision(()), wish.find(URLS_READY), wish.now, cause=held))
        else:
            wish.endpoints = ()
            wish.set(mark_false(URLS_READY, FAILED))


def _lookup_failed(obj: Object[Slice], wish: _Wish, error: Exception) -> Result:
    """Keep the endpoints as far as nothing speaks against them, say so, and try again."""
    wish.set(mark_false(EXPORT_VALID, "InternalError", f"Error getting APIExport {'|'.join(reference_of(obj))}"))
    wish.set(mark_unknown(URLS_READY, FAILED))
    return wish.result(obj, error=error)


def _without_export(obj: Object[Slice], wish: _Wish, export: Found, published: Sequence[str]) -> Result:
    """Empty a slice whose export is gone; leave one alone whose export is held and whose cluster nobody knows."""
    if export.held is not None:
        decision = Decision(tuple(published))
        wish.set(urls_condition(URLS_READY, decision, wish.find(URLS_READY), wish.now, cause=export.held))
        return wish.result(obj)
    wish.endpoints = ()
    wish.set(mark_false(EXPORT_VALID, "APIExportNotFound", f"Error getting APIExport {'|'.join(reference_of(obj))}"))
    wish.set(mark_false(URLS_READY, FAILED))
    return wish.result(obj)


def slices_of(changed: frozenset[Reference], slices: Lister[Slice]) -> Iterable[Key]:
    """Return the slices that refer to one of these exports."""
    for reference, name in changed:
        for obj in slices.by_index(EXPORT_INDEX, f"{reference}:{name}"):
            yield obj.key.shardless()


def endpoint_slices(view: View, *, partitions: Resource[Partition] = PARTITIONS) -> Controller[Slice]:
    """Return the controller that keeps slices as the view says.

    `partitions` is the resource as the local server wants it asked for.
    """
    departures = Departures(ByIndex(PARTITION_INDEX, own_key))
    return controller(
        SLICES,
        name="apiexportendpointslice",
        indexers={EXPORT_INDEX: export_of_slice, PARTITION_INDEX: partition_of_slice},
        watches=[
            Listen(view.export_changes, to=slices_of, ready=view.ready),
            Listen(view.shard_changes, to=every_key, ready=view.ready),
            Watch(partitions, to=departures, careful=True),
        ],
        reads=[Read(LOGICAL_CLUSTERS, indexers={REFERENCE_INDEX: names_of_cluster})],
        echoes=False,
        workers=_AT_ONCE,
    )(EndpointSlices(view.sightings, partitions, departures))
