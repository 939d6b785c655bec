"""Failures as answers: every Status that the server gives, built from what went wrong.

Reasons, codes and message templates are kube-apiserver's.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from informers.api.status import Cause, Status, StatusDetails
from kcpctl.apiserver.field_errors import MOST_TOLD
from kcpctl.apiserver.served import FieldError, Served


class Failure(Exception):
    """A request that ends with a Status, or with plain text where kube-apiserver answers plain text."""

    def __init__(self, status: Status, *, text: str | None = None) -> None:
        """Keep the Status; `text` replaces the body by plain text."""
        super().__init__(status.message)
        self.status = status
        self.text = text


def failure(code: int, reason: str, message: str, details: StatusDetails | None = None) -> Failure:
    """Return a Failure with these words."""
    return Failure(Status(message=message, reason=reason, code=code, details=details))


def _details(served: Served, name: str, causes: Sequence[Cause] = (), *, kind: str = "") -> StatusDetails:
    return StatusDetails(name=name, group=served.group, kind=kind or served.plural, causes=list(causes))


def not_found(served: Served, name: str) -> Failure:
    """404: no such object."""
    return failure(404, "NotFound", f'{served.qualified} "{name}" not found', _details(served, name))


def path_not_found() -> Failure:
    """404 in plain text: nothing is served there."""
    message = "404 page not found"
    return Failure(Status(message=message, reason="NotFound", code=404), text=message + "\n")


def resource_not_found() -> Failure:
    """404: a built-in group-version has no such resource."""
    return failure(404, "NotFound", "the server could not find the requested resource", StatusDetails())


def already_exists(served: Served, name: str, *, terminating: bool = False) -> Failure:
    """409: the name is taken, maybe by an object that is going away."""
    prefix = "object is being deleted: " if terminating else ""
    return failure(409, "AlreadyExists", f'{prefix}{served.qualified} "{name}" already exists', _details(served, name))


def conflict(served: Served, name: str, why: str = "") -> Failure:
    """409: the object changed meanwhile."""
    why = why or "the object has been modified; please apply your changes to the latest version and try again"
    message = f'Operation cannot be fulfilled on {served.qualified} "{name}": {why}'
    return failure(409, "Conflict", message, _details(served, name))


def invalid(served: Served, name: str, errors: Sequence[FieldError]) -> Failure:
    """422: the object is wrong in these fields; equal messages are printed once, all of them become causes."""
    listed, causes = _told(errors)
    message = f'{served.qualified_kind} "{name}" is invalid: {listed}'
    return failure(422, "Invalid", message, _details(served, name, causes, kind=served.kind))


def _told(errors: Sequence[FieldError]) -> tuple[str, list[Cause]]:
    """Return errors as a sentence and as causes; of those beyond the limit it is only told that there are some."""
    shown = errors[:MOST_TOLD]
    texts = list(dict.fromkeys(f"{e.field}: {e.message}" for e in shown))
    if len(errors) > MOST_TOLD:
        texts.append("and more")
    causes = [Cause(reason=e.reason, message=e.message, field=e.field) for e in shown]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]", causes


def invalid_options(kind: str, errors: Sequence[FieldError]) -> Failure:
    """422: query parameters that contradict themselves; `kind` is CreateOptions, ListOptions, …"""
    listed, causes = _told(errors)
    details = StatusDetails(group="meta.k8s.io", kind=kind, causes=causes)
    return failure(422, "Invalid", f'{kind}.meta.k8s.io "" is invalid: {listed}', details)


def bad_request(message: str) -> Failure:
    """400: the request makes no sense."""
    return failure(400, "BadRequest", message)


def forbidden(served: Served, name: str, why: str, causes: Sequence[Cause] = ()) -> Failure:
    """403: an admission rule says no."""
    shown = f'{served.qualified} "{name}"' if name else served.qualified
    return failure(403, "Forbidden", f"{shown} is forbidden: {why}", _details(served, name, causes))


def method_not_allowed(served: Served | None = None, verb: str = "") -> Failure:
    """405: not this verb on this resource."""
    if served is not None and served.is_custom:
        message = f"{verb} is not supported on resources of kind {served.qualified!r}".replace("'", '"')
        return failure(405, "MethodNotAllowed", message, _details(served, ""))
    message = "the server does not allow this method on the requested resource"
    return failure(405, "MethodNotAllowed", message, StatusDetails())


def expired(message: str, *, continue_: str = "") -> Failure:
    """410: that revision is gone; `continue_` is a token that goes on without it."""
    status = Status(message=message, reason="Expired", code=410)
    return Failure(replace(status, metadata=replace(status.metadata, continue_=continue_)))


def too_large_revision(requested: int, current: int, *, retry_after: int = 0) -> Failure:
    """504: that revision has not been reached; `retry_after` in seconds, 0 names none."""
    cause = Cause(reason="ResourceVersionTooLarge", message="Too large resource version")
    message = f"Timeout: Too large resource version: {requested}, current: {current}"
    return failure(504, "Timeout", message, StatusDetails(causes=[cause], retry_after_seconds=retry_after))


def internal(message: str) -> Failure:
    """500 with a reason: something broke on our side."""
    details = StatusDetails(causes=[Cause(message=message)])
    return failure(500, "InternalError", f"Internal error occurred: {message}", details)


def untyped(message: str) -> Failure:
    """500 without a reason, as kube-apiserver gives for a few malformed requests."""
    return failure(500, "", message)


def not_built(message: str) -> Failure:
    """501: a feature that this server knows of and does not have; the message names it and what to do instead."""
    return failure(501, "NotImplemented", message)
