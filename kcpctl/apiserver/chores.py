"""What the server does by itself: things that are to be moved on, a few at once, and again when that fails."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from informers.clock import Clock, Timer
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.storage.base import Mismatch, Unavailable

W = TypeVar("W", bound=Hashable)

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 5.0
"""Seconds; pauses double in between: that a store works again is soon noticed, and one that does not is left alone."""


class Chores(Generic[W]):
    """Things to be moved on by one function, each by itself: what one of them waits for holds up no other.

    Invariant: at most `at_once` are being moved on, none of them twice; `at_rest` means that none is, that none is to
    be, and that none waits to be tried again.
    """

    def __init__(self, clock: Clock, move_on: Callable[[W], Awaitable[None]], *, at_once: int = 1) -> None:
        """Move things on with this function.

        It may raise `Mismatch` (somebody else was faster: again at once), `Unavailable` and `Failure` (later).
        """
        self._clock = clock
        self._move_on = move_on
        self._at_once = at_once
        self._due: dict[W, None] = {}
        self._active: set[W] = set()
        self._later: dict[W, Timer] = {}
        self._troubles: dict[W, str] = {}
        self._pauses: dict[W, float] = {}
        self._wake = asyncio.Event()
        self._rest = asyncio.Event()
        self._rest.set()

    def soon(self, what: W) -> None:
        """Have the thing moved on, once more if it is being moved on just now."""
        if timer := self._later.pop(what, None):
            timer.cancel()
        self._due[what] = None
        self._rest.clear()
        self._wake.set()

    async def run(self) -> None:
        """Move things on, until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    await self._wake.wait()
                    self._wake.clear()
                    for what in [what for what in self._due if what not in self._active]:
                        if len(self._active) < self._at_once:
                            del self._due[what]
                            self._active.add(what)
                            group.create_task(self._try(what))
                    if not (self._due or self._active or self._later):
                        self._rest.set()
        finally:
            for timer in self._later.values():
                timer.cancel()

    @property
    def at_rest(self) -> bool:
        """Whether there is nothing to do."""
        return self._rest.is_set()

    async def wait_at_rest(self) -> None:
        """Wait until there is nothing to do."""
        await self._rest.wait()

    @property
    def trouble(self) -> str:
        """Why something is not moved on at the moment; `""` while all is well."""
        return next(iter(self._troubles.values()), "")

    async def _try(self, what: W) -> None:
        try:
            await self._move_on(what)
        except Mismatch:
            self.soon(what)  # what the other one wrote is looked at next
        except (Unavailable, Failure) as error:
            self._troubles[what] = str(error)
            self._try_later(what)
        else:
            self._troubles.pop(what, None)
            self._pauses.pop(what, None)
        finally:
            self._active.discard(what)
            self._wake.set()

    def _try_later(self, what: W) -> None:
        pause = self._pauses.get(what, _FIRST_PAUSE)
        self._pauses[what] = min(2 * pause, _LONGEST_PAUSE)
        if what not in self._due:
            self._later[what] = self._clock.call_at(self._clock.monotonic() + pause, lambda: self.soon(what))
