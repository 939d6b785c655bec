"""Copies that somebody changes in the cache, as whoever has its kubeconfig can."""

import time
import uuid
from typing import Any

from tests.chaos.api import JSON, Refused
from tests.chaos.invariants import Tampered, Violation
from tests.chaos.site import Site, until, url_of
from tests.chaos.truth import ShardObject
from tests.chaos.work import EXPORTS, SHARD_KIND, SLICES, Work, bodied

KINDS = {"shards": SHARD_KIND, "apiexports": EXPORTS, "apiexportendpointslices": SLICES}
FORGED = frozenset({("region", "forged")})
_REPAIRED_WITHIN = 5.0


def segment(shard: str, cluster: str, resource: str) -> str:
    """Return where the cache server keeps a shard's copies of one kind."""
    return f"/services/cache/shards/{shard}/clusters/{cluster}/{KINDS[resource]}"


class Tampering:
    """Changes copies at a site's cache server."""

    def __init__(self, site: Site, work: Work) -> None:
        """Change them there."""
        self._site = site
        self._work = work

    async def tamper(self, how: str, resource: str, home: str) -> list[Violation]:
        """Change a copy in one of several ways; nothing when it, or the cache server, is not there."""
        if not self._site.cache.answers:
            return []
        cluster, name = ("root", home) if resource == "shards" else (self._work.cluster(home), "kept")
        where = segment(home, cluster, resource)
        try:
            if how == "ghost":
                await self._ghost(where, resource, home, cluster)
            elif how == "delete":
                return await self._delete(where, resource, home, cluster, name)
            else:
                await self._change(how, f"{where}/{name}", home)
        except Refused as refused:
            if refused.status not in (404, 409):
                raise
        return []

    async def _change(self, how: str, where: str, home: str) -> None:
        copy = await self._site.api("cache").call("GET", where)
        metadata = copy["metadata"]
        if how == "raise":
            metadata["generation"] = metadata.get("generation", 1) + 100
        elif how == "break":
            copy["spec"] = "text"
        else:
            self._site.tampered.append(Tampered(time.monotonic(), "shards", home, labels=FORGED))
            metadata["labels"] = dict(FORGED)
        await self._site.api("cache").call("PUT", where, copy)

    async def _delete(self, where: str, resource: str, home: str, cluster: str, name: str) -> list[Violation]:
        """Delete a copy. A shard that hears of it makes it again before anybody may believe it."""
        status = await self._site.shards[home].status() if self._site.is_well(home) else None
        hears = bool(status and status["cache"] and status["cache"]["reachable"])
        if not hears:
            self._site.tampered.append(Tampered(time.monotonic(), resource, name, cluster))
        await self._site.api("cache").call("DELETE", f"{where}/{name}")

        async def is_there() -> Any:
            try:
                return await self._site.api("cache").call("GET", f"{where}/{name}")
            except Refused:
                return None

        if hears and not await until(is_there, _REPAIRED_WITHIN):
            told = f"the copy of {home}'s {resource} {cluster}|{name} was not made again in {_REPAIRED_WITHIN} s"
            return [Violation(time.monotonic(), told, home)]
        return []

    async def _ghost(self, where: str, resource: str, home: str, cluster: str) -> None:
        """Make a copy of what its shard does not have; it takes it away again, or holds it with a store of its own."""
        self._book_ghost(resource, home)
        await self._site.api("cache").call("POST", where, _ghostly(resource, home))

    def _book_ghost(self, resource: str, home: str) -> None:
        """Book a Shard, or an export, that is there and deleted at once."""
        world, state = self._site.books.now, self._site.home(home)
        if resource == "shards":
            ghost = ShardObject(url_of("ghost"), frozenset())
            haunted = world.with_home(home, state._replace(shards={**state.shards, "ghost": ghost}))
        else:
            exports = state.exports | {(self._work.cluster(home), "ghost")}
            haunted = world.with_home(home, state._replace(exports=exports))
        self._site.books.change(haunted, time.monotonic())
        self._site.books.change(world, time.monotonic())
        if home in self._site.young:
            self._site.history_broke.add(home)


def _ghostly(resource: str, home: str) -> JSON:
    url = dict.fromkeys(("baseURL", "externalURL", "virtualWorkspaceURL"), url_of("ghost"))
    metadata = {"name": "ghost", "uid": str(uuid.uuid4()), "annotations": {"kcp.io/shard": home}}
    spec = {"shards": url, "apiexports": {}}.get(resource, {"export": {"name": "kept"}})
    return bodied(KINDS[resource], metadata, spec=spec)
