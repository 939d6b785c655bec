"""Running controllers against a test's own server."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from informers.client.server import Server
from informers.clock import Clock, SystemClock
from informers.runtime.controller import Controller
from informers.runtime.facts import Reconciled
from informers.runtime.manager import Manager
from informers.runtime.observers import Observer
from kcpctl.testing.running import ATTEMPTS, PATIENCE, Running
from kcpctl.testing.server import InProcessServer
from kcpctl.testing.visits import Visits

_SYSTEM = SystemClock()


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
