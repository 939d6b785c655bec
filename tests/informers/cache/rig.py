"""An informer at a scripted server, with everything that a test wants to look at."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, TypeVar

from informers.api.objects import Key, Object
from informers.api.resources import Collection
from informers.cache.facts import Fact
from informers.cache.informer import SharedInformer
from informers.cache.notices import Notice
from informers.cache.policy import Policy
from informers.clock import VirtualClock
from informers.tasks import background
from tests.informers.cache.making import WIDGETS
from tests.informers.cache.scripted import Server

F = TypeVar("F")

STREAMING = Policy()
"""The streamed state first, as by default."""

LISTING = Policy(stream=False)
"""List and watch, without the streamed state."""


class Rig:
    """A server, an informer and a handler that keeps its own view from what it is told."""

    def __init__(self, server: Server | None = None, policy: Policy = STREAMING, **settings: Any) -> None:
        self.clock = server.clock if server else VirtualClock()
        self.server = server or Server(self.clock)
        self.facts: list[Fact] = []
        self.notices: list[Notice[Any]] = []
        self.view: dict[Key, Object[Any]] = {}
        self.informer: SharedInformer[Any] = SharedInformer(
            self.server,
            Collection(WIDGETS),
            observe=self.facts.append,
            clock=self.clock,
            rng=Random(7),
            policy=policy,
            **settings,
        )
        self.registration = self.informer.add_handler(self._take, name="view")

    def _take(self, notice: Notice[Any]) -> None:
        self.notices.append(notice)
        if notice.new is None:
            self.view.pop(notice.key, None)
        else:
            assert notice.old is self.view.get(notice.key)
            self.view[notice.key] = notice.new

    @asynccontextmanager
    async def running(self, *, synced: bool = True) -> AsyncIterator["Rig"]:
        """Run the informer beside the block; begin once it has synced."""
        async with background(self.informer.run()):
            if synced:
                await self.clock.run(self.registration.wait_synced())
            yield self

    async def settle(self) -> None:
        """Let everything happen that needs no time."""
        await self.clock.run_until_idle()

    def of(self, kind: type[F]) -> list[F]:
        """Return the facts of one kind."""
        return [fact for fact in self.facts if isinstance(fact, kind)]

    @property
    def names(self) -> list[str]:
        """The names of what the store holds."""
        return sorted(obj.name for obj in self.informer.store)

    def forget_past(self) -> None:
        """Look only at what comes from now on."""
        self.facts.clear()
        self.notices.clear()
        self.server.asked.clear()

    def assert_converged(self) -> None:
        """Check that server, store and the handler's view are equal."""
        store = {obj.key: obj.raw for obj in self.informer.store}
        assert {key.name: raw for key, raw in store.items()} == self.server.objects
        assert {key: obj.raw for key, obj in self.view.items()} == store
