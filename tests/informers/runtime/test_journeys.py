"""Controllers against the real API server in this process: what only a server with all the rules can show."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from informers.client.client import Client
from informers.client.server import Server
from kcpctl.testing import server as in_process
from tests.integration.visiting import JOURNEYS, Journey, name_of


class Running:
    """The server of a test, as journeys see one."""

    def __init__(self, running: in_process.InProcessServer) -> None:
        self.client: Client = running.client
        self._running = running

    def server(self) -> Server:
        """Return a Server of its own, which whoever uses it may close."""
        return self._running.connect()


@asynccontextmanager
async def serving(*definitions: dict[str, Any]) -> AsyncIterator[Running]:
    """Run a server that serves what is defined."""
    async with in_process.serving() as running:
        await running.apply(list(definitions))
        yield Running(running)


@pytest.mark.parametrize("journey", JOURNEYS, ids=name_of)
async def test_at_our_own_server(journey: Journey) -> None:
    await journey(serving)
