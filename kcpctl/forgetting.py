"""`kcpctl forget export`, as the running process carries it out: refused for an export that its home holds.

Only its home can say that. Where that lives, it is asked by the removal itself: it acts upon it, and says so in it, or
deletes it. Where it is silent nobody can say no.
"""

import re
from collections.abc import Iterable, Iterator

from controllers.entries import EXPORT, Entry, Removal, State
from controllers.holding import SILENT_AFTER
from controllers.kinds import EXPORTS, SLICES
from controllers.lives import Lives, Sign
from controllers.names import CACHE
from controllers.records import Record, said_by
from controllers.urls import SERVICES
from controllers.view import View
from informers.api import clusters
from informers.api.errors import ConfigurationError
from informers.api.objects import PATH, Key, Object
from informers.clock import Clock
from informers.runtime.manager import Manager
from kcpctl.effects import going
from kcpctl.operating import Removed
from kcpctl.recording import Recorder, removal_of, telling
from kcpctl.sweeping import Copy, sweep

_ANSWERED_WITHIN = SILENT_AFTER + 5.0
"""Seconds that the home of an export has to act upon its removal: over a new store it may not write before."""
_PAUSE = 0.1
"""Seconds between two looks at whether it has."""


class Forgetter:
    """Forgets exports by an operator's word."""

    def __init__(self, manager: Manager, view: View, lives: Lives, recorder: Recorder, clock: Clock) -> None:
        """Work with what this process knows."""
        self._manager = manager
        self._view = view
        self._lives = lives
        self._recorder = recorder
        self._clock = clock

    async def forget(self, cluster: str, name: str) -> Removed:
        """Record that an export is gone for good; `cluster` is its logical cluster, or that one's path.

        Raises `ConfigurationError` with what speaks against it.
        """
        what = f"APIExport {cluster}|{name}"
        found = self._view.exports.find(cluster, name)
        homes = {shard for entry in found if (shard := self._home_to_ask(what, entry))}
        goes = going(self._manager, self._view, found)
        with telling(what):
            removals = {removal_of(entry, self._at(entry)) for entry in found}
            removals |= self._lost_here(removals, cluster, name)
            removals = removals or await self._guessed(what, cluster, name)
            own = {self._view.home} if any(map(self._is_copied, removals)) else set[str]()
            recorded = {removal: await self._recorder.record(removal) for removal in removals}
            asked = {one for one in removals if recorded[one] and one.shard in homes | own}
            told = {one.shard for one in asked if await self._is_acted_upon(what, one)}
            deleted = len(told) + await sweep(self._recorder.cache, self._orphaned(found, told))
        return self._recorder.done(what, deleted, [*recorded.values()], goes)

    # Who has to be asked

    def _home_to_ask(self, what: str, entry: Entry) -> str:
        """Return the home of an export that has to say whether it holds it; "" for one that is missed, or silent.

        Raises `ConfigurationError` where nobody can say.
        """
        shard = self._at(entry)
        if entry.state is not State.PRESENT:
            return ""
        if entry.source == "local":
            raise _at_home(what, shard, entry.key.name)
        if self._is_silent(shard):
            return ""
        if self._lives.of(shard).sign is Sign.NONE or not self._recorder.keeps:
            raise ConfigurationError(
                f"expected {what} to be missed, found it at shard {shard}, in the cache, and nobody here can ask that "
                "shard; delete it there, or run the command there (--data-dir), or remove that shard if it is no more: "
                "kcpctl shards remove"
            )
        return shard

    async def _is_acted_upon(self, what: str, removal: Removal) -> bool:
        """Wait for what the home does about a removal; return False when it has turned out to be silent.

        Raises `ConfigurationError` where it holds the export, or nobody can say; then nothing is kept.
        """
        deadline = self._clock.monotonic() + _ANSWERED_WITHIN
        while self._clock.monotonic() < deadline:
            record = await self._recorder.find(removal)
            if record is None:
                raise _at_home(what, removal.shard, removal.name)
            if removal.shard in record.value.status.acknowledged:
                return True
            if self._is_silent(removal.shard):
                return False
            await self._clock.sleep(_PAUSE)
        await self._recorder.take_back(removal)
        raise ConfigurationError(
            f"expected the home of {what}, shard {removal.shard}, to say whether it holds it, or to be silent for "
            f"{SILENT_AFTER:.0f} s, found neither; the removal was taken back, try again"
        )

    def _is_silent(self, shard: str) -> bool:
        return self._lives.of(shard).sign in (Sign.SILENT, Sign.STOPPED)

    # What is meant

    def _lost_here(self, removals: Iterable[Removal], cluster: str, name: str) -> set[Removal]:
        """Return the word on an export of which there is nothing but the copy that this shard made of it once."""
        home, local = self._view.home, self._manager.informer(EXPORTS)
        if not local.synced or any(one.shard == home for one in removals):
            return set()
        found = set[Removal]()
        for copy in self._manager.informer(EXPORTS, CACHE).store:
            path = copy.annotations.get(PATH, "")
            if copy.key.shard != home or copy.name != name or cluster not in (copy.cluster, path):
                continue
            if local.store.get(copy.key.shardless()) is None:
                found.add(Removal(EXPORT, home, copy.cluster, name, copy.uid, path=path))
        return found

    async def _guessed(self, what: str, cluster: str, name: str) -> set[Removal]:
        """Return the word on an export that is known by nothing but what slices list, or by having gone here already.

        It is kept in the own segment, and without a uid it is about that cluster and name wherever they were.
        """
        gone, listed = self._view.exports.evidently_gone, set(self._listed(cluster, name))
        kept = await self._recorder.of_export(cluster, name)
        if kept and all(gone(found, name) for found, _ in listed):
            raise ConfigurationError(
                f"expected an APIExport that is held or listed by a slice here, found that {what} is forgotten "
                f"already: {'; '.join(map(_shown, kept))}"
            )
        if kept:
            return set(map(said_by, kept))  # somebody's word on it, which this process has lost since
        if not listed and clusters.is_name(cluster) and gone(cluster, name):
            listed = {(cluster, "")}
        if not listed:
            held = sorted(
                {f"{one.key.cluster}|{one.key.name}" for one in self._view.held() if one.place.kind == EXPORT}
            )
            raise ConfigurationError(
                f"expected an APIExport that is held or listed by a slice here, found that nothing is known of {what}; "
                f"held are: {', '.join(held) or 'none'}"
            )
        last = self._view.exports.last_uid
        return {Removal(EXPORT, self._view.home, at, name, last(at, name), path=path) for at, path in listed}

    def _listed(self, cluster: str, name: str) -> Iterator[tuple[str, str]]:
        """Yield the cluster, and its path, of each such export whose URLs slices list."""
        url = re.compile(rf"{SERVICES}([^/]+)/{re.escape(name)}(?![^/?#])")
        for obj in self._manager.informer(SLICES).store:
            path = obj.at("spec", "export", "path", default="")
            for endpoint in obj.at("status", "endpoints", default=None) or ():
                found = url.search(str(endpoint.get("url", "")))
                if found and cluster in (found[1], path):
                    yield found[1], path if path != found[1] else ""

    # Copies

    def _is_copied(self, removal: Removal) -> bool:
        """Say whether there is a copy of what the local store lost."""
        key = Key(self._view.home, removal.cluster, "", removal.name)
        return removal.shard == key.shard and self._manager.informer(EXPORTS, CACHE).store.get(key) is not None

    def _orphaned(self, found: Iterable[Entry], told: set[str]) -> Iterator[Copy]:
        """Yield the copies that silent shards left; those of others go by their own hands."""
        for entry in found:
            if entry.source == "cache" and entry.state is State.PRESENT and entry.key.shard not in told:
                yield Copy(EXPORTS, entry.key, entry.uid)

    def _at(self, entry: Entry) -> str:
        return entry.place.shard(self._view.home)


def _at_home(what: str, shard: str, name: str) -> ConfigurationError:
    return ConfigurationError(
        f"expected {what} to be missed, found it at its home, shard {shard}; delete it there: "
        f"kubectl delete apiexport {name}"
    )


def _shown(record: Object[Record]) -> str:
    who = ", ".join(sorted(record.value.status.acknowledged)) or "nobody yet"
    return f"Removal {record.name} of shard {record.key.shard} in {record.cluster}, acknowledged by {who}"
