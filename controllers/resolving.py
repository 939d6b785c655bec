"""Which APIExport a slice means, and what is known of one that is not there."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from controllers.kinds import EXPORTS, LOGICAL_CLUSTERS, Slice
from controllers.names import CACHE
from controllers.publishing import Held
from controllers.references import REFERENCE_INDEX
from controllers.sightings import ExportMemory
from controllers.urls import is_url_for
from informers.api.errors import Ambiguous
from informers.api.objects import Object
from informers.runtime.cluster import Cluster


class Found(msgspec.Struct, frozen=True):
    """What is known of a slice's export: where it is, and whether it is only held. Neither means that it is gone."""

    name: str
    cluster: str | None = None
    held: Held | None = None
    is_certain: bool = False
    """Whether nothing else could be meant: it is here, or the slice names its very cluster."""


@dataclass(frozen=True)
class Resolver:
    """Finds exports, local first, then in the cache; what is missing without evidence is held."""

    exports: ExportMemory
    shard_name: str

    def find(
        self, obj: Object[Slice], cluster: Cluster, published: Sequence[str], *, complete: bool, since: datetime | None
    ) -> Found:
        """Find the slice's export; `since` is when all exports were first known. Raises a `CacheError`.

        One that is held counts beside one that is there: of two of the same path nobody can say which is meant. An
        export that has its home here, and is not there, is gone; so is one that was deleted before our eyes, and one
        that nothing was ever published for.
        """
        reference, name = reference_of(obj)
        halves = cluster.pair(EXPORTS, CACHE).cluster("*")
        found = halves if complete or halves.local is None else halves.local
        everywhere = found.by_index(REFERENCE_INDEX, f"{reference}:{name}")
        there = {export.cluster for export in everywhere if export.key.shard != self.shard_name}  # no copies of ours
        is_here = any(not export.key.shard for export in everywhere)
        known = there if is_here or not complete else there | self.exports.clusters(reference, name)
        if len(known) > 1:
            raise Ambiguous(f"multiple APIExports found for {reference}:{name}: in {', '.join(sorted(known))}")
        if there:
            [found_in] = there
            return Found(name, found_in, is_certain=is_here or found_in == reference)
        sighting = self.exports.seen(reference, name)
        what = f"APIExport {reference}|{name}"
        if sighting is not None:
            since = sighting.held_since  # None while the list that lacks it is still being told
            held = Held(what, "it is not listed any more", since) if since else None
            return Found(name, sighting.what.cluster, held, is_certain=sighting.what.cluster == reference)
        if not published or _has_its_home_here(obj, cluster, published) or self.exports.evidently_gone(reference, name):
            return Found(name)
        return Found(name, held=Held(what, "no server is known to have it", since))

    def has_left(self, found: Found, cluster: Cluster, other: str) -> bool:
        """Say whether the export of that name in another cluster is evidently not the one that the slice means.

        It is one that is there under another path, that was deleted before our eyes, or whose home is here, without it.
        """
        sighting = self.exports.seen(other, found.name)
        if found.is_certain or (sighting is not None and sighting.held_since is None):
            return True
        return sighting is None and (_is_local(cluster, other) or self.exports.evidently_gone(other, found.name))


def reference_of(obj: Object[Slice]) -> tuple[str, str]:
    """Return the path, or the cluster, and the name of the export that a slice is of."""
    export = obj.value.spec.export
    return export.path or obj.cluster, export.name


def _has_its_home_here(obj: Object[Slice], cluster: Cluster, published: Sequence[str]) -> bool:
    """Say whether the export that the URLs were published for belongs in a logical cluster of the local server.

    A path says little, since two shards may have it; the URLs tell whose export it was.
    """
    reference, name = reference_of(obj)
    homes = {one.cluster for one in cluster.lister(LOGICAL_CLUSTERS).cluster("*").by_index(REFERENCE_INDEX, reference)}
    return reference in homes or any(is_url_for(url, home, name) for url in published for home in homes)


def _is_local(cluster: Cluster, name: str) -> bool:
    return bool(cluster.lister(LOGICAL_CLUSTERS).cluster("*").by_index(REFERENCE_INDEX, name))
