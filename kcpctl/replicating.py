"""What `kcpctl replication` does, in the running process: comparing, adopting and pruning."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from controllers.copies import updated_copy, wanted_copy
from controllers.entries import SHARD
from controllers.names import CACHE
from controllers.segment import Segment
from controllers.stock import Replicated
from controllers.view import View
from informers.api.errors import ApiError, ConfigurationError, DecodeError, TransportError
from informers.api.objects import Key
from informers.cache.informer import SharedInformer
from informers.cache.slices import Slices
from informers.runtime.manager import Manager
from kcpctl.drift import Adopted, Drift, KindDrift, Orphans, Pruned
from kcpctl.effects import going_at_home
from kcpctl.logs import told
from kcpctl.sweeping import Copy, copies_at, sweep


class Replication:
    """One process' segment of the cache, for people."""

    def __init__(self, manager: Manager, view: View, segment: Segment) -> None:
        """Look at what this process knows."""
        self._manager = manager
        self._cache = manager.servers[CACHE]
        self._view = view
        self._segment = segment

    async def drift(self, now: datetime) -> Drift:
        """Compare everything; raises `ConfigurationError` where the cache is not known."""
        self._check_known()
        segment, standing = self._segment, self._view.sightings.standing
        kinds = [await _drift(one, is_held=segment.held) for one in segment.replicated]
        since = standing.doubted_since or segment.lease.inherited
        return Drift(now, segment.lease.shard, segment.lease.state, since, kinds, _shown(await self._orphans()))

    async def prune(self, *, for_good: bool) -> Pruned:
        """Find the copies of shards that nobody knows, and delete them `for_good`.

        Raises `ConfigurationError` where it is not known which shards there are.
        """
        self._check_known()
        if not self._view.complete:
            raise ConfigurationError(
                "expected all shards to be known, found that the cache has not been read to the end yet; try again then"
            )
        orphans = await self._orphans()
        deleted = await sweep(self._cache, orphans) if for_good else 0
        return Pruned(_shown(orphans), deleted)

    async def adopt(self) -> Adopted:
        """Take the local store for what it is.

        Raises `ConfigurationError` while the segment is not held: who takes it doubts the store again.
        """
        self._check_held()
        self._check_known()
        was_doubted, goes = self._segment.is_doubted, going_at_home(self._manager, self._view)
        replicated = self._segment.replicated
        copies = [f"{one.replicator.resource.plural} {key}" for one in replicated for key in sorted(one.held())]
        await self._segment.adopt()
        return Adopted(was_doubted, len(goes.objects), len(copies), goes.objects, copies, goes.endpoints)

    def _check_held(self) -> None:
        lease = self._segment.lease
        if lease.held:
            return
        when = "when `kcpctl replication status` says that it is"
        if lease.awaited is not None and lease.trouble is None:
            when = f"in {lease.awaited + 2:.0f} s"
        raise ConfigurationError(
            f"expected the lease of shard {lease.shard}'s segment of the cache to be held, found that it is "
            f"{lease.state}; nothing was let go, try again {when}"
        )

    def _check_known(self) -> None:
        behind = [one.copies for one in self._segment.replicated if not (one.copies.synced and one.copies.live)]
        if behind:
            raise ConfigurationError(
                f"expected a cache server that can be compared with, found that {behind[0].origin} is not followed; "
                "try again when `kcpctl status` says that the cache is reachable"
            )

    async def _orphans(self) -> list[Copy]:
        """Return the copies of all shards without a Shard, be it one that is held."""
        known = {entry.key.name for entry in self._view.sightings.entries(SHARD)} | {self._segment.lease.shard}
        try:
            copies = await copies_at(self._cache)
        except (ApiError, TransportError, DecodeError) as error:
            raise ConfigurationError(
                f"expected the cache server to list its copies, found {told(error)}; try again"
            ) from error
        return [copy for copy in copies if copy.key.shard not in known]


async def _drift(one: Replicated, *, is_held: bool) -> KindDrift:
    originals, copied, extra = one.originals(), one.copied(), one.extra()
    held = one.held() if is_held else extra  # whoever takes the segment may doubt its store
    return KindDrift(
        one.replicator.resource.plural,
        len(originals),
        len(copied),
        _names(originals - copied),
        _names(await _differing(one, originals & copied)),
        _names(extra - held),
        _names(held),
        _names(await _malformed(one.copies)),
    )


async def _differing(one: Replicated, keys: set[Key]) -> set[Key]:
    shard, slices, found = one.replicator.shard, Slices(), set[Key]()
    for key in keys:
        original, copy = one.home.store.get(key), one.copies.store.get(msgspec.structs.replace(key, shard=shard))
        if original is not None and copy is not None and updated_copy(copy.body, wanted_copy(original, shard)):
            found.add(key)
        if slices.over():
            await slices.turn()
    return found


async def _malformed(copies: SharedInformer[Any]) -> set[Key]:
    """Return the copies that cannot be read; those that were set aside, and those that do not say what they should."""
    slices, found = Slices(), set(copies.quarantined)
    for copy in list(copies.store):
        try:
            _ = copy.value
        except msgspec.ValidationError:
            found.add(copy.key)
        if slices.over():
            await slices.turn()
    return found


def _names(keys: Iterable[Key]) -> list[str]:
    return sorted(map(str, keys))


def _shown(copies: Iterable[Copy]) -> list[Orphans]:
    found: dict[str, list[str]] = {}
    for copy in copies:
        found.setdefault(copy.key.shard, []).append(f"{copy.resource.plural} {copy.key.shardless()}")
    return [Orphans(shard, sorted(names)) for shard, names in sorted(found.items())]
