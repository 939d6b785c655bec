"""`kcpctl forget export`, as the running process carries it out: refused for an export that any server shows."""

import re
from collections.abc import Iterable, Iterator

from controllers.entries import EXPORT, Entry, Removal, State
from controllers.kinds import EXPORTS, SLICES
from controllers.urls import SERVICES
from controllers.view import View
from informers.api import clusters
from informers.api.errors import ConfigurationError
from informers.api.objects import Key
from informers.runtime.manager import Manager
from kcpctl.operating import Removed
from kcpctl.recording import Recorder, removal_of, telling
from kcpctl.sweeping import Copy, copies_at, sweep


class Forgetter:
    """Forgets exports by an operator's word."""

    def __init__(self, manager: Manager, view: View, recorder: Recorder) -> None:
        """Work with what this process knows."""
        self._manager = manager
        self._view = view
        self._recorder = recorder

    async def forget(self, cluster: str, name: str) -> Removed:
        """Record that an export is gone for good; `cluster` is its logical cluster, or that one's path.

        Raises `ConfigurationError` with what speaks against it.
        """
        what = f"APIExport {cluster}|{name}"
        found = self._view.exports.find(cluster, name)
        for entry in found:
            self._check_missed(what, entry)
        removals = {removal_of(entry, self._at(entry)) for entry in found} or self._guessed(what, cluster, name)
        with telling(what):
            recorded = [await self._recorder.record(removal) for removal in removals]
            deleted = await sweep(self._recorder.cache, await self._lost_copies(removals))
        return Removed(what, deleted, sum(recorded), not all(recorded))

    def _check_missed(self, what: str, entry: Entry) -> None:
        if entry.state is State.PRESENT:
            where = f"shard {self._at(entry)}" + (", in the cache" if entry.source == "cache" else "")
            raise ConfigurationError(
                f"expected {what} to be missed, found it at {where}; delete it at its home, or remove that shard "
                "if it is no more: kcpctl shards remove"
            )

    def _guessed(self, what: str, cluster: str, name: str) -> set[Removal]:
        """Return the word on an export that is known by nothing but what slices list, or by having gone here already.

        It is kept in the own segment, and without a uid it is about that cluster and name wherever they were.
        """
        listed = set(self._listed(cluster, name))
        if not listed and clusters.is_name(cluster) and self._view.exports.evidently_gone(cluster, name):
            listed = {(cluster, "")}
        if not listed:
            held = sorted(
                {f"{one.key.cluster}|{one.key.name}" for one in self._view.held() if one.place.kind == EXPORT}
            )
            raise ConfigurationError(
                f"expected an APIExport that is held or listed by a slice here, found that nothing is known of {what}; "
                f"held are: {', '.join(held) or 'none'}"
            )
        return {Removal(EXPORT, self._view.home, found, name, path=path) for found, path in listed}

    def _listed(self, cluster: str, name: str) -> Iterator[tuple[str, str]]:
        """Yield the cluster, and its path, of each such export whose URLs slices list."""
        url = re.compile(rf"{SERVICES}([^/]+)/{re.escape(name)}(?![^/?#])")
        for obj in self._manager.informer(SLICES).store:
            path = obj.at("spec", "export", "path", default="")
            for endpoint in obj.at("status", "endpoints", default=None) or ():
                found = url.search(str(endpoint.get("url", "")))
                if found and cluster in (found[1], path):
                    yield found[1], path if path != found[1] else ""

    async def _lost_copies(self, removals: Iterable[Removal]) -> list[Copy]:
        """Return the copies of originals that the local store lost; nobody else's copies are touched."""
        home = self._view.home
        keys = {Key(home, one.cluster, "", one.name) for one in removals if one.shard == home}
        copies = await copies_at(self._recorder.cache, home) if keys else []
        return [copy for copy in copies if copy.resource is EXPORTS and copy.key in keys]

    def _at(self, entry: Entry) -> str:
        return entry.place.shard(self._view.home)
