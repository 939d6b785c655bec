"""What a reflector does when something goes wrong: one table, read from the top, first match wins.

The rules are those of client-go's reflector (list and watch, and the streamed list), with these differences: whoever
resumes a watch after anything but its regular end asks first whether the server still has our history; a streamed state
whose end never comes is given up; what client-go would repeat for ever without a pause is repeated once; a missing
collection is asked for ever less often. After any other pause in a watch comes that question too, which costs a
throttled server one object, where client-go starts the watch again.
"""

from enum import Enum

import msgspec

from informers.api.errors import (
    ApiError,
    ConfigurationError,
    ConnectionRefused,
    DecodeError,
    Expired,
    Forbidden,
    InformersError,
    NotFound,
    ReadTimeout,
    TooLargeResourceVersion,
    TooManyRequests,
    TransportError,
    Unauthorized,
)


class Phase(Enum):
    """What the reflector was doing."""

    STREAM = "asking for the state as a stream"
    LIST = "listing"
    PAGE = "listing further pages"
    CHECK = "asking for the server's revision"
    PROVE = "finding out whether the history is the same"
    WATCH_START = "starting a watch"
    WATCH = "watching"


class Trouble(Enum):
    """What happened to it."""

    FORCED = "somebody asked for a list"
    EXPIRED = "the revision is too old"
    TOO_LARGE = "the revision is ahead of the server"
    BEHIND = "the server's revision is behind ours: its history is another one"
    REPLACED = "the server shows another store, or not what we know of this one: its history is another one"
    THROTTLED = "the server asks for patience"
    REFUSED = "nobody listens there"
    BROKEN = "the connection broke"
    SILENT = "the server was silent for too long"
    ENDED = "the server ended the watch before its time"
    ENDED_AGAIN = "the server ended the stream before its state was complete, twice in a row"
    ENDED_ON_TIME = "the server ended the watch on time"
    UNEVENTFUL = "the server ended the watch on time, and it had brought nothing, not even a bookmark"
    SHORT = "the watch ended at once and brought nothing"
    UNMARKED = "the end of the streamed state was never marked"
    MISSING = "the server has no such collection"
    DENIED = "the server does not let us in"
    FAILED = "the server failed"
    REJECTED = "the server does not do what was asked"
    NONSENSE = "the answer was not what it should be"


class Action(Enum):
    """What to do next."""

    SYNC = "get the whole state, no older than what is known; as a stream where possible"
    SYNC_AFRESH = "get the whole state as it is now; what was known counts for nothing"
    LIST = "get the whole state by a list, this time"
    LIST_AFRESH = "get the whole state by a list as it is now"
    LIST_WHOLE = "get the whole state by one list without pages, at the revision asked for before"
    CHECK = "ask whether the server is behind, then watch"
    WATCH = "watch from the last revision"


class Pause(Enum):
    """How long to wait before that."""

    NONE = "none"
    BACKOFF = "backoff"
    """Doubling, 0.8 s to 30 s before jitter; or what the server asks for, if longer."""
    LONG = "long"
    """Doubling, 2 s to 60 s before jitter: nothing but somebody's deed will change it."""


class Rule(msgspec.Struct, frozen=True):
    """One row; no troubles means all that no row above it names for the phase."""

    phases: frozenset[Phase]
    troubles: frozenset[Trouble]
    action: Action
    pause: Pause
    reason: str


def _on(*phases: Phase) -> frozenset[Phase]:
    return frozenset(phases)


def _of(*troubles: Trouble) -> frozenset[Trouble]:
    return frozenset(troubles)


_EVERYWHERE = frozenset(Phase)
_ANY = frozenset(Trouble)
_P, _T, _A = Phase, Trouble, Action

RECOVERY = (
    Rule(_EVERYWHERE, _of(_T.FORCED), _A.SYNC_AFRESH, Pause.NONE, "whoever forces it knows more than we do"),
    # The state as a stream
    Rule(_on(_P.STREAM), _of(_T.EXPIRED, _T.TOO_LARGE), _A.SYNC_AFRESH, Pause.NONE, "our revision is of no use here"),
    Rule(_on(_P.STREAM), _of(_T.REFUSED, _T.THROTTLED), _A.SYNC, Pause.BACKOFF, "the server is coming or busy"),
    Rule(_on(_P.STREAM), _of(_T.ENDED), _A.SYNC, Pause.NONE, "it may do better the next time; once, not for ever"),
    Rule(_on(_P.STREAM), _ANY, _A.LIST, Pause.NONE, "a list needs less of the server; the next sync tries again"),
    # The state as a list
    Rule(_on(_P.PAGE), _of(_T.EXPIRED), _A.LIST_WHOLE, Pause.NONE, "the pages took longer than history lasts"),
    Rule(_on(_P.LIST), _of(_T.EXPIRED, _T.TOO_LARGE), _A.LIST_AFRESH, Pause.NONE, "our revision is of no use here"),
    Rule(_on(_P.LIST, _P.PAGE), _of(_T.MISSING), _A.SYNC, Pause.LONG, "it is not installed, or was removed"),
    Rule(_on(_P.LIST, _P.PAGE), _ANY, _A.SYNC, Pause.BACKOFF, "all other failures may pass"),
    # Before a watch resumes
    Rule(_on(_P.CHECK), _of(_T.BEHIND), _A.SYNC_AFRESH, Pause.NONE, "such a watch would stay silent for ever"),
    Rule(_on(_P.CHECK), _of(_T.REPLACED), _A.SYNC_AFRESH, Pause.NONE, "what we hold is of another history"),
    Rule(_on(_P.CHECK), _of(_T.REFUSED, _T.THROTTLED), _A.CHECK, Pause.BACKOFF, "the server is coming or busy"),
    Rule(
        _on(_P.CHECK), _of(_T.BROKEN, _T.SILENT), _A.CHECK, Pause.BACKOFF, "so does a proxy answer whose server is away"
    ),
    Rule(_on(_P.CHECK), _of(_T.MISSING), _A.SYNC, Pause.LONG, "it was removed"),
    Rule(_on(_P.CHECK), _ANY, _A.SYNC, Pause.BACKOFF, "who cannot say it cannot resume either"),
    # The server is to show our history: before a fetched state or an accepted watch counts
    Rule(_on(_P.PROVE), _of(_T.REPLACED), _A.SYNC_AFRESH, Pause.NONE, "equal revisions need not be equal objects"),
    Rule(_on(_P.PROVE), _of(_T.MISSING), _A.SYNC, Pause.LONG, "it was removed"),
    Rule(_on(_P.PROVE), _ANY, _A.SYNC, Pause.BACKOFF, "who did not answer may do so later, to the next state"),
    # Starting a watch
    Rule(_on(_P.WATCH_START), _of(_T.THROTTLED), _A.CHECK, Pause.BACKOFF, "a whole list would only add to the load"),
    Rule(_on(_P.WATCH_START), _of(_T.REFUSED), _A.CHECK, Pause.BACKOFF, "who was away may come back without history"),
    Rule(_on(_P.WATCH_START), _of(_T.MISSING), _A.SYNC, Pause.LONG, "it was removed"),
    Rule(_on(_P.WATCH_START), _of(_T.REPLACED), _A.SYNC_AFRESH, Pause.BACKOFF, "two stores may be taking turns"),
    Rule(_on(_P.WATCH_START), _ANY, _A.SYNC, Pause.BACKOFF, "the revision may be the reason"),
    # Watching
    Rule(_on(_P.WATCH), _of(_T.ENDED_ON_TIME), _A.WATCH, Pause.NONE, "as arranged"),
    Rule(_on(_P.WATCH), _of(_T.ENDED, _T.BROKEN, _T.SILENT), _A.CHECK, Pause.NONE, "the server may have restarted"),
    Rule(_on(_P.WATCH), _of(_T.UNEVENTFUL), _A.CHECK, Pause.NONE, "so ends a watch from the future, too"),
    Rule(_on(_P.WATCH), _of(_T.BEHIND), _A.CHECK, Pause.NONE, "a bookmark was lower than what we have reached"),
    Rule(_on(_P.WATCH), _of(_T.THROTTLED), _A.CHECK, Pause.BACKOFF, "a whole list would only add to the load"),
    Rule(_on(_P.WATCH), _of(_T.EXPIRED), _A.SYNC, Pause.BACKOFF, "as for everybody else at this moment"),
    Rule(_on(_P.WATCH), _of(_T.SHORT), _A.SYNC, Pause.BACKOFF, "a server that ends every watch must not be stormed"),
    Rule(_on(_P.WATCH), _ANY, _A.SYNC, Pause.BACKOFF, "events may be lost, or the revision be the reason"),
)

REGULAR = frozenset({Trouble.FORCED, Trouble.ENDED, Trouble.ENDED_ON_TIME, Trouble.UNEVENTFUL})
"""What is no error, only the end of something."""

AFRESH = frozenset({Action.SYNC_AFRESH, Action.LIST_AFRESH})
"""Actions after which the last revision is of no use until the next whole state is in."""


class Happened(InformersError):
    """Something that no library raises an error for."""

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble


def decide(phase: Phase, trouble: Trouble) -> Rule:
    """Return the first rule that covers the trouble in the phase; there always is one."""
    return next(rule for rule in RECOVERY if phase in rule.phases and trouble in rule.troubles)


def trouble_of(error: InformersError, *, afresh: bool = False) -> Trouble:
    """Say what kind of trouble the error is.

    `afresh` says that there was no revision, or token, that could be at fault: then the server is.
    """
    if isinstance(error, Happened):
        return error.trouble
    if isinstance(error, ApiError):
        trouble = _trouble_of_answer(error)
        return Trouble.FAILED if afresh and trouble in (Trouble.EXPIRED, Trouble.TOO_LARGE) else trouble
    return next(trouble for kind, trouble in _KINDS if isinstance(error, kind))


def _trouble_of_answer(error: ApiError) -> Trouble:
    if error.reason in ("Expired", "Gone"):  # servers before 1.18 say Gone; a proxy may change the code
        return Trouble.EXPIRED
    for kind, trouble in _ANSWERS:
        if isinstance(error, kind):
            return trouble
    return Trouble.FAILED if error.status.code >= 500 else Trouble.REJECTED


_ANSWERS: tuple[tuple[type[ApiError], Trouble], ...] = (
    (Expired, Trouble.EXPIRED),
    (TooLargeResourceVersion, Trouble.TOO_LARGE),
    (TooManyRequests, Trouble.THROTTLED),
    (NotFound, Trouble.MISSING),
    (Unauthorized, Trouble.DENIED),
    (Forbidden, Trouble.DENIED),
)
_KINDS: tuple[tuple[type[InformersError], Trouble], ...] = (
    (ConnectionRefused, Trouble.REFUSED),
    (ReadTimeout, Trouble.SILENT),
    (TransportError, Trouble.BROKEN),
    (ConfigurationError, Trouble.DENIED),  # credentials that cannot be had now may be there later
    (DecodeError, Trouble.NONSENSE),
    (InformersError, Trouble.FAILED),
)
