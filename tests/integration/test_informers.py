"""Informers at our own API server, through all that happens to collections, kinds and connections."""

from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack
from typing import Any

import pytest

from informers import Client, Evidence, NotFound, Resource, Server, VirtualClock
from informers.cache.policy import Policy
from informers.tasks import background
from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.assembly import PlainServer
from kcpctl.apiserver.exchange import Answer, Incoming
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.http.inprocess import InProcess
from kcpctl.apiserver.storage.memory import MemoryStorage
from tests.faults import Network
from tests.integration import journeys, visiting
from tests.integration.watched import CRDS, PAGED, STREAMED, WIDGETS, definition, make, watched

NAMESPACES = Resource("", "v1", "namespaces", kind="Namespace")


class OurServer:
    """Our API server in this process, which may be started anew over what it holds."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.storage = MemoryStorage()
        self.network = Network(InProcess(self))
        self.server = Server("ours", self.network, clock=self.clock)
        self.client: Client = Server("test", InProcess(self)).client()
        self._running = AsyncExitStack()

    async def start(self) -> None:
        """Serve what the store holds."""
        await self._running.aclose()
        self._plain = PlainServer(self.storage)
        self._app = ApiServer(self._plain.mounts, Authentication())
        await self._plain.load()
        await self._running.enter_async_context(background(self._plain.run()))

    async def __call__(self, incoming: Incoming) -> Answer:
        """Answer as the server that runs now."""
        return await self._app(incoming)

    async def define(self) -> None:
        """Define Widgets, and wait until they are served."""
        await self.client.create(CRDS, definition())
        await self._plain.wait_at_rest()

    async def wait(self, job: Coroutine[Any, Any, None]) -> None:
        """Wait for the job, letting as much time pass as it takes."""
        await self.clock.run(job)

    async def forget_history(self) -> None:
        """Let every revision up to now be too old."""
        await self.storage.compact(self.storage.revision)

    async def rest(self) -> None:
        """Wait until definitions and namespaces do not move on by themselves any more."""
        await self._plain.wait_at_rest()

    async def aclose(self) -> None:
        """End it."""
        await self._running.aclose()


@pytest.fixture
async def ours() -> AsyncIterator[OurServer]:
    served = OurServer()
    await served.start()
    await served.define()
    yield served
    await served.aclose()


@pytest.mark.parametrize(
    ("policy", "first", "again"), [(PAGED, 1, 3), (STREAMED, 0, 0)], ids=["a list at revision 0, then pages", "streams"]
)
async def test_a_large_collection_comes_whole(ours: OurServer, policy: Policy, first: int, again: int) -> None:
    await journeys.large_collection(ours, policy, first=first, again=again)


async def test_pages_that_expire_are_given_up_for_a_whole_list(ours: OurServer) -> None:
    await journeys.expired_page(ours)


@pytest.mark.parametrize("policy", [PAGED, STREAMED], ids=["listed", "streamed"])
async def test_a_broken_watch_goes_on_where_it_was(ours: OurServer, policy: Policy) -> None:
    await journeys.broken_watch(ours, policy)


async def test_a_torn_watch_goes_on_behind_the_last_whole_line(ours: OurServer) -> None:
    await journeys.torn_watch(ours)


@pytest.mark.parametrize("policy", [PAGED, STREAMED], ids=["listed", "streamed"])
async def test_forgotten_history_is_listed_again(ours: OurServer, policy: Policy) -> None:
    await journeys.forgotten_history(ours, policy, Evidence.ABSENT_FROM_LIST)


async def test_a_controller_that_missed_history_finds_what_was_made_meanwhile(ours: OurServer) -> None:
    await visiting.forgotten_history(ours)


async def test_a_restart_of_the_server_is_no_loss_and_no_list(ours: OurServer) -> None:
    await make(ours.client, *journeys.FEW)
    async with watched(ours) as found:
        await make(ours.client, "d")
        await found.equals_the_server()

        await ours.start()
        await journeys.change(ours)
        await found.equals_the_server()

        assert len(found.lists) == 1
        assert found.gone == [("b", Evidence.DELETED_EVENT)]


async def test_a_kind_that_is_removed_takes_its_objects_along_and_is_followed_when_it_is_back(ours: OurServer) -> None:
    await make(ours.client, *journeys.FEW)
    async with watched(ours) as found:
        await ours.client.delete(CRDS, "widgets.example.com")
        await ours.rest()
        await found.until(lambda: not found.view and not found.informer.live)
        assert sorted(found.gone) == [(name, Evidence.DELETED_EVENT) for name in journeys.FEW]
        await found.until(lambda: isinstance(found.informer.last_error, NotFound))

        await ours.define()
        await make(ours.client, "again")
        await found.equals_the_server()

        assert found.names == {"again"}


async def test_a_deleted_namespace_takes_its_objects_along_and_no_others(ours: OurServer) -> None:
    await ours.client.create(NAMESPACES, {"metadata": {"name": "theirs"}})
    for name in journeys.FEW:
        await ours.client.create(WIDGETS, {"metadata": {"name": name, "namespace": "theirs"}})
    await make(ours.client, *journeys.FEW)
    async with watched(ours) as found:
        held = {"metadata": {"finalizers": ["example.com/held"]}}
        await ours.client.patch(WIDGETS, "b", held, namespace="theirs")
        await ours.client.delete(NAMESPACES, "theirs")
        await found.until(lambda: len(found.view) == 4)
        assert {(key.namespace, key.name) for key in found.view if key.namespace != "default"} == {("theirs", "b")}

        await ours.client.patch(WIDGETS, "b", {"metadata": {"finalizers": None}}, namespace="theirs")
        await ours.rest()
        await found.equals_the_server()

        assert {(key.namespace, key.name) for key in found.view} == {("default", name) for name in journeys.FEW}
        with pytest.raises(NotFound):
            await ours.client.get(NAMESPACES, "theirs")
