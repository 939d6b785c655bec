"""Informers at the real CRD server: what they go through at ours, gone through at kube-apiserver's own code."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from informers import Client, Evidence, Server, SystemClock, load_kubeconfig
from informers.api.errors import ApiError, Expired, TransportError
from informers.cache.policy import Policy
from tests.faults import Network
from tests.foreign.crdserver import crd_server
from tests.integration import journeys, visiting
from tests.integration.watched import CRDS, PAGED, STREAMED, WIDGETS, definition, make, watched

FORGETFUL = ("-watch-cache=false", "-compact=1s")
"""Options for a server whose history goes soon."""


class RealServer:
    """The CRD server, with a network that tests control before it."""

    def __init__(self, config: Path) -> None:
        direct, carried = load_kubeconfig(str(config)).server(), load_kubeconfig(str(config)).server()
        self.clock = SystemClock()
        self.network = Network(carried.transport)
        self.server = Server("real", self.network)
        self.client: Client = direct.client()
        self._direct = direct

    async def wait(self, job: Coroutine[Any, Any, None]) -> None:
        """Wait for the job."""
        async with asyncio.timeout(60):
            await job

    async def define(self) -> None:
        """Define Widgets, and wait until they are served."""
        await self.client.create(CRDS, definition())
        await self.wait(self.served())

    async def served(self) -> None:
        """Wait until Widgets can be listed; the server says so only when asked."""
        while True:
            try:
                await self.client.list(WIDGETS)
            except (ApiError, TransportError):
                await asyncio.sleep(0.05)
            else:
                return

    async def forget_history(self) -> None:
        """Let every revision up to now be too old; the server compacts by itself, if something is written."""
        [page, *_] = [page async for page in self.client.pages(WIDGETS, limit=2000)]
        old = f"{WIDGETS.path}/{WIDGETS.plural}?resourceVersionMatch=Exact&resourceVersion={page.revision}&limit=1"
        await self.wait(self._forgotten(old))

    async def _forgotten(self, old: str) -> None:
        for number in count():
            try:
                await self.client.raw("GET", old)
            except Expired:
                return
            labels = {"metadata": {"labels": {"number": str(number)}}}
            await self.client.patch(CRDS, "widgets.example.com", labels)
            await asyncio.sleep(0.1)

    async def aclose(self) -> None:
        """Close all connections."""
        await self.server.aclose()
        await self._direct.aclose()


@asynccontextmanager
async def real(data_dir: Path, *options: str) -> AsyncIterator[RealServer]:
    """Run the server beside the block, with Widgets defined."""
    with crd_server(data_dir, *options) as running:
        subject = RealServer(running.kubeconfig)
        try:
            await subject.define()
            yield subject
        finally:
            await subject.aclose()


@pytest.mark.parametrize(
    ("options", "policy", "first", "again"),
    [((), STREAMED, 0, 0), (("-watch-cache=false",), PAGED, 3, 3)],
    ids=["streams", "pages"],
)
async def test_a_large_collection_comes_whole(
    tmp_path: Path, options: tuple[str, ...], policy: Policy, first: int, again: int
) -> None:
    async with real(tmp_path / "data", *options) as subject:
        await journeys.large_collection(subject, policy, first=first, again=again)


async def test_pages_that_expire_are_given_up_for_a_whole_list(tmp_path: Path) -> None:
    async with real(tmp_path / "data", *FORGETFUL) as subject:
        await journeys.expired_page(subject)


async def test_a_broken_watch_goes_on_where_it_was(tmp_path: Path) -> None:
    async with real(tmp_path / "data") as subject:
        await journeys.broken_watch(subject)


async def test_a_torn_watch_goes_on_behind_the_last_whole_line(tmp_path: Path) -> None:
    async with real(tmp_path / "data") as subject:
        await journeys.torn_watch(subject)


@pytest.mark.parametrize("policy", [PAGED, STREAMED], ids=["listed", "streamed"])
async def test_forgotten_history_is_listed_again(tmp_path: Path, policy: Policy) -> None:
    async with real(tmp_path / "data", *FORGETFUL) as subject:
        await journeys.forgotten_history(subject, policy, Evidence.ABSENT_IN_NEW_HISTORY)


async def test_a_controller_that_missed_history_finds_what_was_made_meanwhile(tmp_path: Path) -> None:
    async with real(tmp_path / "data", *FORGETFUL) as subject:
        await visiting.forgotten_history(subject)


async def test_a_restart_of_the_server_is_no_loss(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        with crd_server(tmp_path / "data") as running:
            subject = RealServer(running.kubeconfig)
            stack.push_async_callback(subject.aclose)
            await subject.define()
            await make(subject.client, *journeys.FEW)
            found = await stack.enter_async_context(watched(subject))

        with crd_server(tmp_path / "data", port=running.port):
            await subject.wait(subject.served())
            await journeys.change(subject)
            await found.equals_the_server()

            assert found.names == {"a", "c", "new"}
            await stack.aclose()
