"""Every error of the framework, grouped by who is to blame.

InformersError
├── ApiError                 the server answered, with a Status (code, reason, message)
│   ├── BadRequest 400 · Unauthorized 401 · Forbidden 403 · NotFound 404 · MethodNotAllowed 405
│   ├── NotAcceptable 406 · Conflict 409 ── AlreadyExists · Expired 410 · RequestEntityTooLarge 413
│   ├── UnsupportedMediaType 415 · Invalid 422 · TooManyRequests 429
│   └── InternalError 500 · ServiceUnavailable 503 · Timeout 504 ── TooLargeResourceVersion
├── TransportError           nobody answered, or the answer broke off
│   ├── ConnectError ── ConnectionRefused
│   ├── ReadTimeout          silence for longer than the deadline
│   └── Disconnected         the stream ended inside a message
├── DecodeError              the answer was not what it should be
├── ConfigurationError       a kubeconfig, credential, setting or declaration is wrong
├── CacheError               the cache cannot say
│   ├── NotSynced            nothing is known yet
│   ├── Incomplete           only a part is known, and the whole was asked for
│   ├── Ambiguous            several objects answer to one key
│   └── Undeclared           this resource or index was never declared
├── OwnershipError           an object cannot belong to that owner
└── TerminalError            a reconciler says: trying again is no use
"""

from typing import ClassVar

import msgspec

from informers.api.status import Status


class InformersError(Exception):
    """The root of all errors raised here."""


class ApiError(InformersError):
    """The server answered with a failure; `status` is what it said."""

    code: ClassVar[int] = 0

    def __init__(self, status: Status, *, retry_after: float | None = None) -> None:
        """Keep the Status, and the seconds that a Retry-After header asked for (None: there was none)."""
        super().__init__(status.message or status.reason or f"HTTP {status.code}")
        self.status = status
        self.retry_after = retry_after

    @property
    def reason(self) -> str:
        """The machine-readable reason, such as `NotFound`."""
        return self.status.reason


class BadRequest(ApiError):
    """400: the request makes no sense."""

    code = 400


class Unauthorized(ApiError):
    """401: who are you?"""

    code = 401


class Forbidden(ApiError):
    """403: you may not."""

    code = 403


class NotFound(ApiError):
    """404: no such object, or no such collection."""

    code = 404


class MethodNotAllowed(ApiError):
    """405: not this verb on this resource."""

    code = 405


class NotAcceptable(ApiError):
    """406: none of the accepted media types can be produced."""

    code = 406


class Conflict(ApiError):
    """409: the object changed meanwhile, or a precondition failed."""

    code = 409


class AlreadyExists(Conflict):
    """409 with reason AlreadyExists: the name is taken."""


class Expired(ApiError):
    """410: that resourceVersion or continue token is too old."""

    code = 410


class RequestEntityTooLarge(ApiError):
    """413: the body is over the limit."""

    code = 413


class UnsupportedMediaType(ApiError):
    """415: the body's media type is not understood."""

    code = 415


class Invalid(ApiError):
    """422: the object fails validation; `status.details.causes` says where."""

    code = 422


class TooManyRequests(ApiError):
    """429: later, please."""

    code = 429


class InternalError(ApiError):
    """500: the server failed."""

    code = 500


class ServiceUnavailable(ApiError):
    """503: the server cannot serve now."""

    code = 503


class Timeout(ApiError):
    """504: the server gave up waiting."""

    code = 504


class TooLargeResourceVersion(Timeout):
    """504 whose cause says that the resourceVersion is ahead of the server."""


class TransportError(InformersError):
    """Nobody answered, or the answer broke off."""


class ConnectError(TransportError):
    """No connection could be made (address, TLS, name)."""


class ConnectionRefused(ConnectError):
    """The address answered: nobody listens there."""


class ReadTimeout(TransportError):
    """The server was silent for longer than the deadline."""


class Disconnected(TransportError):
    """The stream ended inside a message."""


class DecodeError(InformersError):
    """The answer was not what it should be."""


class ConfigurationError(InformersError):
    """A kubeconfig, credential, setting or declaration is wrong; the message says where and what to do."""


class CacheError(InformersError):
    """The cache cannot say."""


class NotSynced(CacheError):
    """Nothing is known yet: the informer has not finished its first list."""


class Incomplete(CacheError):
    """Only a part is known, and the complete set was asked for."""


class Ambiguous(CacheError):
    """Several objects answer to one key (the same cluster and name on two shards)."""


class Undeclared(CacheError):
    """This resource or index was never declared."""


class OwnershipError(InformersError):
    """An object cannot belong to that owner: it is elsewhere, or another one controls it."""


class TerminalError(InformersError):
    """A reconciler says that trying again is no use; the key waits for its next change."""


_BY_CODE: dict[int, type[ApiError]] = {cls.code: cls for cls in ApiError.__subclasses__()}
_TOO_LARGE = "Too large resource version"
_decode_status = msgspec.json.Decoder(Status).decode


def api_error(status: Status, *, retry_after: float | None = None) -> ApiError:
    """Return the most exact error for a Status.

    "Too large" is recognised by its cause, and by its message for servers older than 1.19.
    """
    details = status.details
    causes = details.causes if details else []
    if retry_after is None and details and details.retry_after_seconds:
        retry_after = float(details.retry_after_seconds)
    if status.code == 504 and (
        any(c.reason == "ResourceVersionTooLarge" or _TOO_LARGE in c.message for c in causes)
        or _TOO_LARGE in status.message
    ):
        return TooLargeResourceVersion(status, retry_after=retry_after)
    if status.reason == "AlreadyExists":
        return AlreadyExists(status, retry_after=retry_after)
    return _BY_CODE.get(status.code, ApiError)(status, retry_after=retry_after)


def error_from_answer(code: int, body: bytes, *, retry_after: float | None = None) -> ApiError:
    """Return the error for a failed HTTP answer, whether or not its body is a Status.

    Proxies, crashed handlers and unknown paths answer plain text: the first line of it becomes the message.
    """
    status = _stated(body) or Status(message=_first_line(body) or f"HTTP {code} without a body")
    if status.code != code:
        status = msgspec.structs.replace(status, code=code)
    return api_error(status, retry_after=retry_after)


def _stated(body: bytes) -> Status | None:
    """Return the Status in the body; None where it is something else, JSON of another kind included."""
    try:
        status = _decode_status(body)
    except msgspec.DecodeError:
        return None
    return status if status.message or status.reason else None


def _first_line(body: bytes) -> str:
    return body[:400].decode("utf-8", "replace").strip().partition("\n")[0]


def is_kind(error: BaseException, *kinds: type[BaseException]) -> bool:
    """Say whether the error is of one of these kinds, also inside (nested) exception groups of one kind."""
    if isinstance(error, BaseExceptionGroup):
        return all(is_kind(inner, *kinds) for inner in error.exceptions)
    return isinstance(error, kinds)
