"""`kcpctl shards remove`, as the running process carries it out: refused for a shard that lives, or may live."""

from controllers.entries import EXPORT, SHARD, Entry, Removal, State
from controllers.holding import SILENT_AFTER
from controllers.kinds import SHARDS
from controllers.lives import Life, Lives, Sign
from controllers.names import CACHE, ROOT
from controllers.view import View
from informers.api.errors import ConfigurationError, Conflict, NotFound
from informers.api.objects import Key
from informers.runtime.manager import Manager
from kcpctl.effects import Going, going
from kcpctl.listing import life_of
from kcpctl.operating import Removed
from kcpctl.recording import Recorder, removal_of, telling
from kcpctl.sweeping import copies_at, sweep


class Remover:
    """Removes shards by an operator's word."""

    def __init__(self, manager: Manager, view: View, lives: Lives, recorder: Recorder) -> None:
        """Work with what this process knows."""
        self._manager = manager
        self._cache = recorder.cache
        self._view = view
        self._lives = lives
        self._recorder = recorder

    async def remove(self, name: str, *, force: bool = False, former: bool = False) -> Removed:
        """Delete the cached segment of a shard that is no more, and record that it is.

        Raises `ConfigurationError` with what speaks against it. `force` is somebody's word for a shard without a lease;
        `former` means what had the name before the shard that has it now, and nothing else.
        """
        entries = [entry for entry in self._view.sightings.entries(SHARD) if entry.key.name == name]
        if former:
            return await self._remove_former(name, [entry for entry in entries if entry.place.former])
        if not entries and await self._is_removed(name):
            return await self._finish(name)
        self._check_known(name, entries)
        self._check_dead(name, life_of(name, entries, self._view.home, self._lives), force=force)
        own = [entry for entry in entries if entry.place.shard(self._view.home) == name and not entry.place.former]
        if all(entry.place.former for entry in entries):
            return await self._remove_former(name, entries)
        home = self._view.home
        exports = [one for one in self._view.sightings.entries(EXPORT) if one.place.shard(home) == name]
        goes = going(self._manager, self._view, [*own, *exports])
        with telling(f"shard {name}"):
            deleted = await self._delete_shard(name)
            recorded = [await self._recorder.record(removal_of(entry, name)) for entry in own]
            deleted += await self._sweep(name)
        return self._recorder.done(f"shard {name}", deleted, recorded, goes)

    async def _remove_former(self, name: str, formers: list[Entry]) -> Removed:
        """Record that what had the name before is no more, whoever has it now."""
        if not formers:
            raise ConfigurationError(
                f"expected a shard {name} whose place another one of that name has taken, found none; "
                "`kcpctl shards` shows what is held"
            )
        recorded, goes = [], going(self._manager, self._view, formers)
        with telling(f"the former shard {name}"):
            for entry in formers:
                removal = removal_of(entry, entry.place.shard(self._view.home))
                recorded.append(await self._recorder.record(removal, is_former=True))
        return self._recorder.done(f"the former shard {name}", 0, recorded, goes)

    async def _is_removed(self, name: str) -> bool:
        """Say whether somebody has removed it before, maybe not to the end."""
        with telling(f"shard {name}"):
            return await self._recorder.find(Removal(SHARD, name, ROOT, name)) is not None

    async def _finish(self, name: str) -> Removed:
        with telling(f"shard {name}"):
            return self._recorder.done(f"shard {name}", await self._sweep(name), [True], Going())

    async def _sweep(self, name: str) -> int:
        """Delete what is left in the segment, unless its shard has begun to fill it again."""
        copies = await copies_at(self._cache, name)
        if any((copy.resource.plural, copy.key) == (SHARDS.plural, Key(name, ROOT, "", name)) for copy in copies):
            await self._recorder.take_back(Removal(SHARD, name, ROOT, name))
            raise _came_back(name)
        return await sweep(self._cache, copies)

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
            raise _came_back(name) from error
        return 1


def _came_back(name: str) -> ConfigurationError:
    return ConfigurationError(
        f"expected shard {name} to be silent, found that it came back just now; stop it, and try again"
    )
