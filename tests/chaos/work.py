"""What users and administrators do: each deed goes to a shard's own server, and into the books first.

A deed that makes no sense in the books as they are (a deletion of what is not there) is left out, so that a plan stays
a plan when steps are dropped from it.
"""

import time
from collections.abc import Mapping
from contextlib import suppress

from tests.chaos.api import JSON, MERGE, Refused
from tests.chaos.plans import SHARDS
from tests.chaos.site import Site, flag_labels, url_of
from tests.chaos.truth import Home, Labels, ShardObject, SliceSpec

EXPORTS = "apis/apis.kcp.io/v1alpha1/apiexports"
SLICES = "apis/apis.kcp.io/v1alpha1/apiexportendpointslices"
PARTITIONS = "apis/topology.kcp.io/v1alpha1/partitions"
SHARD_KIND = "apis/core.kcp.io/v1alpha1/shards"

_KINDS = {
    EXPORTS: "APIExport",
    SLICES: "APIExportEndpointSlice",
    PARTITIONS: "Partition",
    SHARD_KIND: "Shard",
}

PARTITION = "region"
"""The name of the one Partition that a shard's workspace may have."""


class Work:
    """Deeds at the shards of a site."""

    def __init__(self, site: Site) -> None:
        """Work there."""
        self._site = site

    def cluster(self, home: str) -> str:
        """Return the logical cluster of a shard's workspace."""
        return self._site.home(home).clusters[f"root:{home}"]

    def _note(self, home: str, state: Home) -> None:
        self._site.books.change(self._site.books.now.with_home(home, state), time.monotonic())

    async def _create(self, home: str, cluster: str, kind: str, name: str, **body: object) -> None:
        await self._site.api(home).call("POST", f"/clusters/{cluster}/{kind}", bodied(kind, {"name": name}, **body))

    async def _delete(self, home: str, cluster: str, kind: str, name: str) -> None:
        await self._site.api(home).call("DELETE", f"/clusters/{cluster}/{kind}/{name}")

    async def _patch(self, home: str, cluster: str, kind: str, name: str, patch: JSON) -> None:
        await self._site.api(home).call("PATCH", f"/clusters/{cluster}/{kind}/{name}", patch, media=MERGE)

    # Exports and slices

    async def export(self, home: str, name: str, cluster: str = "") -> None:
        """Make an APIExport."""
        place, state = (cluster or self.cluster(home), name), self._site.home(home)
        if place not in state.exports:
            self._note(home, state._replace(exports=state.exports | {place}))
            await self._create(home, place[0], EXPORTS, name, spec={})

    async def unexport(self, home: str, name: str) -> None:
        """Delete an APIExport."""
        place, state = (self.cluster(home), name), self._site.home(home)
        if place in state.exports:
            self._note(home, state._replace(exports=state.exports - {place}))
            await self._delete(home, place[0], EXPORTS, name)

    async def make_slice(self, home: str, name: str, spec: SliceSpec, cluster: str = "") -> None:
        """Make an APIExportEndpointSlice."""
        place, state = (cluster or self.cluster(home), name), self._site.home(home)
        if place in state.slices:
            return
        self._note(home, state._replace(slices={**state.slices, place: spec}))
        reference = {"name": spec.export} | ({"path": spec.reference} if spec.reference else {})
        partition = {"partition": spec.partition} if spec.partition else {}
        await self._create(home, place[0], SLICES, name, spec={"export": reference, **partition})

    async def slice(self, home: str, of: str) -> None:
        """Make a slice of another shard's export."""
        await self.make_slice(home, f"of-{of}", SliceSpec(f"root:{of}", "kept"))

    async def unslice(self, home: str) -> None:
        """Delete the slices that `slice` made."""
        for of in SHARDS:
            place, state = (self.cluster(home), f"of-{of}"), self._site.home(home)
            if place in state.slices:
                left = {key: spec for key, spec in state.slices.items() if key != place}
                self._note(home, state._replace(slices=left))
                await self._delete(home, place[0], SLICES, place[1])

    async def narrow(self, home: str) -> None:
        """Give a slice the partition, or take it away."""
        place, state = (self.cluster(home), "e0"), self._site.home(home)
        if place in state.slices:
            spec = state.slices[place]
            spec = spec._replace(partition="" if spec.partition else PARTITION)
            self._note(home, state._replace(slices={**state.slices, place: spec}))
            await self._patch(home, place[0], SLICES, "e0", {"spec": {"partition": spec.partition or None}})

    # Partitions

    async def partition(self, home: str, region: str) -> None:
        """Make the Partition, or have it select another region."""
        place, state = (self.cluster(home), PARTITION), self._site.home(home)
        selector = {"selector": {"matchLabels": {"region": region}}}
        self._note(home, state._replace(partitions={**state.partitions, place: frozenset({("region", region)})}))
        if place in state.partitions:
            await self._patch(home, place[0], PARTITIONS, PARTITION, {"spec": selector})
        else:
            await self._create(home, place[0], PARTITIONS, PARTITION, spec=selector)

    async def unpartition(self, home: str) -> None:
        """Delete the Partition."""
        place, state = (self.cluster(home), PARTITION), self._site.home(home)
        if place in state.partitions:
            left = {key: value for key, value in state.partitions.items() if key != place}
            self._note(home, state._replace(partitions=left))
            await self._delete(home, place[0], PARTITIONS, PARTITION)

    # Shards

    async def label(self, home: str, region: str, name: str = "") -> None:
        """Have an administrator set the zone of a Shard, and its region where no flag says it."""
        await self._relabel(home, name or home, {"zone": region, "region": region})

    async def unlabel(self, home: str) -> None:
        """Have an administrator take both away."""
        await self._relabel(home, home, {"zone": None, "region": None})

    async def _relabel(self, home: str, name: str, labels: Mapping[str, str | None]) -> None:
        """Change labels; what a flag says is set again by the shard itself."""
        state = self._site.home(home)
        shard = state.shards[name]
        asked = shard._replace(labels=_merged(shard.labels, labels))
        self._note(home, state._replace(shards={**state.shards, name: asked}))
        flags = dict(flag_labels(home)) if name == home else {}
        kept = shard._replace(labels=_merged(asked.labels, flags))
        if kept != asked:
            self._note(home, state._replace(shards={**state.shards, name: kept}))
        await self._patch(home, "root", SHARD_KIND, name, {"metadata": {"labels": dict(labels)}})

    async def extra(self, home: str, region: str) -> None:
        """Make a Shard that no process stands behind, as an administrator may."""
        labels = frozenset({("region", region)})
        await self._make_shard(home, f"extra-{home}", ShardObject(url_of(f"extra-{home}"), labels))

    async def unextra(self, home: str) -> None:
        """Delete every Shard at a home that no process stands behind."""
        for name in [name for name in self._site.home(home).shards if name != home]:
            state = self._site.home(home)
            left = {key: shard for key, shard in state.shards.items() if key != name}
            self._note(home, state._replace(shards=left))
            await self._delete(home, "root", SHARD_KIND, name)

    async def twin(self, home: str) -> None:
        """Make the Shard that others may hold as well: the same cluster and name."""
        await self._make_shard(home, "twin", ShardObject(url_of("twin"), frozenset({("region", "eu")})))

    async def _make_shard(self, home: str, name: str, shard: ShardObject) -> None:
        state = self._site.home(home)
        if name in state.shards:
            return
        self._note(home, state._replace(shards={**state.shards, name: shard}))
        urls = dict.fromkeys(("baseURL", "externalURL", "virtualWorkspaceURL"), shard.url)
        metadata = {"name": name, "labels": dict(shard.labels)}
        await self._site.api(home).call("POST", f"/clusters/root/{SHARD_KIND}", bodied(SHARD_KIND, metadata, spec=urls))

    async def unshard(self, home: str) -> None:
        """Delete a living shard's own Shard, which is made again at once, labels included."""
        with suppress(Refused):  # it has just been deleted, and is not there again yet
            await self._delete(home, "root", SHARD_KIND, home)

    async def local_url(self, home: str) -> None:
        """Change a living shard's own URL at its Shard, which is set right at once."""
        state = self._site.home(home)
        shard = state.shards[home]
        for url in (url_of("elsewhere"), shard.url):
            self._note(home, state._replace(shards={**state.shards, home: shard._replace(url=url)}))
        await self._patch(home, "root", SHARD_KIND, home, {"spec": {"virtualWorkspaceURL": url_of("elsewhere")}})

    # What every shard has

    async def settle_in(self, home: str) -> None:
        """Make what every shard has at its beginning."""
        await self._site.make_home(home)
        following = SHARDS[(SHARDS.index(home) + 1) % len(SHARDS)]
        await self.export(home, "kept")
        await self.export(home, "e0")
        await self.export(home, "shared", "root")
        await self.partition(home, "eu")
        await self.make_slice(home, "kept", SliceSpec("", "kept"))
        await self.make_slice(home, "e0", SliceSpec("", "e0"))
        await self.make_slice(home, "e1", SliceSpec("", "e1"))
        await self.make_slice(home, "far", SliceSpec(f"root:{following}", "kept"))
        await self.make_slice(home, "far-e0", SliceSpec(f"root:{following}", "e0"))
        await self.make_slice(home, "narrow", SliceSpec("", "kept", PARTITION))
        await self.make_slice(home, "shared", SliceSpec("", "shared"), "root")


def bodied(path: str, metadata: JSON, **body: object) -> JSON:
    """Return an object of the kind at that path."""
    version = path.removeprefix("apis/").rpartition("/")[0]
    return {"apiVersion": version, "kind": _KINDS[path], "metadata": metadata, **body}


def _merged(labels: Labels, changes: Mapping[str, str | None]) -> Labels:
    kept = {key: value for key, value in labels if key not in changes}
    return frozenset((kept | {key: value for key, value in changes.items() if value is not None}).items())
