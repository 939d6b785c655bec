"""An informer at a real server, and what a handler makes of what it is told."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Protocol

from informers import Client, Clock, Evidence, Key, Notice, Object, Resource, Server, SharedInformer
from informers.api.resources import Collection
from informers.cache.facts import Fact, Listed
from informers.cache.policy import Policy
from informers.tasks import background, together
from tests.faults import Network

WIDGETS = Resource("example.com", "v1", "widgets", kind="Widget")
CRDS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", kind="CustomResourceDefinition")
STREAMED = Policy()
PAGED = Policy(stream=False, page_size=500)


class Subject(Protocol):
    """A server that informers are judged against."""

    @property
    def network(self) -> Network:
        """What lies between informers and it."""

    @property
    def server(self) -> Server:
        """The server for informers, over the network."""

    @property
    def client(self) -> Client:
        """A client for the test, on a way of its own."""

    @property
    def clock(self) -> Clock:
        """The informers' time."""

    async def wait(self, job: Coroutine[Any, Any, None]) -> None:
        """Wait for the job to end, letting as much time pass as it takes."""

    async def forget_history(self) -> None:
        """Let every revision up to now be too old."""


class Watched:
    """An informer that runs, all it told, and a view of the collection that is made of its notices alone."""

    def __init__(self, subject: Subject, policy: Policy, resource: Resource[Any], *, careful: bool) -> None:
        self.facts: list[Fact] = []
        self.view: dict[Key, Object[Any]] = {}
        self.gone: list[tuple[str, Evidence]] = []
        """(name, evidence) of each object that went."""
        self._subject = subject
        self._news = asyncio.Event()
        self.informer: SharedInformer[Any] = SharedInformer(
            subject.server.client(),
            Collection(resource),
            observe=self._observe,
            clock=subject.clock,
            rng=Random(0),
            policy=policy,
            careful=careful,
        )
        self.informer.add_handler(self._take, name="view")

    @property
    def names(self) -> set[str]:
        """The names of all objects in the view."""
        return {key.name for key in self.view}

    @property
    def lists(self) -> list[Listed]:
        """Every whole state that was fetched."""
        return [fact for fact in self.facts if isinstance(fact, Listed)]

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait until it is so."""
        await self._subject.wait(self._until(reached))

    async def equals_the_server(self) -> None:
        """Wait until the view and the store are what the server lists."""
        wanted = {obj.key: obj.rv for obj in await self._subject.client.list(self.informer.origin.collection.resource)}
        await self.until(lambda: {key: obj.rv for key, obj in self.view.items()} == wanted)
        assert {obj.key: obj.rv for obj in self.informer.lister.list()} == wanted

    async def _until(self, reached: Callable[[], bool]) -> None:
        while not reached():
            self._news.clear()
            await self._news.wait()

    def _observe(self, fact: Fact) -> None:
        self.facts.append(fact)
        self._news.set()

    def _take(self, notice: Notice[Any]) -> None:
        if notice.new is not None:
            self.view[notice.key] = notice.new
        else:
            del self.view[notice.key]
            self.gone.append((notice.key.name, notice.evidence))
        self._news.set()


@asynccontextmanager
async def watched(
    subject: Subject, policy: Policy = STREAMED, resource: Resource[Any] = WIDGETS, *, careful: bool = False
) -> AsyncIterator[Watched]:
    """Run an informer beside the block, which begins once that has synced and follows a watch."""
    found = Watched(subject, policy, resource, careful=careful)
    async with background(found.informer.run()):
        await found.until(lambda: found.informer.live)
        yield found


# What tests make


def definition() -> dict[str, Any]:
    """Return the definition of Widgets."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": CRDS.api_version,
        "kind": CRDS.kind,
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


async def make(client: Client, *names: str) -> None:
    """Create Widgets, a hundred at a time."""
    for start in range(0, len(names), 100):
        bodies = ({"metadata": {"name": name, "namespace": "default"}} for name in names[start : start + 100])
        await together(*(client.create(WIDGETS, body) for body in bodies))
