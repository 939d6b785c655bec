"""What observers of the runtime are told: frozen records, one kind a happening."""

from enum import StrEnum
from typing import TypeAlias

import msgspec

from informers.api.objects import Key
from informers.client.records import Write


class Outcome(StrEnum):
    """How a visit ended."""

    SUCCESS = "success"
    REQUEUED = "requeue_after"
    """It went well, and the reconciler wants to come back after a while."""
    CONFLICT = "conflict"
    """The object has changed meanwhile; the newer one is visited soon. No error."""
    UNDONE = "undone"
    """Somebody undoes each time what this controller writes; this time nothing was written, which it will be later."""
    GONE = "gone"
    """There is no such object, and the controller does not care for what is gone."""
    ERROR = "error"
    TIMEOUT = "timeout"
    TERMINAL = "terminal_error"
    """The reconciler says that trying again is no use."""

    @property
    def failed(self) -> bool:
        """Whether somebody should know about it."""
        return self in (Outcome.ERROR, Outcome.TIMEOUT, Outcome.TERMINAL)


class Reconciled(msgspec.Struct, frozen=True):
    """One visit of one key."""

    controller: str
    key: Key
    attempt: int
    """From 1; counts the failures since the last success."""
    took: float
    """Seconds."""
    outcome: Outcome
    retry_in: float | None = None
    """Seconds until the next visit, where the outcome asks for one."""
    error: BaseException | None = None
    writes: tuple[Write, ...] = ()
    """What the visit wrote, its status patch included."""


class Undone(msgspec.Struct, frozen=True):
    """What a controller writes into an object is undone by somebody each time; from now on each write waits longer."""

    controller: str
    key: Key
    fields: tuple[str, ...]
    """Paths of what the last write changed, such as `status.members`."""
    writes: int
    """How often the same was written in a row."""
    within: float
    """Seconds from the first of these writes to the last."""
    retry_in: float
    """Seconds for which the next write waits; it doubles with each."""


class FilterFailed(msgspec.Struct, frozen=True):
    """An event filter raised; the change was kept."""

    controller: str
    resource: str
    key: Key
    error: Exception


class ControllerStarted(msgspec.Struct, frozen=True):
    """A controller's sources are there, and its workers begin."""

    controller: str
    workers: int
    waited: float
    """Seconds for the sources."""
    missing: tuple[str, ...] = ()
    """Sources that it does not wait for any longer; it wakes all keys when one of them arrives."""


class SourceArrived(msgspec.Struct, frozen=True):
    """A source that its controller had not waited for has synced; all keys are ready for another visit."""

    controller: str
    source: str
    late: float
    """Seconds after the workers began."""


class Stopping(msgspec.Struct, frozen=True):
    """A stop waits for visits that are under way."""

    grace: float
    """Seconds that they have."""
    waiting_for: tuple[tuple[str, Key], ...]
    """(controller, key) of each."""


class GraceOver(msgspec.Struct, frozen=True):
    """Visits that have not ended within the grace period are cancelled."""

    cancelled: tuple[tuple[str, Key], ...]
    """(controller, key) of each."""


class LeftBehind(msgspec.Struct, frozen=True):
    """Visits that went on although they were cancelled: nothing waits for them any longer, and nothing can end them."""

    visits: tuple[tuple[str, Key], ...]
    """(controller, key) of each."""


class ObserverDropped(msgspec.Struct, frozen=True):
    """An observer raised and is not told anything any more."""

    observer: str
    error: Exception


RuntimeFact: TypeAlias = (
    Reconciled
    | Undone
    | FilterFailed
    | ControllerStarted
    | SourceArrived
    | Stopping
    | GraceOver
    | LeftBehind
    | ObserverDropped
)
