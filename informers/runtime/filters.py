"""Event filters: which changes wake a controller."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from informers.api.objects import Object
from informers.api.patch import same
from informers.api.selectors import LabelSelector

Keeps: TypeAlias = Callable[[Object[Any] | None, Object[Any] | None], bool]
"""Anything that decides about a change from (old, new): True keeps it.

`old` is None for an object that is new, `new` for one that is gone."""


@dataclass(frozen=True)
class EventFilter:
    """Decides whether a change wakes a controller: called with (old, new), True keeps.

    Combine filters, and plain functions, with `&`, `|` and `~`; these are plain logic, so `~f` keeps exactly what `f`
    drops, deletions included.
    """

    keeps: Keeps = field(repr=False)
    name: str

    def __call__(self, old: Object[Any] | None, new: Object[Any] | None) -> bool:
        """Say whether to keep the change."""
        return self.keeps(old, new)

    def __and__(self, other: Keeps) -> "EventFilter":
        mine = self.keeps
        return EventFilter(lambda old, new: mine(old, new) and other(old, new), f"({self.name} & {_name(other)})")

    def __or__(self, other: Keeps) -> "EventFilter":
        mine = self.keeps
        return EventFilter(lambda old, new: mine(old, new) or other(old, new), f"({self.name} | {_name(other)})")

    def __rand__(self, other: Keeps) -> "EventFilter":
        return event_filter(other) & self

    def __ror__(self, other: Keeps) -> "EventFilter":
        return event_filter(other) | self

    def __invert__(self) -> "EventFilter":
        mine = self.keeps
        return EventFilter(lambda old, new: not mine(old, new), f"~{self.name}")


def event_filter(keeps: Keeps) -> EventFilter:
    """Turn a function (old, new) -> bool into an EventFilter; good as a decorator."""
    return keeps if isinstance(keeps, EventFilter) else EventFilter(keeps, _name(keeps))


def _name(keeps: Callable[..., bool]) -> str:
    return getattr(keeps, "name", "") or getattr(keeps, "__name__", "") or type(keeps).__name__


def on_change(differs: Callable[[Object[Any], Object[Any]], bool], name: str = "") -> EventFilter:
    """Make a filter from what is different between two states of one object.

    It keeps whatever is no such pair: an object that is new, gone, asked to go, or another one of the same name
    (its uid changed), since the new one may look just like the old.
    """

    def keeps(old: Object[Any] | None, new: Object[Any] | None) -> bool:
        if old is None or new is None or old.uid != new.uid:
            return True
        if (old.deleted_at is None) is not (new.deleted_at is None):
            return True
        return differs(old, new)

    return EventFilter(keeps, name or _name(differs))


def _generation_changed(old: Object[Any] | None, new: Object[Any] | None) -> bool:
    """As `on_change` would make it, in one frame: most controllers ask it of every event."""
    return (
        old is None
        or new is None
        or old.generation != new.generation
        or new.generation == 0
        or old.uid != new.uid
        or (old.deleted_at is None) is not (new.deleted_at is None)
    )


generation_changed = EventFilter(_generation_changed, "generation_changed")
"""Keeps changes of what is wanted (the spec), not of status, labels or annotations.

Kinds without a generation pass, since nothing can be told about them.
"""

rv_changed = on_change(lambda old, new: old.rv != new.rv, "rv_changed")
"""Keeps what really changed, not what was only listed again."""

labels_changed = on_change(lambda old, new: old.interned_labels != new.interned_labels, "labels_changed")
"""Keeps changes of metadata.labels."""

annotations_changed = on_change(lambda old, new: old.annotations != new.annotations, "annotations_changed")
"""Keeps changes of metadata.annotations."""

created = EventFilter(lambda old, new: old is None and new is not None, "created")
"""Keeps objects that were not known before; all of them after a start."""

deleted = EventFilter(lambda old, new: new is None, "deleted")
"""Keeps objects that are gone."""

being_deleted = EventFilter(lambda old, new: new is None or new.deleting, "being_deleted")
"""Keeps objects that are gone or asked to go (finalizers still hold them)."""


def field_changed(*path: str) -> EventFilter:
    """Keep changes of what is at the path of field names, its coming and going included."""
    if not path:
        raise ValueError("expected the path of a field, such as field_changed('spec', 'replicas'), found none")
    nothing = object()

    def differs(old: Object[Any], new: Object[Any]) -> bool:
        before, after = old.at(*path, default=nothing), new.at(*path, default=nothing)
        return before is not after if nothing in (before, after) else not same(before, after)

    return on_change(differs, f"field_changed({'.'.join(path)})")


def matches(selector: LabelSelector | str | Mapping[str, Any]) -> EventFilter:
    """Keep changes of objects whose labels match, or did before the change: leaving is a change too.

    Takes a selector in its text form, its API form or parsed; raises `SelectorError` when it makes no sense.
    """
    if isinstance(selector, str):
        selector = LabelSelector.parse(selector)
    elif isinstance(selector, Mapping):
        selector = LabelSelector.from_api(selector)
    wanted = selector.matches

    def keeps(old: Object[Any] | None, new: Object[Any] | None) -> bool:
        known = [obj for obj in (old, new) if obj is not None]
        return not known or any(wanted(obj.labels) for obj in known)

    return EventFilter(keeps, f"matches({selector})")
