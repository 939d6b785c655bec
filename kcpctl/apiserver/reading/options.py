"""The query of a list or watch: read and validated as kube-apiserver does it."""

import msgspec

from informers.api.selectors import FieldRequirement, FieldSelector, LabelSelector, SelectorError
from kcpctl.apiserver.call import Call, Query
from kcpctl.apiserver.failures import bad_request, invalid_options
from kcpctl.apiserver.reading.fields import check_fields
from kcpctl.apiserver.served import FieldError

EXACT = "Exact"
NOT_OLDER_THAN = "NotOlderThan"

_MATCH = "resourceVersionMatch"


class ListOptions(msgspec.Struct, frozen=True):
    """What a list or watch asks for, known to make sense."""

    labels: LabelSelector
    fields: FieldSelector
    revision: str
    """resourceVersion as it was sent; nobody has looked yet whether it is one."""
    match: str
    """Exact, NotOlderThan or `""`."""
    limit: int
    """Most objects in one answer; 0 for all."""
    continue_: str
    timeout: int
    """Seconds that a watch lasts; 0 leaves it to the server."""
    bookmarks: bool
    initial_events: bool | None
    """Whether a watch begins with the state (True) or not (False); None where the revision decides."""

    @property
    def has_selector(self) -> bool:
        """Whether the request picks objects."""
        return bool(self.labels.requirements or self.fields.requirements)


def list_options(call: Call) -> ListOptions:
    """Read the query of a list or watch; raises `Failure`: 400 for what cannot be read, 422 for what contradicts."""
    query = call.query
    options = ListOptions(
        labels=_labels(query),
        fields=_fields(query),
        revision=query.text("resourceVersion"),
        match=query.text(_MATCH),
        limit=max(query.integer("limit"), 0),
        continue_=query.text("continue"),
        timeout=query.integer("timeoutSeconds"),
        bookmarks=query.flag("allowWatchBookmarks"),
        initial_events=query.choice("sendInitialEvents"),
    )
    if errors := _watch_errors(options) if call.verb == "watch" else _list_errors(options):
        raise invalid_options("ListOptions", errors)
    check_fields(call.served, options.fields)
    return _named(call.name, options) if call.name else options


def _labels(query: Query) -> LabelSelector:
    try:
        return LabelSelector.parse(query.text("labelSelector"))
    except SelectorError as error:
        raise bad_request(str(error)) from error


def _fields(query: Query) -> FieldSelector:
    try:
        return FieldSelector.parse(query.text("fieldSelector"))
    except SelectorError as error:
        raise bad_request(str(error)) from error


def _list_errors(options: ListOptions) -> list[FieldError]:
    errors = []
    if options.match:
        if not options.revision:
            errors.append(_forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided"))
        if options.continue_:
            errors.append(_forbidden("resourceVersionMatch is forbidden when continue is provided"))
        errors += _unknown_match(options)
        if options.match == EXACT and options.revision == "0":
            errors.append(_forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    if options.initial_events is not None:
        errors.append(_forbidden("sendInitialEvents is forbidden for list", field="sendInitialEvents"))
    return errors


def _watch_errors(options: ListOptions) -> list[FieldError]:
    errors = []
    if options.initial_events is not None and options.match != NOT_OLDER_THAN:
        errors.append(_forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
    if options.match:
        if options.initial_events is None:
            errors.append(
                _forbidden("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
            )
        errors += _unknown_match(options)
        if options.continue_:
            errors.append(_forbidden("resourceVersionMatch is forbidden when continue is provided"))
    return errors


def _unknown_match(options: ListOptions) -> list[FieldError]:
    if options.match in (EXACT, NOT_OLDER_THAN):
        return []
    shown = msgspec.json.encode(options.match).decode()
    message = f'Unsupported value: {shown}: supported values: "{EXACT}", "{NOT_OLDER_THAN}", ""'
    return [FieldError(_MATCH, "FieldValueNotSupported", message)]


def _forbidden(why: str, *, field: str = _MATCH) -> FieldError:
    return FieldError(field, "FieldValueForbidden", f"Forbidden: {why}")


def _named(name: str, options: ListOptions) -> ListOptions:
    """Narrow the options to one object, as the deprecated `/watch/…/{name}` paths ask."""
    requirements = options.fields.requirements
    if not requirements:
        requirements = (FieldRequirement("metadata.name", negated=False, value=name),)
    elif not any(r.path == "metadata.name" and not r.negated and r.value == name for r in requirements):
        raise bad_request("fieldSelector metadata.name doesn't match requested name")
    return msgspec.structs.replace(options, fields=FieldSelector(requirements))
