"""Careful informers at the real CRD server, which says nothing of its store: emptied, restored, and restarted."""

import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import count
from pathlib import Path

import pytest

from informers import Evidence, TransportError
from informers.cache.policy import Policy
from tests.foreign.crdserver import crd_server
from tests.foreign.test_informers import FORGETFUL, RealServer
from tests.integration.watched import CRDS, PAGED, STREAMED, WIDGETS, Watched, make, watched


class Etcd:
    """The data of one server at one address, which runs or does not."""

    def __init__(self, data: Path, options: tuple[str, ...]) -> None:
        self.data = data
        self._options = options
        self._running = AsyncExitStack()
        self._numbers = count()
        self.subject: RealServer
        self._port = 0

    async def start(self) -> None:
        """Serve what there is."""
        running = self._running.enter_context(crd_server(self.data, *self._options, port=self._port))
        if not self._port:
            self._port = running.port
            self.subject = RealServer(running.kubeconfig)

    async def stop(self) -> None:
        """Let nobody reach the server, and end it."""
        await self.subject.network.go_away()
        await self._running.aclose()

    async def aclose(self) -> None:
        """End everything."""
        await self._running.aclose()
        await self.subject.aclose()

    async def revision(self) -> int:
        """Return the revision of the collection."""
        async for page in self.subject.client.pages(WIDGETS):
            return int(page.revision)
        raise AssertionError("expected one page of a list at least")

    async def answers(self) -> None:
        """Wait until the server can be asked again; its old connections are found to be broken by that."""
        while True:
            with suppress(TransportError):
                await self.subject.client.list(CRDS)
                return

    async def write_until(self, revision: int) -> None:
        """Write something else until the server has come so far."""
        reached = await self.revision()
        while reached < revision:
            labels = {"metadata": {"labels": {"number": str(next(self._numbers))}}}
            reached = int((await self.subject.client.patch(CRDS, "widgets.example.com", labels)).rv)


@asynccontextmanager
async def etcd(data: Path, *options: str) -> AsyncIterator[Etcd]:
    """Run a server with Widgets a, b and c beside the block."""
    found = Etcd(data, options)
    await found.start()
    try:
        await found.subject.define()
        await make(found.subject.client, "a", "b", "c")
        await found.write_until(await found.revision() + 40)  # more than an empty one needs until Widgets are served
        yield found
    finally:
        await found.aclose()


def number(found: Watched) -> int:
    """Return which history is followed."""
    assert found.informer.history is not None
    return found.informer.history.number


@pytest.mark.parametrize("options", [(), ("-watch-cache=false",)], ids=["watch cache", "etcd alone"])
@pytest.mark.parametrize("difference", [-20, 0, 20], ids=["lower", "equal", "higher"])
async def test_an_emptied_etcd_has_lost_what_it_held(tmp_path: Path, difference: int, options: tuple[str, ...]) -> None:
    async with etcd(tmp_path / "data", *options) as server, watched(server.subject, careful=True) as found:
        reached = int(found.informer.store.revision)
        await server.stop()
        shutil.rmtree(server.data / "etcd")
        await server.start()
        await server.subject.wait(server.answers())
        await server.subject.define()
        await server.write_until(reached + difference)
        assert await server.revision() == reached + difference
        server.subject.network.come_back()
        await found.until(lambda: len(found.gone) == 3 and found.informer.live)

        assert sorted(found.gone) == [(name, Evidence.ABSENT_IN_NEW_HISTORY) for name in "abc"]
        assert number(found) == 2
        await found.equals_the_server()


@pytest.mark.parametrize("policy", [PAGED, STREAMED], ids=["listed", "streamed"])
async def test_a_restored_etcd_has_lost_what_was_made_behind_the_copy(tmp_path: Path, policy: Policy) -> None:
    async with etcd(tmp_path / "data") as server:
        await server.stop()
        shutil.copytree(server.data / "etcd", tmp_path / "copy")
        await server.start()
        server.subject.network.come_back()
        await server.subject.wait(server.subject.served())
        async with watched(server.subject, policy, careful=True) as found:
            await make(server.subject.client, "lost")
            await found.equals_the_server()
            reached = int(found.informer.store.revision)
            await server.stop()
            shutil.rmtree(server.data / "etcd")
            shutil.move(tmp_path / "copy", server.data / "etcd")
            await server.start()
            await server.subject.wait(server.subject.served())
            await server.write_until(reached + 20)
            server.subject.network.come_back()
            await found.until(lambda: bool(found.gone) and found.informer.live)

            assert found.gone == [("lost", Evidence.ABSENT_IN_NEW_HISTORY)]
            assert number(found) == 2
            await found.equals_the_server()


async def test_a_restart_over_the_same_data_loses_nothing(tmp_path: Path) -> None:
    async with etcd(tmp_path / "data") as server, watched(server.subject, careful=True) as found:
        await server.subject.network.go_away()
        await server.subject.client.delete(WIDGETS, "b", namespace="default")
        await server.stop()
        await server.start()
        await server.subject.wait(server.subject.served())
        server.subject.network.come_back()
        await found.until(lambda: bool(found.gone) and found.informer.live)

        [(name, evidence)] = found.gone
        assert name == "b"
        assert evidence in (Evidence.DELETED_EVENT, Evidence.ABSENT_FROM_LIST), "whether it knows old events is its own"
        assert number(found) == 1


async def test_after_a_compaction_nobody_can_tell(tmp_path: Path) -> None:
    async with etcd(tmp_path / "data", *FORGETFUL) as server, watched(server.subject, careful=True) as found:
        await server.subject.network.go_away()
        await server.subject.client.delete(WIDGETS, "b", namespace="default")
        await server.subject.forget_history()
        server.subject.network.come_back()
        await found.until(lambda: bool(found.gone) and found.informer.live)

        assert found.gone == [("b", Evidence.ABSENT_IN_NEW_HISTORY)]
        assert number(found) == 2
