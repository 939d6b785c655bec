"""What is wrong with an Event: the core group's old rules, and the strict ones of events.k8s.io on top."""

from collections.abc import Callable

from informers.api.names import qualified_name_errors
from kcpctl.apiserver.field_errors import invalid, required
from kcpctl.apiserver.served import JSON, Context, FieldError

_LONGEST = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024}
_NO_NAMESPACE = ("", "default")
_UNSET = ("firstTimestamp", "lastTimestamp", "count")
_LASTING = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
)

Check = Callable[[JSON, JSON | None, Context], list[FieldError]]


def check_core(obj: JSON, old: JSON | None, context: Context) -> list[FieldError]:
    """Return what is wrong with a core Event."""
    return _old_rules(obj, "reportingComponent")


def check_events(to_core: Callable[[JSON], JSON]) -> Check:
    """Return the check of events.k8s.io; its messages name the core group's fields, but for the reporter."""

    def check(obj: JSON, old: JSON | None, context: Context) -> list[FieldError]:
        event = to_core(obj)
        errors = _old_rules(event, "reportingController")
        if old is None:
            return errors + _series_errors(event) + _new_event_errors(event)
        before = to_core(old)
        if event.get("series") != before.get("series"):
            errors += _series_errors(event)
        return errors + [e for field in _LASTING for e in _changed(event, before, field)]

    return check


def _old_rules(event: JSON, reporter: str) -> list[FieldError]:
    """Check what all events must obey; those with an eventTime are of the new sort and must say more."""
    namespace, about = event["metadata"].get("namespace", ""), event["involvedObject"].get("namespace", "")
    mismatch = [invalid("involvedObject.namespace", about, "does not match event.namespace")]
    if not event["eventTime"]:
        fits = namespace == about if about else namespace in _NO_NAMESPACE
        return [] if fits else mismatch
    errors = [] if about or namespace in ("default", "kube-system") else mismatch
    if not event["reportingComponent"]:
        errors.append(required(reporter))
    errors += [
        invalid(reporter, event["reportingComponent"], e) for e in qualified_name_errors(event["reportingComponent"])
    ]
    for field, limit in _LONGEST.items():
        text = event.get(field, "")
        if not text and field != "message":
            errors.append(required(field))
        if len(text.encode()) > limit:
            errors.append(invalid(field, "", f"can have at most {limit} characters"))
    return errors


def _series_errors(event: JSON) -> list[FieldError]:
    if "series" not in event:
        return []
    series = event["series"]
    errors = [] if series.get("count", 0) >= 2 else [invalid("series.count", "", "should be at least 2")]
    return errors + ([] if series["lastObservedTime"] else [required("series.lastObservedTime")])


def _new_event_errors(event: JSON) -> list[FieldError]:
    errors = [] if event["eventTime"] else [required("eventTime")]
    if (kind := event.get("type", "")) not in ("Normal", "Warning"):
        errors.append(invalid("type", "", f"has invalid value: {kind}"))
    errors += [invalid(field, "", "needs to be unset") for field in _UNSET if event.get(field)]
    return errors + ([invalid("source", "", "needs to be unset")] if event["source"] else [])


def _changed(event: JSON, before: JSON, field: str) -> list[FieldError]:
    if event.get(field) == before.get(field):
        return []
    named = "reportingController" if field == "reportingComponent" else field
    return [invalid(named, event.get(field, ""), "field is immutable")]
