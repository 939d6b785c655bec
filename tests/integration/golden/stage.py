"""Where recordings are played: three shards and a cache server of ours, called as those of the recordings are."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

from controllers.kinds import PARTITIONS, SHARDS
from controllers.registration import ShardUrls
from informers import Client, Resource
from informers.api.errors import ConnectionRefused
from informers.client.transport import Request, Response
from kcpctl.apiserver.http.inprocess import InProcess
from tests.integration.golden.likeness import in_older_form
from tests.integration.golden.recording import SHARD_NAMES, labels, workspaces
from tests.integration.objects import JSON, REPLICATED, url_of
from tests.integration.site import ShardProcess, Site

PROVIDERS = ("prov", "prov2")
"""The workspaces that exports and slices are in; those of consumers hold bindings alone."""
T = TypeVar("T")
CACHE = "cache"
_NO_SLICE = "apiexports.apis.kcp.io/skip-endpointslice"
_OF_A_SHARD = re.compile(r"/clusters/root/apis/core\.kcp\.io/v1alpha1/shards(?:/(?P<name>[a-z]+))?$")
_IN_THE_CACHE = "/services/cache/shards/*/clusters/root/apis/core.kcp.io/v1alpha1/shards"


class Stage:
    """Three shards over one cache server, in which a recording's addresses mean something."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.clusters: dict[str, str] = {}
        """What a logical cluster of the recording is called here."""
        self.places: dict[str, str] = {}
        """The workspace's name by what its logical cluster is called, there and here."""
        self._shard_of: dict[str, str] = {}
        self._running: dict[str, AsyncExitStack] = {}
        self._cache_is = ""

    async def set_up(self) -> None:
        """Start all shards, label them as their administrator did, and make the workspaces of the recordings."""
        for shard in SHARD_NAMES:
            await self.start(shard)
            wanted = {"metadata": {"labels": labels(shard)}}
            await self.site.shards[shard].client_of("root").patch(SHARDS, shard, wanted)
        for name, (theirs, shard) in workspaces().items():
            if name in PROVIDERS:
                ours = await self.site.shards[shard].server.create_workspace(f"root:{name}")
                self.clusters[theirs] = ours
                self.places |= {theirs: name, ours: name}
                self._shard_of |= {theirs: shard, ours: shard, f"root:{name}": shard}
        await self.site.settle()

    # What is done to processes

    async def start(self, shard: str, *, url: str = "") -> None:
        """Start a shard, over what it had stored when it ran before; `url` is that of its virtual workspaces."""
        self._running[shard] = AsyncExitStack()
        urls = ShardUrls(url_of(shard), url_of("proxy"), url or url_of(shard))
        process = self.site.shard(shard, urls=urls, deprecated_urls=False, cache=self._cache_is)
        await self._running[shard].enter_async_context(process)

    async def stop(self, shard: str) -> None:
        """Stop a shard."""
        await self._running.pop(shard).aclose()

    async def aclose(self) -> None:
        """Stop all shards that still run."""
        for shard in list(self._running):
            await self.stop(shard)

    async def do(self, deed: str) -> bool:
        """Do to a process what a note says was done; False where it says nothing of the kind."""
        match deed.split():
            case ["kill", "cache"]:
                self._cache_is = "away"
                for process in self._processes():
                    await process.cache.go_away()
            case ["signal", "SIGSTOP", "cache"]:
                for process in self._processes():
                    process.cache.hold()
            case ["start", "cache"]:
                self._cache_is = ""
                for process in self._processes():
                    process.cache.come_back()
            case ["signal", "SIGCONT", "cache"]:
                for process in self._processes():
                    process.cache.release()
            case ["kill", shard]:
                await self.stop(shard)
            case ["start", shard]:
                await self.start(shard)
            case _:
                return False
        return True

    def _processes(self) -> list[ShardProcess]:
        return list(self.site.shards.values())

    # Addresses

    def translated(self, value: T) -> T:
        """Return what a recording says with the names that logical clusters have here."""
        text = json.dumps(value)
        for theirs, ours in self.clusters.items():
            text = text.replace(theirs, ours)
        translated: T = json.loads(text)
        return translated

    def address(self, server: str, path: str, body: Any = None) -> tuple[str, str]:
        """Return which of our servers is asked for what: Shards are at home here, and all of them are in the cache."""
        place, mark, query = path.partition("?")
        found = _OF_A_SHARD.search(place)
        if found and server != CACHE:
            name = found["name"] or (body["metadata"]["name"] if body else "")
            return (name, path) if name else (CACHE, _IN_THE_CACHE + mark + query)
        cluster = place.split("/")[2] if place.startswith("/clusters/") else ""
        return (self._shard_of.get(cluster, "root") if server == "proxy" else server), path

    async def send(self, server: str, request: Request) -> Response:
        """Carry a request to a server, past all networks that are disturbed."""
        if server == CACHE:
            return await InProcess(self.site.cache).send(request)
        if server not in self.site.shards:
            raise ConnectionRefused(f"{server} does not run")
        return await self.site.shards[server].local._inner.send(request)

    # What users did, and did not show

    async def create(self, obj: JSON, shard: str = "") -> None:
        """Create an object of a recording, as its user did; in whose workspace is in it."""
        client, _ = self._client(obj, shard)
        await client.create(resource_of(obj), self._made_by_a_user(obj))

    async def delete(self, obj: JSON) -> None:
        """Delete an object of a recording."""
        client, name = self._client(obj)
        await client.delete(resource_of(obj), name)

    async def patch(self, obj: JSON) -> None:
        """Give an object what its user wants in the recording."""
        client, name = self._client(obj)
        wanted = self._made_by_a_user(obj)
        await client.patch(resource_of(obj), name, {"metadata": wanted["metadata"], "spec": wanted["spec"]})

    def _client(self, obj: JSON, shard: str = "") -> tuple[Client, str]:
        cluster = obj["metadata"]["annotations"]["kcp.io/cluster"]
        process = self.site.shards[shard or self._shard_of.get(cluster, "root")]
        return process.client_of(self.clusters.get(cluster, cluster)), obj["metadata"]["name"]

    def _made_by_a_user(self, obj: JSON) -> JSON:
        found = in_older_form(self.translated(obj))
        notes = found["metadata"].get("annotations") or {}
        metadata = {
            "name": found["metadata"]["name"],
            "labels": found["metadata"].get("labels", {}),
            "annotations": {name: note for name, note in notes.items() if "kcp.io/" not in name or name == _NO_SLICE},
        }
        spec = {name: value for name, value in found["spec"].items() if name != "identity"}
        return {"apiVersion": found["apiVersion"], "kind": found["kind"], "metadata": metadata, "spec": spec}


def resource_of(obj: JSON) -> Resource[Any]:
    """Return the resource of an object."""
    return next(one for one in (*REPLICATED, PARTITIONS) if one.kind == obj["kind"])


@asynccontextmanager
async def stage(site: Site) -> AsyncIterator[Stage]:
    """Yield three shards that run, and stop them."""
    made = Stage(site)
    try:
        await made.set_up()
        yield made
    finally:
        await made.aclose()
