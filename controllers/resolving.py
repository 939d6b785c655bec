"""Which APIExport a slice means, and what is known of one that is not there."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from controllers.entries import State
from controllers.kinds import LOGICAL_CLUSTERS, Slice
from controllers.publishing import Held
from controllers.references import REFERENCE_INDEX, spec_of
from controllers.sightings import Sightings
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

    known: Sightings

    def find(self, obj: Object[Slice], cluster: Cluster, published: Sequence[str]) -> Found:
        """Find the slice's export; raises a `CacheError`.

        One that is held counts beside one that is there: of two of the same path nobody can say which is meant. An
        export that has its home here, and is not there, is gone; so is one that was deleted before our eyes, and one
        that nothing was ever published for.
        """
        reference, name = reference_of(obj)
        called = self.known.exports.find(reference, name)
        is_complete, since = self.known.complete, self.known.standing.complete_since
        here = {entry.key.cluster for entry in called if entry.source == "local" and entry.state is State.PRESENT}
        everywhere = {entry.key.cluster for entry in called}
        known = here or (everywhere if is_complete else set())
        if len(known) > 1:
            raise Ambiguous(f"multiple APIExports found for {reference}:{name}: in {', '.join(sorted(known))}")
        what = f"APIExport {reference}|{name}"
        if known:
            best = called[0]
            [found_in] = known
            is_certain = bool(here) or found_in == reference
            held = Held(what, f"it {best.why}", best.since) if best.state is State.HELD else None
            return Found(name, found_in, held, is_certain)
        if not published or self._is_gone(obj, cluster, published):
            return Found(name)
        return Found(name, held=Held(what, "no server is known to have it", since))

    def _is_gone(self, obj: Object[Slice], cluster: Cluster, published: Sequence[str]) -> bool:
        """Say whether there is evidence that an export which nobody knows is no more."""
        if self.known.exports.evidently_gone(*reference_of(obj)):
            return True
        return not self.known.local_is_doubted and _has_its_home_here(obj, cluster, published)

    def has_left(self, found: Found, cluster: Cluster, other: str) -> bool:
        """Say whether the export of that name in another cluster is evidently not the one that the slice means.

        It is one that is there under another path, that was deleted before our eyes, or whose home is here, without it.
        """
        exports = self.known.exports
        entry = exports.seen(other, found.name)
        if found.is_certain or (entry is not None and entry.state is not State.HELD):
            return True
        is_gone = exports.evidently_gone(other, found.name)
        return entry is None and (is_gone or (not self.known.local_is_doubted and _is_local(cluster, other)))


def reference_of(obj: Object[Slice]) -> tuple[str, str]:
    """Return the path, or the cluster, and the name of the export that a slice is of."""
    export = spec_of(obj).export
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
