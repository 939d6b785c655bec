"""Changes for a consumer that takes its time, merged by key so that they never pile up."""

from asyncio import Event
from collections import OrderedDict
from types import TracebackType
from typing import Generic, TypeVar

from informers.api.objects import Key
from informers.cache.handlers import Handlers, Registration
from informers.cache.notices import Notice
from informers.cache.slices import Slices

T = TypeVar("T")


class Backlog(Generic[T]):
    """What a slow consumer has still to be told; used in a `with` block and gone through by `async for`.

    Invariants: a key waits once, with its newest state and at most one deletion before that. So the consumer sees some
    of the states of an object, in order, and misses no deletion of one it knows; what waits is bounded by the objects
    there are and those the consumer knows. A consumer that waits for nothing else does not hold the loop. One consumer
    at a time.
    """

    def __init__(self, handlers: Handlers[T], name: str, slices: Slices) -> None:
        """Begin with everything there is; the slices say when others must have a turn."""
        self._waiting: OrderedDict[Key, tuple[Notice[T], ...]] = OrderedDict()  # a dict is slow to lose its first key
        self._wake = Event()
        self._initial: set[Key] = set()
        self._initial_done = Event()
        self._taken: Notice[T] | None = None
        self._slices = slices
        self._registration = handlers.add(self._offer, name)

    def __enter__(self) -> "Backlog[T]":
        """Use the backlog for the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take no more changes."""
        self.close()

    def __len__(self) -> int:
        """Count the keys that wait."""
        return len(self._waiting)

    def __aiter__(self) -> "Backlog[T]":
        """Go through the changes as they come."""
        return self

    async def __anext__(self) -> Notice[T]:
        """Wait for the next change; the one taken before counts as dealt with."""
        self._deal_with_taken()
        if self._slices.over():
            await self._slices.turn()
        while not self._waiting:
            if self._registration.removed:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        return self._take()

    @property
    def registration(self) -> Registration[T]:
        """Its place among the informer's handlers."""
        return self._registration

    @property
    def synced(self) -> bool:
        """Whether the consumer has dealt with everything that was there when it came."""
        return self._registration.synced and not self._initial

    async def wait_synced(self) -> None:
        """Wait until it has; raises `NotSynced` when the informer stops before."""
        await self._registration.wait_synced()
        while self._initial:
            self._initial_done.clear()
            await self._initial_done.wait()

    def close(self) -> None:
        """Take no more changes; what waits can still be taken, then the iteration ends."""
        self._registration.remove()
        self._wake.set()

    def _offer(self, notice: Notice[T]) -> None:
        """Let a change wait, merged with what waits for its key."""
        key = notice.key
        if notice.initial:
            self._initial.add(key)
        waiting = self._waiting.get(key)
        merged = merge(waiting, notice) if waiting else (notice,)
        if merged:
            self._waiting[key] = merged
            self._wake.set()
        else:
            del self._waiting[key]
            self._finish_initial(key)

    def _take(self) -> Notice[T]:
        key, (notice, *rest) = next(iter(self._waiting.items()))
        if rest:
            self._waiting[key] = tuple(rest)
        else:
            del self._waiting[key]
        self._taken = notice
        return notice

    def _deal_with_taken(self) -> None:
        if self._taken is not None and self._taken.initial:
            self._finish_initial(self._taken.key)
        self._taken = None

    def _finish_initial(self, key: Key) -> None:
        self._initial.discard(key)
        if not self._initial:
            self._initial_done.set()


def merge(waiting: tuple[Notice[T], ...], new: Notice[T]) -> tuple[Notice[T], ...]:
    """Return what has to wait instead of some notices of a key and one more; nothing, if it all came to nothing."""
    *before, last = waiting
    if last.new is None:
        return (new,) if new.new is None else (last, new)
    if new.new is not None:
        return (*before, Notice(last.old, new.new, new.key, last.initial))
    if last.old is None:  # the consumer never knew the object that went
        return tuple(before)
    return (*before, Notice(new.old, None, new.key, False, new.evidence))
