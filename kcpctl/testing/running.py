"""Controllers that run in a test, and waiting for them to be quiet: one Manager, or several over the same servers."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from informers.api.errors import InformersError
from informers.runtime.controller import Controller
from informers.runtime.facts import Reconciled
from informers.runtime.manager import Manager
from informers.tasks import first
from kcpctl.testing.home import Home
from kcpctl.testing.quiet import Busy, busy
from kcpctl.testing.visits import Visits

PATIENCE = 10.0
ATTEMPTS = 5


class NeverQuiet(InformersError):
    """Controllers under test did not become quiet in time; the message says what was in the way."""


class Running:
    """A Manager that runs, and what its controllers have done."""

    def __init__(
        self,
        manager: Manager,
        controllers: Iterable[Controller[Any]],
        visits: Visits,
        homes: Mapping[str, Home] = {},
        beside: Callable[[], Iterable[tuple[str, bool]]] = tuple,
    ) -> None:
        """Watch over this Manager: `visits` is one of its observers, `homes` its servers in this process by name.

        `beside` says what else is in the way of quiet, and whether that takes nothing but turns of the loop; whoever
        it speaks for tells the observers when something has changed.
        """
        self.manager = manager
        self._controllers = [controller.name for controller in controllers]
        self._visits = visits
        self._homes = homes
        self._beside = beside

    @property
    def visits(self) -> Sequence[Reconciled]:
        """All visits so far: controller, key, outcome, error and writes of each."""
        return tuple(self._visits.all)

    async def wait_quiet(
        self, *, timeout: float | None = PATIENCE, attempts: int = ATTEMPTS, away: Collection[str] = ()
    ) -> None:
        """Wait until nothing is left to be done; see `wait_quiet` in this module."""
        await wait_quiet(self, timeout=timeout, attempts=attempts, away=away)

    def busy(self, away: Collection[str] = ()) -> list[Busy]:
        """Return what is in the way of quiet at this moment."""
        found = list(busy(self.manager, self._controllers, self._visits, self._homes, away))
        beside = [Busy(what, in_turns) for what, in_turns in self._beside()]
        return found + [reason for reason in beside if reason.in_turns or not away]

    def check(self, attempts: int) -> None:
        """Raise `ControllerFailed` when visits of one key have failed that often in a row."""
        self._visits.check(attempts)

    def expect_news(self) -> None:
        """Have `wait_for_news` wait for what happens from now on."""
        self._visits.news.clear()

    async def wait_for_news(self) -> None:
        """Wait until something has happened."""
        await self._visits.news.wait()


async def wait_quiet(
    *running: Running, timeout: float | None = PATIENCE, attempts: int = ATTEMPTS, away: Collection[str] = ()
) -> None:
    """Wait until nothing is left to be done by any of them; `kcpctl.testing.quiet` says exactly when that is.

    Raises `ControllerFailed` when visits of one key have failed `attempts` times in a row, and `NeverQuiet` after
    `timeout` seconds (None: no limit). Nothing is waited for of the servers whose names are `away`.
    """
    try:
        async with asyncio.timeout(timeout):
            while found := _busy(running, away):
                for each in running:
                    each.check(attempts)
                await _wait_for_news(running, found)
    except TimeoutError:
        reasons = "; ".join(reason.what for reason in _busy(running, away))
        raise NeverQuiet(f"expected quiet within {timeout:g} s, found that {reasons}") from None


def _busy(running: Iterable[Running], away: Collection[str]) -> list[Busy]:
    return [reason for each in running for reason in each.busy(away)]


async def _wait_for_news(running: Iterable[Running], found: Iterable[Busy]) -> None:
    """Wait until it is worth looking again; what takes only turns of the loop gets them."""
    if all(reason.in_turns for reason in found):
        await asyncio.sleep(0)
        return
    for each in running:
        each.expect_news()
    await first(*(each.wait_for_news() for each in running))
