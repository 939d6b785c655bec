"""The pytest fixtures; `pytest_plugins = ["kcpctl.testing"]` in a conftest brings them."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from informers.client.client import Client
from kcpctl.testing.managers import Managers
from kcpctl.testing.server import InProcessServer, serving


@pytest_asyncio.fixture
async def apiserver() -> AsyncIterator[InProcessServer]:
    """An empty Kubernetes API server of its own for the test: in this process, in memory, ready in milliseconds.

    `await apiserver.apply(manifests)` makes objects, definitions included, from dicts, YAML text or a Path;
    `apiserver.server` is for the code under test, `apiserver.client` for the test;
    `apiserver.requests` and `apiserver.writes` are what the code under test asked for.
    """
    async with serving() as served:
        yield served


@pytest.fixture
def client(apiserver: InProcessServer) -> Client:
    """A client of that server, for the test itself: `await client.get(TEAMS, "blue", namespace="default")`."""
    return apiserver.client


@pytest.fixture
def manager(apiserver: InProcessServer) -> Managers:
    """Runs controllers against that server until they are quiet, without a sleep.

    `await manager.run_until_quiet(team)` runs them until nothing is left to be done, and ends them;
    `async with manager(team) as running:` runs them beside the block, where `await running.wait_quiet()` waits for the
    same. A controller that fails again and again is an error of the test.
    """
    return Managers(apiserver)
