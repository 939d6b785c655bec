"""Event in both of its groups: one storage, in the shape of the core group."""

from typing import Any

from msgspec.structs import replace

from kcpctl.apiserver.builtin.eventcheck import check_core, check_events
from kcpctl.apiserver.builtin.strategy import BuiltIn
from kcpctl.apiserver.served import JSON, Column, Served
from kcpctl.apiserver.shapes.core import EVENT, EVENT_OF_EVENTS
from kcpctl.apiserver.shapes.openapi import merge_table, schema
from kcpctl.apiserver.shapes.reader import read

_API_VERSION = "events.k8s.io/v1"

_NAMES = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
"""The core group's names of fields, and those of events.k8s.io; all others are the same."""
_CORE_NAMES = {new: old for old, new in _NAMES.items()}


def to_core(obj: JSON) -> JSON:
    """Return an events.k8s.io/v1 Event in the shape of the core group."""
    renamed = {_CORE_NAMES.get(name, name): value for name, value in obj.items()}
    return read(EVENT, renamed | {"apiVersion": "v1"})[0]


def from_core(obj: JSON) -> JSON:
    """Return a core Event in the shape of events.k8s.io/v1."""
    renamed = {_NAMES.get(name, name): value for name, value in obj.items()}
    return read(EVENT_OF_EVENTS, renamed | {"apiVersion": _API_VERSION})[0]


def _target(event: JSON) -> str:
    about = event["involvedObject"]
    kind = about.get("kind", "").lower()
    return f"{kind}/{about['name']}" if about.get("name") else kind


def _source(event: JSON) -> str:
    component = event["source"].get("component") or event["reportingComponent"]
    instance = event["source"].get("host") or event["reportingInstance"]
    return f"{component}, {instance}" if instance else component


def _first_seen(event: JSON) -> str:
    return event["firstTimestamp"] or event["eventTime"] or ""


def _last_seen(event: JSON) -> str:
    if "series" in event:
        return event["series"]["lastObservedTime"] or ""
    return event["lastTimestamp"] or _first_seen(event)


def _count(event: JSON) -> int:
    count: int = event["series"].get("count", 0) if "series" in event else event.get("count", 1)
    return count


def _text(name: str) -> Any:
    return lambda event: event.get(name, "")


_COLUMNS = (
    Column("Last Seen", "string", _last_seen, description="When it last happened", age=True),
    Column("Type", "string", _text("type"), description="Normal, Warning or a type that came later"),
    Column("Reason", "string", _text("reason"), description="Why, for machines"),
    Column("Object", "string", _target, description="What the event is about"),
    Column(
        "Subobject",
        "string",
        lambda event: event["involvedObject"].get("fieldPath", ""),
        description="Which part of the object it is about",
        priority=1,
    ),
    Column("Source", "string", _source, description="Who reports it", priority=1),
    Column("Message", "string", lambda event: event.get("message", "").strip(), description="What happened"),
    Column("First Seen", "string", _first_seen, description="When it first happened", priority=1, age=True),
    Column("Count", "string", _count, description="How often it happened", priority=1),
    Column("Name", "string", lambda event: event["metadata"]["name"], "name", "The name of the event", priority=1),
)


def _of_events(column: Column) -> Column:
    """Return the column for Events in their newer shape; items of a list do not say which one they have."""
    return replace(column, cell=lambda event: column.cell(to_core(event)))


EVENTS = Served(
    "",
    "v1",
    "events",
    "Event",
    BuiltIn(EVENT, "v1", check=check_core),
    singular="event",
    short_names=("ev",),
    columns=_COLUMNS,
    schema=schema(EVENT),
    merge_keys=merge_table(EVENT),
    field_selectors=(
        *(
            f"involvedObject.{f}"
            for f in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
        ),
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    create_on_update=True,
    list_kind="EventList",
    name_rule="path-segment",
)

EVENTS_OF_EVENTS = Served(
    "events.k8s.io",
    "v1",
    "events",
    "Event",
    BuiltIn(EVENT_OF_EVENTS, _API_VERSION, check=check_events(to_core), store=to_core, show=from_core),
    singular="event",
    short_names=("ev",),
    columns=tuple(map(_of_events, _COLUMNS)),
    schema=schema(EVENT_OF_EVENTS),
    merge_keys=merge_table(EVENT_OF_EVENTS),
    field_selectors=(
        *(f"regarding.{f}" for f in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")),
        "reason",
        "reportingController",
        "type",
    ),
    create_on_update=True,
    storage_group="",
    list_kind="EventList",
)
