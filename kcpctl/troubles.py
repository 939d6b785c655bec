"""Shards and exports that cannot be used: one log line each, once for as long as nothing changes."""

from collections.abc import Iterable, Iterator
from typing import Any

from controllers.evidence import Malformed
from controllers.kinds import EXPORTS, SHARDS
from controllers.names import CACHE
from informers.runtime.manager import Manager
from kcpctl.builtin import LOCAL, Ours
from kcpctl.collecting import unusable
from kcpctl.logs import Log

Trouble = tuple[str, tuple[tuple[str, str], ...]]
"""A log event and its fields."""


class Troubles:
    """Compares what is wrong now with what was told; it hears of a change after the memories do."""

    def __init__(self, ours: Ours, log: Log) -> None:
        """Look at these memories, and tell this logger."""
        self._ours = ours
        self._log = log
        self._told: dict[str, set[Trouble]] = {"Shard": set(), "APIExport": set()}

    def watch(self, manager: Manager) -> None:
        """Look again whenever a Shard or an export changes; comes after `Ours.feed`."""
        for server, shards in ((LOCAL, self._ours.local_shards), (CACHE, SHARDS)):
            manager.informer(shards, server).add_handler(self._look_at_shards, name="troubles")
            manager.informer(EXPORTS, server).add_handler(self._look_at_exports, name="troubles")

    def _look_at_shards(self, _: Any) -> None:
        self._compare("Shard", {*_unreadable("Shard", self._ours.shards.malformed), *self._unusable()})

    def _look_at_exports(self, _: Any) -> None:
        self._compare("APIExport", set(_unreadable("APIExport", self._ours.exports.malformed)))

    def _compare(self, kind: str, found: set[Trouble]) -> None:
        for event, fields in sorted(found - self._told[kind]):
            self._log.warning(event, **dict(fields))
        self._told[kind] = found

    def _unusable(self) -> Iterator[Trouble]:
        for shard in self._ours.shards.shards().seen:
            if why := unusable(shard):
                fields = (("shard", shard.name), ("url", shard.url), ("error", why))
                yield "Shard has an unusable URL, correct its spec.virtualWorkspaceURL", fields


def _unreadable(kind: str, malformed: Iterable[Malformed]) -> Iterator[Trouble]:
    for one in malformed:
        where = (("server", one.source), ("key", str(one.key)), ("error", one.error))
        yield f"{kind} cannot be read, what was known of it stays", where
