"""From committed changes to the events that one watch gets."""

from collections.abc import Iterable, Iterator

import msgspec

from informers.api.heads import INITIAL_EVENTS_END
from kcpctl.apiserver.call import Call
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.http import statuses
from kcpctl.apiserver.reading.selection import Selection
from kcpctl.apiserver.served import JSON, Served
from kcpctl.apiserver.storage.base import Change, Record
from kcpctl.apiserver.world import Event, World, event

_encode = msgspec.json.Encoder().encode


def bookmark(served: Served, revision: int, *, ends_state: bool = False) -> Event:
    """Return a bookmark: everything up to the revision was sent; maybe also that the initial state was."""
    metadata: JSON = {"resourceVersion": str(revision)}
    if ends_state:
        metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
    body = _encode({"kind": served.kind, "apiVersion": served.api_version, "metadata": metadata})
    return event("BOOKMARK", body, revision)


def error(failure: Failure) -> Event:
    """Return a failure as the last event of a watch."""
    return event("ERROR", statuses.encode(failure.status), 0)


def added(world: World, call: Call, records: Iterable[Record]) -> list[Event]:
    """Return records as the synthetic events with which a watch begins."""
    served, scope = call.served, call.scope
    return [event("ADDED", world.injected(record, served, scope), record.revision) for record in records]


def changed(world: World, call: Call, selection: Selection, changes: Iterable[Change]) -> Iterator[Event]:
    """Yield the events that changes are for a watcher with this selection.

    An object that begins to match is ADDED, one that ceases to match is DELETED: it is shown as it was, at the revision
    of the change.
    """
    for change in changes:
        if kind := _kind_of(change) if selection.takes_all else _kind_for(change, selection):
            yield world.event(kind, change, call.served, call.scope)


def _kind_of(change: Change) -> str:
    if change.value is None:
        return "DELETED"
    return "ADDED" if change.previous is None else "MODIFIED"


def _kind_for(change: Change, selection: Selection) -> str:
    """Return the type of the event that a change is to a watcher who does not see everything, "" for none."""
    if not selection.wants_key(change.key):
        return ""
    was = change.previous is not None and selection.wants_content(change.previous)
    now = Record(change.key, change.revision, change.value) if change.value is not None else None
    if now is not None and selection.wants_content(now):
        return "MODIFIED" if was else "ADDED"
    return "DELETED" if was else ""
