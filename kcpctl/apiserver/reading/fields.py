"""Field selectors: which fields of a kind can be asked for, and what they say as text."""

from collections.abc import Callable
from typing import Any

from informers.api.selectors import FieldSelector
from kcpctl.apiserver.failures import bad_request
from kcpctl.apiserver.served import JSON, Served

NAME = "metadata.name"
NAMESPACE = "metadata.namespace"


def check_fields(served: Served, selector: FieldSelector) -> None:
    """Refuse a selector on fields that the kind does not offer: `Failure` (400)."""
    for requirement in selector.requirements:
        path = requirement.path
        if path in _selectable(served):
            continue
        if served.is_custom or served.field_selectors:
            raise bad_request(f"field label not supported: {path}")
        raise bad_request(f'"{path}" is not a known field selector: only "{NAME}", "{NAMESPACE}"')


def field_text(served: Served, obj: JSON, path: str) -> str:
    """Return a field of a served object as selectors see it; what is not there is `""`."""
    if compute := _COMPUTED.get((served.group, served.plural, path)):
        return compute(obj)
    return _text(_at(obj, path))


def _selectable(served: Served) -> tuple[str, ...]:
    """A kind with a list of its own has a namespace only if its objects have one; the default list always does."""
    own_list = served.is_custom or bool(served.field_selectors)
    if own_list and not served.namespaced:
        return (NAME, *served.field_selectors)
    return (NAME, NAMESPACE, *served.field_selectors)


def _event_source(obj: JSON) -> str:
    """Return who reported a core Event: old reporters say it in one place, new ones in another."""
    return _text(_at(obj, "source.component")) or _text(obj.get("reportingComponent"))


_COMPUTED: dict[tuple[str, str, str], Callable[[JSON], str]] = {("", "events", "source"): _event_source}
"""(group, plural, path) of selectable fields that are not simply what stands at their path."""


def _at(obj: JSON, path: str) -> Any:
    found: Any = obj
    for piece in path.split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(piece)
    return found


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
