"""The handlers of an informer: each told of every change, each with its own start."""

from asyncio import Event
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from informers.api.objects import Key
from informers.cache.facts import Observe, Origin, Quarantined, Released
from informers.cache.gate import Gate
from informers.cache.notices import Handler, Notice
from informers.cache.quarantine import Quarantine
from informers.cache.store import Store

T = TypeVar("T")


class Registration(Generic[T]):
    """One handler's place at an informer.

    Invariants: the handler is called for one change at a time. Its first notice of an object that was there when it
    came is an initial one. An object that it raises for is set aside for this handler alone, until a later change of
    the object succeeds or the object is gone; a deletion that it raises for is only counted.
    """

    __slots__ = ("_gate", "_handler", "_left", "_pending", "_quarantine", "_remove", "name", "quarantined", "removed")

    def __init__(
        self,
        handler: Handler[T],
        name: str,
        pending: list[Key],
        quarantine: Quarantine,
        remove: "Callable[[Registration[T]], None]",
    ) -> None:
        """Start with the keys of what is there, which the handler has still to be told."""
        self._handler = handler
        self._left = pending[::-1]
        self._pending = set(pending)
        self._quarantine = quarantine
        self._remove = remove
        self._gate = Gate()
        self.name = name
        self.quarantined = quarantine.errors
        """The objects that the handler raised for, with what it raised; read-only."""
        self.removed = False
        """Whether it was taken away; the handler is not called any more."""

    @property
    def synced(self) -> bool:
        """Whether the handler has been told everything that was there when it came."""
        return self._gate.is_open

    async def wait_synced(self) -> None:
        """Wait until it has; raises `NotSynced` when the informer stops before."""
        await self._gate.wait()

    @property
    def pending(self) -> int:
        """How many objects that were there when it came it has still to be told."""
        return len(self._pending)

    @property
    def failures(self) -> int:
        """How often the handler raised."""
        return self._quarantine.total

    def remove(self) -> None:
        """Take the handler away; safe to call twice, also from the handler."""
        self.removed = True
        self._remove(self)

    def deliver(self, notice: Notice[T]) -> None:
        """Call the handler with a change."""
        if self._pending and notice.key in self._pending:
            self._pending.discard(notice.key)
            if notice.new is not None:
                notice = Notice(None, notice.new, notice.key, initial=True)
        if self.removed:
            return
        try:
            self._handler(notice)
        except Exception as error:  # noqa: BLE001 — the handler is the user's; all others go on
            self._hold(notice, error)
        else:
            if self.quarantined:
                self._quarantine.release(notice.key)

    def catch_up(self, store: Store[T]) -> None:
        """Tell the handler of one object that was there when it came."""
        key = self._left.pop()
        obj = store.get(key)
        if obj is not None and key in self._pending:
            self.deliver(Notice(None, obj, key))
        if not self._left:
            self._pending.clear()

    def settle(self) -> None:
        """Count as synced if there is nothing left to tell."""
        if not self._pending:
            self._gate.open()

    def shut(self) -> None:
        """Let nobody wait any longer."""
        self._gate.shut()

    def _hold(self, notice: Notice[T], error: Exception) -> None:
        self._quarantine.hold(notice.key, f"handler {self.name}: {type(error).__name__}: {error}")
        if notice.new is None:
            self._quarantine.release(notice.key)


class Handlers(Generic[T]):
    """The audience of one reflector: hands every notice to every handler, in the order they came.

    Handlers that come later are told of what is there in slices (`catch_up`), never while a replaced content is handed
    out: who came after the swap starts from the new content, and who came before gets the changes first.
    """

    def __init__(self, store: Store[T], origin: Origin, observe: Observe) -> None:
        """Start without any; what handlers raise is told to `observe`."""
        self._store = store
        self._origin = origin
        self._observe = observe
        self._all: tuple[Registration[T], ...] = ()
        self.deliver: Callable[[Notice[T]], None] = self._deliver_to_all
        """Tell all handlers of a change that an event brought; to be looked up for each."""
        self._before_swap: tuple[Registration[T], ...] = ()
        self._handing_out = False
        self._ready = False
        self.late = Event()
        """Set when there is something to catch up with."""

    def __iter__(self) -> Iterator[Registration[T]]:
        """Go through the registrations there are."""
        return iter(self._all)

    def add(self, handler: Handler[T], name: str = "") -> Registration[T]:
        """Add a handler, which is told of everything there is first."""
        name = name or getattr(handler, "__qualname__", type(handler).__qualname__)
        registration = Registration(handler, name, self._store.keys, self._new_quarantine(name), self._remove)
        self._become((*self._all, registration))
        self.late.set()
        return registration

    def _become(self, registrations: tuple[Registration[T], ...]) -> None:
        self._all = registrations
        self.deliver = registrations[0].deliver if len(registrations) == 1 else self._deliver_to_all

    def _deliver_to_all(self, notice: Notice[T]) -> None:
        for registration in self._all:
            registration.deliver(notice)

    def swapped(self) -> None:
        """Note who was here before the content was replaced."""
        self._before_swap = self._all
        self._handing_out = True

    def hand_out(self, notice: Notice[T]) -> None:
        """Tell those who were here before of a change that the replacement made."""
        for registration in self._before_swap:
            registration.deliver(notice)

    def handed_out(self) -> None:
        """Go on with those who came later."""
        self._handing_out = False
        self._ready = True
        self._before_swap = ()
        self.late.set()
        for registration in self._all:
            registration.settle()

    def catch_up(self) -> Iterator[None]:
        """Tell late handlers what is there, one object at each step; ends early when a replacement is handed out."""
        for registration in self._all:
            while registration.pending and not self._handing_out:
                registration.catch_up(self._store)
                yield
            if self._ready and not self._handing_out:
                registration.settle()

    def shut(self) -> None:
        """Let nobody wait for handlers any longer."""
        for registration in self._all:
            registration.shut()

    def _remove(self, gone: Registration[T]) -> None:
        self._become(tuple(registration for registration in self._all if registration is not gone))
        gone.shut()

    def _new_quarantine(self, name: str) -> Quarantine:
        return Quarantine(
            lambda key, error: self._observe(Quarantined(self._origin, key, error, name)),
            lambda key: self._observe(Released(self._origin, key, name)),
        )
