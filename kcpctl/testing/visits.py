"""What controllers under test do, noted from the facts that the runtime tells."""

import asyncio
from typing import Any

from informers.api.errors import InformersError
from informers.api.objects import Key
from informers.runtime.facts import ControllerStarted, Outcome, Reconciled, SourceArrived, Undone

_RETRIED = (Outcome.CONFLICT, Outcome.ERROR, Outcome.TIMEOUT, Outcome.UNDONE)


class ControllerFailed(InformersError):
    """A controller under test raised again and again; the cause is what it raised last. Or its writes were undone."""


class Visits:
    """Notes every visit; an Observer. Invariant: `news` is set whenever anything was told since it was cleared."""

    def __init__(self) -> None:
        """Start with none."""
        self.all: list[Reconciled] = []
        """In the order in which they ended."""
        self.retries: dict[tuple[str, Key], Reconciled] = {}
        """The last visit of each (controller, key) that is to be visited again since that one did not succeed."""
        self.late: set[tuple[str, str]] = set()
        """(controller, source) of each source that its controller had not waited for, and that has not arrived."""
        self._undone: Undone | None = None
        self.news = asyncio.Event()

    def notice(self, fact: Any) -> None:
        """Take note of a fact."""
        match fact:
            case Reconciled():
                self._visited(fact)
            case ControllerStarted():
                self.late.update((fact.controller, source) for source in fact.missing)
            case Undone():
                self._undone = fact
            case SourceArrived():
                self.late.discard((fact.controller, fact.source))
        self.news.set()

    def _visited(self, fact: Reconciled) -> None:
        self.all.append(fact)
        where = (fact.controller, fact.key)
        if fact.outcome in _RETRIED:
            self.retries[where] = fact
        else:
            self.retries.pop(where, None)

    def check(self, attempts: int) -> None:
        """Raise `ControllerFailed` when visits of one key have failed that often in a row, or writes were undone."""
        if self._undone is not None:
            raise ControllerFailed(
                f"controller {self._undone.controller!r} wrote {', '.join(self._undone.fields)} of {self._undone.key} "
                f"{self._undone.writes} times in a row, and somebody undid it each time"
            )
        for fact in self.retries.values():
            if fact.error is not None and fact.attempt >= attempts:
                raise ControllerFailed(
                    f"controller {fact.controller!r} failed {fact.attempt} times in a row for {fact.key}: "
                    f"{type(fact.error).__name__}: {fact.error}"
                ) from fact.error
