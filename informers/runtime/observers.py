"""Observers: those who are told what happens, and cannot disturb it."""

from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

from informers.runtime.facts import ObserverDropped

Fact: TypeAlias = Any
"""A frozen record: a `RuntimeFact`, or one of those of the queue, the cache and the client."""


class Observer(Protocol):
    """Turns facts into logs, metrics or traces, picking out the kinds that it knows."""

    def notice(self, fact: Fact) -> None:
        """Take note; called on the event loop, so it must be quick and must not wait."""
        ...


class Observers:
    """Tells several observers; one that raises is dropped, and the others are told so once."""

    def __init__(self, observers: Iterable[Observer] = ()) -> None:
        """Tell these, in this order."""
        self._observers = tuple(observers)
        self.dropped: list[ObserverDropped] = []
        """Who was dropped, and why."""

    def notice(self, fact: Fact) -> None:
        """Tell everybody."""
        for observer in self._observers:
            try:
                observer.notice(fact)
            except Exception as error:  # noqa: BLE001 - an observer is the user's code and must not harm the work
                self._drop(observer, error)

    def _drop(self, observer: Observer, error: Exception) -> None:
        if observer not in self._observers:
            return  # it raised again inside its own notice
        self._observers = tuple(one for one in self._observers if one is not observer)
        fact = ObserverDropped(type(observer).__qualname__, error)
        self.dropped.append(fact)
        self.notice(fact)
