"""Channels: how something in the process that is no server wakes controllers."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from informers.api.objects import Key
from informers.cache.listers import Lister

E = TypeVar("E")


class Channel(Generic[E]):
    """Hands each event to everybody who listens, in the step in which it is sent.

    It keeps nothing: who listens later has missed it, and has to read what it is about.
    """

    def __init__(self) -> None:
        """Begin with nobody listening."""
        self._listeners: list[Callable[[E], None]] = []

    def send(self, event: E) -> None:
        """Call everybody who listens; they must be quick, such as adding keys to a queue."""
        for listener in tuple(self._listeners):
            listener(event)

    @contextmanager
    def listening(self, listener: Callable[[E], None]) -> Iterator[None]:
        """Have the listener called for every event while the block runs."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)


class Ready(Protocol):
    """Says when what events are about can be read."""

    async def wait(self) -> None:
        """Wait until it can."""
        ...


@dataclass(frozen=True)
class Listen(Generic[E]):
    """A channel whose events wake the controller; one of its `watches`.

    Until the controller's own objects are listed events map to nothing: all of them are visited then anyway.
    """

    channel: Channel[E]
    to: Callable[[E, Lister[Any]], Iterable[Key]]
    """From an event, and the controller's own objects over all clusters, to the keys that it concerns."""
    ready: Ready | None = None
    """What the workers wait for before they begin; None is nothing."""

    @contextmanager
    def adding(self, objects: Lister[Any], add: Callable[[Key], None]) -> Iterator[None]:
        """Have each event's keys added while the block runs."""

        def hear(event: E) -> None:
            if objects.synced:
                for key in self.to(event, objects):
                    add(key)

        with self.channel.listening(hear):
            yield


def every_key(event: Any, objects: Lister[Any]) -> Iterable[Key]:
    """Map any event to all of the controller's objects."""
    return [obj.key.shardless() for obj in objects.list()]
