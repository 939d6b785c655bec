"""`kcpctl shards remove` and `kcpctl forget export`, as the running process carries them out.

Nothing that is there is ever let go: a Shard whose lease is renewed, or an export that some server shows, is refused.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from controllers.entries import EXPORT, SHARD, Entry, Removal, State
from controllers.holding import SILENT_AFTER
from controllers.kinds import EXPORTS, SHARDS
from controllers.lives import Life, Lives, Sign
from controllers.names import CACHE, ROOT
from controllers.publishing import SeenShard
from controllers.records import REMOVALS, name_of, record_of
from controllers.removals import Removals
from controllers.view import View
from informers.api import clusters
from informers.api.errors import (
    AlreadyExists,
    ApiError,
    ConfigurationError,
    Conflict,
    DecodeError,
    NotFound,
    TransportError,
)
from informers.api.objects import Key
from informers.clock import Clock
from informers.runtime.manager import Manager
from kcpctl.listing import life_of
from kcpctl.logs import told
from kcpctl.operating import Removed
from kcpctl.sweeping import Copy, copies_at, sweep

_FAILURES = (ApiError, TransportError, DecodeError)


class Remover:
    """Removes shards and exports by an operator's word."""

    def __init__(self, manager: Manager, view: View, lives: Lives, removals: Removals, clock: Clock) -> None:
        """Work with what this process knows."""
        self._manager = manager
        self._cache = manager.servers[CACHE]
        self._view = view
        self._lives = lives
        self._removals = removals
        self._clock = clock

    # Shards

    async def remove_shard(self, name: str, *, force: bool = False) -> Removed:
        """Delete the cached segment of a shard that is no more, and record that it is.

        Raises `ConfigurationError` with what speaks against it. `force` is somebody's word for a shard without a lease.
        """
        entries = [entry for entry in self._view.sightings.entries(SHARD) if entry.key.name == name]
        self._check_known(name, entries)
        self._check_dead(name, life_of(name, entries, self._view.home, self._lives), force=force)
        own = [entry for entry in entries if entry.place.shard(self._view.home) == name]
        with _telling(f"shard {name}"):
            deleted = await self._delete_shard(name)
            recorded = [await self._record(_removal_of(entry, name)) for entry in own]
            deleted += await sweep(self._cache, await copies_at(self._cache, name))
        return Removed(f"shard {name}", deleted, sum(recorded), not all(recorded))

    def _check_known(self, name: str, entries: list[Entry]) -> None:
        if name == self._view.home:
            raise ConfigurationError(f"expected a shard that has ended, found this process' own: {name}; stop it first")
        if not entries:
            known = ", ".join(sorted({shard.name for shard in self._view.shards().seen})) or "none"
            raise ConfigurationError(
                f"expected the name of a shard that is known here, found {name!r}; known are: {known}. "
                "Copies of shards that nobody knows any more are deleted by `kcpctl replication prune`"
            )
        for entry in entries:
            home = entry.place.shard(self._view.home)
            if home != name and entry.state is State.PRESENT:
                raise ConfigurationError(
                    f"expected Shard {name} at shard {name} alone, found it at shard {home} in the cluster "
                    f"{entry.key.cluster}; delete it there: kubectl delete shard {name}"
                )

    def _check_dead(self, name: str, life: Life, *, force: bool) -> None:
        if not self._manager.informer(SHARDS, CACHE).live:
            raise ConfigurationError(
                f"expected to see in the cache whether shard {name} lives, but the cache server cannot be reached; "
                "nothing was changed, try again when `kcpctl status` says that it is"
            )
        match life.sign:
            case Sign.ALIVE:
                raise ConfigurationError(
                    f"expected shard {name} to have ended, found that it renewed its lease {life.watched:.0f} s ago; "
                    "stop it, and try again"
                )
            case Sign.UNSURE:
                raise ConfigurationError(
                    f"expected shard {name} to have been silent for {SILENT_AFTER:.0f} s, found that it has been "
                    f"watched for {life.watched:.0f} s only; try again in {SILENT_AFTER - life.watched + 1:.0f} s"
                )
            case Sign.NONE if not force:
                raise ConfigurationError(
                    f"expected shard {name} to hold a lease in the cache, to see whether it lives, found none; "
                    "make sure that it has ended, and say so with --force"
                )
            case _:
                return

    async def _delete_shard(self, name: str) -> int:
        """Delete the Shard's own copy, as it was last seen: one that was renewed meanwhile lives."""
        copy = self._manager.informer(SHARDS, CACHE).store.get(Key(name, ROOT, "", name))
        if copy is None:
            return 0
        try:
            await self._cache.client(ROOT, name).delete(SHARDS, name, uid=copy.uid, rv=copy.rv)
        except NotFound:
            return 0
        except Conflict as error:
            raise ConfigurationError(
                f"expected shard {name} to be silent, found that it renewed its lease just now; stop it, and try again"
            ) from error
        return 1

    # Exports

    async def forget_export(self, cluster: str, name: str, *, shard: str = "", path: str = "") -> Removed:
        """Record that an export is gone for good which no server shows any more.

        `cluster` is its logical cluster, or that one's path. `shard` and `path` are for one of which nothing is known.
        Raises `ConfigurationError` with what speaks against it.
        """
        what = f"APIExport {cluster}|{name}"
        found = [entry for entry in self._view.exports.find(cluster, name) if shard in ("", self._at(entry))]
        for entry in found:
            if entry.state is State.PRESENT:
                where = f"shard {self._at(entry)}" + (", in the cache" if entry.source == "cache" else "")
                raise ConfigurationError(
                    f"expected {what} to be missed, found it at {where}; "
                    "delete it at its home, or remove that shard if it is no more: kcpctl shards remove"
                )
        removals = [_removal_of(entry, self._at(entry)) for entry in found]
        removals = removals or [self._unknown_export(cluster, name, shard, path)]
        with _telling(what):
            recorded = [await self._record(removal) for removal in dict.fromkeys(removals)]
            deleted = await sweep(self._cache, await self._lost_copies(removals))
        return Removed(what, deleted, sum(recorded), not all(recorded))

    def _unknown_export(self, cluster: str, name: str, shard: str, path: str) -> Removal:
        what = f"APIExport {cluster}|{name}"
        if not clusters.is_name(cluster):
            raise ConfigurationError(
                f"expected an APIExport that is held, found that nothing is known of {what}; if slices still list its "
                "URLs, name its logical cluster as they do, its shard with --shard, and its path with --path"
            )
        if not shard:
            raise ConfigurationError(
                f"expected an APIExport that is held, found that nothing is known of {what}; if slices still list its "
                "URLs, name the shard that it was at with --shard"
            )
        return Removal(EXPORT, shard, cluster, name, path=path)

    async def _lost_copies(self, removals: Iterable[Removal]) -> list[Copy]:
        """Return the copies of originals that the local store lost; nobody else's copies are touched."""
        home = self._view.home
        keys = {Key(home, one.cluster, "", one.name) for one in removals if one.shard == home}
        copies = await copies_at(self._cache, home) if keys else []
        return [copy for copy in copies if copy.resource is EXPORTS and copy.key in keys]

    def _at(self, entry: Entry) -> str:
        return entry.place.shard(self._view.home)

    # Recording

    async def _record(self, removal: Removal) -> bool:
        """Have the cache server keep it, or act upon it here alone; return whether it is kept."""
        client = self._cache.client(removal.cluster, removal.shard)
        body = record_of(removal, self._clock.now())
        try:
            await client.create(REMOVALS, body)
        except AlreadyExists:
            await client.delete(REMOVALS, name_of(removal))  # by an earlier word, maybe of another object
            await client.create(REMOVALS, body)
        except NotFound:
            self._removals.say(removal)
            return False
        return True


def _removal_of(entry: Entry, shard: str) -> Removal:
    what, key = entry.what, entry.key
    if isinstance(what, SeenShard):
        return Removal(SHARD, shard, key.cluster, key.name, entry.uid, url=what.url)
    return Removal(EXPORT, shard, key.cluster, key.name, entry.uid, path=what.path)


@contextmanager
def _telling(what: str) -> Iterator[None]:
    """Have a failure of the cache server tell that the work is not done."""
    try:
        yield
    except _FAILURES as error:
        raise ConfigurationError(
            f"expected the cache server to take the removal of {what} to its end, found {told(error)}; "
            "do it once more when `kcpctl status` says that the cache is reachable"
        ) from error
