"""Facts as log events: what goes well at debug level, trouble once for as long as it lasts."""

import logging
import traceback
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import singledispatchmethod
from typing import Any

from controllers import records
from controllers.entries import Removal
from controllers.holding import Taken
from controllers.keeping import NotKept
from controllers.rivals import Waiting
from informers.api.errors import TransportError
from informers.api.objects import Key
from informers.cache import facts as cache
from informers.cache.recovery import Trouble
from informers.client.records import Retried, WarningReceived
from informers.runtime import facts as runtime
from informers.runtime.facts import Outcome
from kcpctl.logs import Log, logger, told
from kcpctl.places import place_of
from kcpctl.streaks import Streaks

_MOST_NAMED = 5
_MOST_WARNINGS = 1000
"""Texts that are remembered as told; they may carry names, so that there is no end to them."""
_SLOW_SYNC = 1.0
"""Seconds after which a first sync is worth a line of its own at the usual level."""


class LogObserver:
    """Turns facts into log events; what goes well is told at debug level."""

    def __init__(self, log: Log | None = None) -> None:
        """Log to this logger, or to structlog's own."""
        self._log = (log if log is not None else logger()).bind()  # unbound it would be made anew for each event
        self._tells_all = self._log.is_enabled_for(logging.DEBUG)
        self._quiet: dict[tuple[str, str], str] = {}
        self._asked: set[tuple[str, str]] = set()
        self._streaks = Streaks()
        self._warned: OrderedDict[tuple[str, str], None] = OrderedDict()

    def notice(self, fact: Any) -> None:
        """Take note of a fact."""
        kind = type(fact)
        tell = _KNOWN.get(kind)
        if tell is None:
            tell = _KNOWN[kind] = _TELLING.dispatch(kind)
        tell(self, fact)

    @singledispatchmethod
    def _tell(self, fact: Any) -> None:
        """Leave a fact that is not told of below to others."""

    @_tell.register
    def _reconciled(self, fact: runtime.Reconciled) -> None:
        if not fact.outcome.failed:
            if fact.outcome is not Outcome.CONFLICT:  # which says neither that it went well nor that it did not
                self._streaks.ended((fact.controller, fact.key))
            if not self._tells_all:
                return
        fields: dict[str, Any] = {
            "controller": fact.controller,
            "cluster": fact.key.cluster,
            "key": str(fact.key),
            "attempt": fact.attempt,
            "took": round(fact.took, 4),
        }
        at = place_of(fact.error) if fact.error is not None else ""
        if at:
            fields["at"] = at
        if not fact.outcome.failed:
            self._log.debug("reconciled", outcome=str(fact.outcome), writes=len(fact.writes), **fields)
            return
        failures, worth = self._streaks.failed((fact.controller, fact.key), (fact.outcome, type(fact.error), at))
        fields["failures"] = failures
        if fact.outcome is Outcome.TERMINAL:
            tell = self._log.error if worth else self._log.debug
            tell("reconcile failed for good", error=fact.error, **fields)
        else:
            tell = self._log.warning if worth else self._log.debug
            retry_in = None if fact.retry_in is None else round(fact.retry_in, 3)
            tell("reconcile failed", error=fact.error, retry_in=retry_in, **fields)
        if fact.error is not None and self._tells_all:
            self._log.debug("where it failed", trace="".join(traceback.format_exception(fact.error)))

    @_tell.register
    def _listed(self, fact: cache.Listed) -> None:
        slow = fact.initial and fact.took > _SLOW_SYNC
        tell = self._log.info if slow or self._quiet.pop(_place(fact.origin), "") else self._log.debug
        tell("synced", **_origin(fact.origin), objects=fact.objects, took=round(fact.took, 3), initial=fact.initial)

    @_tell.register
    def _backed(self, fact: cache.Backed) -> None:
        """Tell of trouble once; it is repeated at debug level until it changes or ends."""
        place, trouble = _place(fact.origin), f"{fact.reason.value} {told(fact.error)}"
        again = self._quiet.get(place) == trouble
        self._quiet[place] = trouble
        tell = self._log.debug if again else self._log.warning
        fields = {**_origin(fact.origin), "retry_in": round(fact.seconds, 2)}
        if fact.reason is Trouble.MISSING:
            tell("resource is not served there, asking until it is", **fields)
            return
        tell(
            "informer has trouble",
            **fields,
            reason=fact.reason.value,
            error=fact.error,
            then=fact.then.value,
            failures=fact.failures,
        )

    @_tell.register
    def _watching(self, fact: cache.WatchStarted) -> None:
        self._asked.discard(_place(fact.origin))
        if self._quiet.pop(_place(fact.origin), ""):
            self._log.info("informer is well again", **_origin(fact.origin))
        else:
            self._log.debug("watch started", **_origin(fact.origin), revision=fact.revision)

    @_tell.register
    def _watch_ended(self, fact: cache.WatchEnded) -> None:
        self._log.debug(
            "watch ended",
            **_origin(fact.origin),
            reason=fact.reason.value,
            events=fact.events,
            lived=round(fact.lived, 1),
        )

    @_tell.register
    def _relisted(self, fact: cache.Relisted) -> None:
        """Tell of a list that somebody asked for once until it is there; that is no error."""
        fields = {**_origin(fact.origin), "reason": fact.reason.value}
        if fact.reason is not Trouble.FORCED:
            self._log.info("listing again", **fields, error=fact.error)
            return
        place = _place(fact.origin)
        tell = self._log.debug if place in self._asked else self._log.info
        self._asked.add(place)
        tell("listing again", **fields)

    @_tell.register
    def _quarantined(self, fact: cache.Quarantined) -> None:
        fields = {"cluster": fact.key.cluster, "key": str(fact.key), "error": fact.error}
        self._log.warning("object set aside", **_origin(fact.origin), **fields, handler=fact.handler)

    @_tell.register
    def _released(self, fact: cache.Released) -> None:
        self._log.info("object is well again", **_origin(fact.origin), cluster=fact.key.cluster, key=str(fact.key))

    @_tell.register
    def _undone(self, fact: runtime.Undone) -> None:
        event = "what a controller writes is undone each time, from now on it waits: let one writer set each field"
        fields = {"controller": fact.controller, "cluster": fact.key.cluster, "key": str(fact.key)}
        named = _few(fact.fields)
        figures = {"writes": fact.writes, "within": round(fact.within, 3), "retry_in": fact.retry_in}
        self._log.warning(event, **fields, fields=named, **figures)

    @_tell.register
    def _filter_failed(self, fact: runtime.FilterFailed) -> None:
        fields = {"controller": fact.controller, "key": str(fact.key), "resource": fact.resource}
        self._log.warning("event filter failed, the change was kept", **fields, error=fact.error)

    @_tell.register
    def _started(self, fact: runtime.ControllerStarted) -> None:
        fields: dict[str, Any] = {"controller": fact.controller, "waited": round(fact.waited, 3)}
        if fact.missing:
            self._log.warning("controller started without some of its sources", **fields, missing=list(fact.missing))
        else:
            self._log.debug("controller started", **fields)

    @_tell.register
    def _arrived(self, fact: runtime.SourceArrived) -> None:
        self._log.info("source arrived late", controller=fact.controller, source=fact.source, late=round(fact.late, 1))

    @_tell.register
    def _stopping(self, fact: runtime.Stopping) -> None:
        waiting = _several(fact.waiting_for)
        self._log.info("waiting for reconciles to end", grace=fact.grace, waiting_for=waiting)

    @_tell.register
    def _grace_over(self, fact: runtime.GraceOver) -> None:
        self._log.warning("reconciles cancelled after the grace period", cancelled=_several(fact.cancelled))

    @_tell.register
    def _left_behind(self, fact: runtime.LeftBehind) -> None:
        self._log.error("reconciles go on although they are cancelled, left behind", visits=_several(fact.visits))

    @_tell.register
    def _dropped(self, fact: runtime.ObserverDropped) -> None:
        self._log.error("observer dropped", observer=fact.observer, error=fact.error)

    @_tell.register
    def _taken(self, fact: Taken) -> None:
        if fact.inherited is None:
            self._log.debug("segment of the cache is held", shard=fact.shard)
            return
        event = "segment of the cache was another store's, what this one lacks is held until it is adopted"
        self._log.warning(event, shard=fact.shard, since=fact.inherited)

    @_tell.register
    def _waiting(self, fact: Waiting) -> None:
        if fact.has_stopped:
            event = "shard's name was another process' in the cache until now, waiting whether that one comes back"
        else:
            event = "shard's name is another process' in the cache, waiting whether that one is still there"
        self._log.info(event, shard=fact.shard, url=fact.url, seconds=fact.seconds)

    @_tell.register
    def _not_kept(self, fact: NotKept) -> None:
        event = "what was seen of shards cannot be kept, and is not used before it is"
        self._log.error(event, error=fact.error, retry_in=round(fact.retry_in, 1))

    @_tell.register
    def _acknowledged(self, fact: records.Acknowledged) -> None:
        self._log.info("a removal was acted upon", **_removal(fact.removal), let_go=fact.forgotten)

    @_tell.register
    def _disproved(self, fact: records.Disproved) -> None:
        self._log.warning("a removal was deleted: what it says is gone is here, at its home", **_removal(fact.removal))

    @_tell.register
    def _not_acknowledged(self, fact: records.NotAcknowledged) -> None:
        """Tell of trouble, which it is none that a segment is not held yet."""
        tell = self._log.debug if isinstance(fact.error, records.NotWritable) else self._log.warning
        tell("removals cannot be acknowledged", error=fact.error, retry_in=round(fact.retry_in, 1))

    @_tell.register
    def _not_followed(self, fact: records.NotFollowed) -> None:
        """Tell of what is not that the cache cannot be reached, of which its informers tell."""
        tell = self._log.debug if isinstance(fact.error, TransportError) else self._log.warning
        tell("removals are not followed yet", error=fact.error, retry_in=round(fact.retry_in, 1))

    @_tell.register
    def _retried(self, fact: Retried) -> None:
        self._log.info(
            "server asked for a later retry",
            server=fact.server,
            method=fact.method,
            target=fact.target,
            attempt=fact.attempt,
            retry_in=fact.delay,
            error=fact.error,
        )

    @_tell.register
    def _warning(self, fact: WarningReceived) -> None:
        """Pass a server's warning on once, as kubectl does; it is repeated at debug level."""
        known = (fact.server, fact.text)
        tell = self._log.debug if known in self._warned else self._log.warning
        self._warned[known] = None
        self._warned.move_to_end(known)
        if len(self._warned) > _MOST_WARNINGS:
            self._warned.popitem(last=False)
        tell("server warns", server=fact.server, method=fact.method, target=fact.target, warning=fact.text)


_TELLING = vars(LogObserver)["_tell"].dispatcher
"""What the method itself goes by; it makes a function for each call, which costs more than most facts do."""
_KNOWN: dict[type[Any], Callable[[LogObserver, Any], None]] = {}
"""What it has found for the kinds of facts that there were."""


def _origin(origin: cache.Origin) -> dict[str, str]:
    return {"server": origin.server, "resource": str(origin.collection)}


def _removal(removal: Removal) -> dict[str, str]:
    return {"resource": removal.kind, "shard": removal.shard, "cluster": removal.cluster, "name": removal.name}


def _several(visits: Sequence[tuple[str, Key]]) -> list[str]:
    """Name the first few visits, and how many more there are."""
    return _few([f"{controller} {key}" for controller, key in visits])


def _few(names: Sequence[str]) -> list[str]:
    shown = list(names[:_MOST_NAMED])
    more = len(names) - len(shown)
    return [*shown, f"{more} more"] if more else shown


def _place(origin: cache.Origin) -> tuple[str, str]:
    return origin.server, str(origin.collection)
