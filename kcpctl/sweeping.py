"""Copies in the cache, as the cache server lists them now, and their deletion."""

from collections.abc import Iterable
from typing import Any

import msgspec

from controllers.replication import REPLICATED
from informers.api.clusters import WILDCARD
from informers.api.errors import Conflict, NotFound
from informers.api.objects import Key
from informers.api.resources import Resource
from informers.client.server import Server
from informers.tasks import together

_AT_A_TIME = 16


class Copy(msgspec.Struct, frozen=True):
    """One copy, as it is known."""

    resource: Resource[Any]
    key: Key
    uid: str


async def copies_at(cache: Server, shard: str = WILDCARD) -> list[Copy]:
    """Return the copies in a shard's segment, or in all of them; of kinds that we replicate."""
    found: list[Copy] = []
    for resource in REPLICATED:
        try:
            objects = await cache.client(WILDCARD, shard).list(resource)
        except NotFound:
            continue  # this cache server does not hold the kind
        found.extend(Copy(resource, obj.key, obj.uid) for obj in objects)
    return found


async def sweep(cache: Server, copies: Iterable[Copy]) -> int:
    """Delete these copies, unless they are others by now; return how many that were."""
    waiting = list(copies)
    deleted = 0

    async def work() -> None:
        nonlocal deleted
        while waiting:
            copy = waiting.pop()
            try:
                client = cache.client(copy.key.cluster, copy.key.shard)
                await client.delete(copy.resource, copy.key.name, uid=copy.uid)
            except (Conflict, NotFound):
                continue
            deleted += 1

    await together(*(work() for _ in range(_AT_A_TIME)))
    return deleted
