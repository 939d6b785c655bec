"""Another shard of the same name: found before the two of them overwrite each other's copies in the cache."""

import asyncio

from controllers.copies import ORIGINAL_UID
from controllers.kinds import SHARDS, Shard
from controllers.names import ROOT
from informers.api.errors import ConfigurationError, InformersError, NotFound
from informers.api.objects import Object
from informers.client.client import Client
from informers.client.server import Server

_PATIENCE = 2.0
"""Seconds that the cache may take to answer; a shard starts without it."""


async def refuse_namesake(local: Server, cache: Server, name: str, url: str) -> None:
    """Raise `ConfigurationError` when the cache knows another shard of that name.

    Ours is the one with our base URL, or with the uid that our own store remembers. A cache that does not answer is not
    waited for.
    """
    try:
        async with asyncio.timeout(_PATIENCE):
            found = await _find(cache.client(ROOT, name), name)
    except (InformersError, TimeoutError):
        return
    if found is None or found.value.spec.base_url == url:
        return
    own = await _find(local.client(ROOT), name)
    if own is not None and own.uid == found.annotations.get(ORIGINAL_UID):
        return
    raise ConfigurationError(
        f"expected to be the only shard named {name!r}, found another one at {found.value.spec.base_url} in the cache; "
        "give this one a name of its own with --shard-name"
    )


async def _find(client: Client, name: str) -> Object[Shard] | None:
    try:
        return await client.get(SHARDS, name)
    except NotFound:
        return None
