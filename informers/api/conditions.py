"""Conditions, by kcp's rules and by Kubernetes' own (metav1).

kcp keeps `severity`, orders conditions (`Ready` first, the others by type), and moves lastTransitionTime whenever
anything but the time differs. metav1 keeps the order of arrival and `observedGeneration`, and moves the time only when
the status changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from informers.api.objects import Condition

__all__ = [
    "Condition",
    "find",
    "is_false",
    "is_true",
    "is_unknown",
    "mark_false",
    "mark_true",
    "mark_unknown",
    "remove_condition",
    "set_condition",
    "set_metav1",
    "timestamp",
    "to_json",
    "wished",
]


def mark_true(kind: str) -> Condition:
    """Return a True condition: no severity, reason or message."""
    return Condition(kind, "True")


def mark_false(kind: str, reason: str, message: str = "", *, severity: str = "Error") -> Condition:
    """Return a False condition."""
    return Condition(kind, "False", severity=severity, reason=reason, message=message)


def mark_unknown(kind: str, reason: str, message: str = "") -> Condition:
    """Return an Unknown condition; it has no severity."""
    return Condition(kind, "Unknown", reason=reason, message=message)


def find(conditions: Iterable[Condition], kind: str) -> Condition | None:
    """Return the condition of that type, or None."""
    return next((c for c in conditions if c.type == kind), None)


def is_true(conditions: Iterable[Condition], kind: str) -> bool:
    """Say whether the condition is there and True."""
    found = find(conditions, kind)
    return found is not None and found.status == "True"


def is_false(conditions: Iterable[Condition], kind: str) -> bool:
    """Say whether the condition is there and False."""
    found = find(conditions, kind)
    return found is not None and found.status == "False"


def is_unknown(conditions: Iterable[Condition], kind: str) -> bool:
    """Say whether the condition is absent or Unknown."""
    found = find(conditions, kind)
    return found is None or found.status == "Unknown"


def set_condition(conditions: Sequence[Condition], condition: Condition, *, now: datetime) -> list[Condition]:
    """Return the conditions with this one set by kcp's rules, in kcp's order.

    The time stays when type, status, reason, severity and message are all as before; else it is `now` in whole
    seconds. A condition that is new keeps the time it brings.
    """
    old = find(conditions, condition.type)
    if old is not None and _same_state(old, condition):
        time = old.last_transition_time
    elif old is None and condition.last_transition_time:
        time = condition.last_transition_time
    else:
        time = timestamp(now)
    others = [c for c in conditions if c.type != condition.type]
    changed = [*others, msgspec.structs.replace(condition, last_transition_time=time)]
    return sorted(changed, key=lambda c: (c.type != "Ready", c.type))


def remove_condition(conditions: Sequence[Condition], kind: str) -> list[Condition]:
    """Return the conditions without that type."""
    return [c for c in conditions if c.type != kind]


def set_metav1(conditions: Sequence[Condition], condition: Condition, *, now: datetime) -> list[Condition]:
    """Return the conditions with this one set by metav1's rules: in place, or at the end when it is new."""
    old = find(conditions, condition.type)
    if old is not None and old.status == condition.status:
        time = old.last_transition_time
    else:
        time = condition.last_transition_time or timestamp(now)
    new = msgspec.structs.replace(condition, last_transition_time=time)
    if old is None:
        return [*conditions, new]
    return [new if c.type == condition.type else c for c in conditions]


def to_json(conditions: Iterable[Condition]) -> list[dict[str, Any]]:
    """Return the conditions as they stand in an object; empty fields are left out."""
    return [{k: v for k, v in msgspec.to_builtins(c).items() if v not in ("", 0)} for c in conditions]


def wished(conditions: Iterable[Any], there: Iterable[Any], *, now: datetime) -> list[Any]:
    """Return conditions as an object should have them by metav1's rules, given those that it has, in their JSON.

    What is no `Condition` stays as it is. One that says what is there already is what is there, however that is spelt:
    servers drop fields that a schema lacks, and other writers write empty ones. With a reason there is a message, even
    an empty one: schemas made from metav1 require both.
    """
    known = {one["type"]: one for one in there if isinstance(one, Mapping) and isinstance(one.get("type"), str)}
    return [_wished(one, known.get(one.type), now) if isinstance(one, Condition) else one for one in conditions]


def _wished(condition: Condition, there: Any, now: datetime) -> Any:
    try:
        old = None if there is None else msgspec.convert(there, Condition)
    except msgspec.ValidationError:  # such as a time that is a number: it cannot stay
        old = None
    [new] = set_metav1([old] if old else [], condition, now=now)
    if not new.last_transition_time:
        new = msgspec.structs.replace(new, last_transition_time=timestamp(now))
    if new == old:
        return there
    [found] = to_json([new])
    return {**found, "message": new.message} if new.reason else found


def timestamp(moment: datetime) -> str:
    """Return the moment as Kubernetes prints it: UTC, whole seconds, `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _same_state(one: Condition, other: Condition) -> bool:
    return (one.status, one.reason, one.severity, one.message) == (
        other.status,
        other.reason,
        other.severity,
        other.message,
    )
