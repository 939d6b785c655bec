"""Shards and exports that cannot be used: one log line each, once for as long as nothing changes."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager

from controllers.entries import EXPORT, SHARD, Kind, Malformed
from controllers.view import View
from kcpctl.collecting import unusable
from kcpctl.logs import Log

Trouble = tuple[str, tuple[tuple[str, str], ...]]
"""A log event and its fields."""


class Troubles:
    """Compares what is wrong now with what was told."""

    def __init__(self, view: View, log: Log) -> None:
        """Look at this view, and tell this logger."""
        self._view = view
        self._log = log
        self._told: dict[str, set[Trouble]] = {"Shard": set(), "APIExport": set()}

    def watching(self) -> AbstractContextManager[None]:
        """Look again whenever a Shard or an export changes, while the block runs."""
        return self._view.changes.listening(self._look)

    def _look(self, changed: frozenset[Kind]) -> None:
        known = self._view.sightings
        if SHARD in changed:
            self._compare("Shard", {*_unreadable("Shard", known.malformed(SHARD)), *self._unusable()})
        if EXPORT in changed:
            self._compare("APIExport", set(_unreadable("APIExport", known.malformed(EXPORT))))

    def _compare(self, kind: str, found: set[Trouble]) -> None:
        for event, fields in sorted(found - self._told[kind]):
            self._log.warning(event, **dict(fields))
        self._told[kind] = found

    def _unusable(self) -> Iterator[Trouble]:
        for shard in self._view.shards().seen:
            if why := unusable(shard):
                fields = (("shard", shard.name), ("url", shard.url), ("error", why))
                yield "Shard has an unusable URL, correct its spec.virtualWorkspaceURL", fields


def _unreadable(kind: str, malformed: Iterable[Malformed]) -> Iterator[Trouble]:
    for one in malformed:
        where = (("server", one.source), ("key", str(one.key)), ("error", one.error))
        yield f"{kind} cannot be read, what was known of it stays", where
