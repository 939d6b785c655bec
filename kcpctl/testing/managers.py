"""Running controllers until they are quiet."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from informers.api.errors import InformersError
from informers.client.server import Server
from informers.clock import Clock, SystemClock
from informers.runtime.controller import Controller
from informers.runtime.facts import Reconciled
from informers.runtime.manager import Manager
from informers.runtime.observers import Observer
from kcpctl.testing.home import Home
from kcpctl.testing.quiet import Busy, busy
from kcpctl.testing.server import InProcessServer
from kcpctl.testing.visits import Visits

PATIENCE = 10.0
ATTEMPTS = 5

_SYSTEM = SystemClock()


class NeverQuiet(InformersError):
    """Controllers under test did not become quiet in time; the message says what was in the way."""


class Running:
    """Controllers that run, and what they have done; `Managers` makes it."""

    def __init__(
        self, manager: Manager, controllers: Iterable[Controller[Any]], visits: Visits, homes: Mapping[str, Home]
    ) -> None:
        """Watch over this Manager, whose facts the visits note."""
        self.manager = manager
        self._controllers = [controller.name for controller in controllers]
        self._visits = visits
        self._homes = homes

    @property
    def visits(self) -> Sequence[Reconciled]:
        """All visits so far: controller, key, outcome, error and writes of each."""
        return tuple(self._visits.all)

    async def wait_quiet(
        self, *, timeout: float | None = PATIENCE, attempts: int = ATTEMPTS, away: Collection[str] = ()
    ) -> None:
        """Wait until nothing is left to be done; `kcpctl.testing.quiet` says exactly when that is.

        Raises `ControllerFailed` when visits of one key have failed `attempts` times in a row, and `NeverQuiet` after
        `timeout` seconds (None: no limit). Nothing is waited for of the servers whose names are `away`.
        """
        try:
            async with asyncio.timeout(timeout):
                while found := self._busy(away):
                    self._visits.check(attempts)
                    await self._wait_for_news(found)
        except TimeoutError:
            reasons = "; ".join(reason.what for reason in self._busy(away))
            raise NeverQuiet(f"expected quiet within {timeout:g} s, found that {reasons}") from None

    def _busy(self, away: Collection[str]) -> list[Busy]:
        return list(busy(self.manager, self._controllers, self._visits, self._homes, away))

    async def _wait_for_news(self, found: Iterable[Busy]) -> None:
        """Wait until it is worth looking again; what takes only turns of the loop gets them."""
        if all(reason.in_turns for reason in found):
            await asyncio.sleep(0)
            return
        self._visits.news.clear()
        await self._visits.news.wait()


class Managers:
    """Runs controllers against servers in this process, as often as a test wants to."""

    def __init__(self, home: InProcessServer) -> None:
        """Run them against this server by default."""
        self._home = home

    @asynccontextmanager
    async def __call__(
        self,
        *controllers: Controller[Any],
        servers: Mapping[str, Server] | None = None,
        observers: Iterable[Observer] = (),
        clock: Clock = _SYSTEM,
        grace: float = 1.0,
    ) -> AsyncIterator[Running]:
        """Run the controllers beside the block; leaving it ends them, within `grace` seconds.

        `servers` are those that they name, the first being their own; by default there is only the test's server.
        """
        servers = servers or {self._home.server.name: self._home.server}
        visits = Visits()
        homes = {name: self._home.home for name, server in servers.items() if self._home.is_home_of(server)}
        manager = Manager(servers, controllers, observers=[visits, *observers], clock=clock, grace=grace)
        async with manager:
            yield Running(manager, controllers, visits, homes)

    async def run_until_quiet(
        self, *controllers: Controller[Any], timeout: float | None = PATIENCE, attempts: int = ATTEMPTS
    ) -> Sequence[Reconciled]:
        """Run the controllers until nothing is left for them to do, end them, and return their visits."""
        async with self(*controllers) as running:
            await running.wait_quiet(timeout=timeout, attempts=attempts)
        return running.visits
