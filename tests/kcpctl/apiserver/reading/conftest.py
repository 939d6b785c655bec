"""A world with a virtual clock, and short ways to fill it and to ask it."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from informers.clock import VirtualClock
from kcpctl.apiserver import stored
from kcpctl.apiserver.call import Call, Query, Scope
from kcpctl.apiserver.keys import object_key
from kcpctl.apiserver.reading import Watch, get, list_, watch
from kcpctl.apiserver.served import JSON, Served
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.world import Event, World
from tests.kcpctl.apiserver.kinds import CONFIGMAPS, FixedCatalog

FIRST = 1000
"""The revision that stores begin at here."""

ROOT = Scope("root")


class Asking:
    """A world, and how tests write to it and read from it."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.store = MemoryStorage(revision=FIRST, clock=clock)
        self.world = World(self.store, FixedCatalog(), clock=clock)

    async def put(
        self,
        name: str,
        *,
        served: Served = CONFIGMAPS,
        namespace: str = "ns",
        scope: Scope = ROOT,
        labels: JSON | None = None,
        **fields: Any,
    ) -> int:
        """Create the object, or replace it."""
        key = object_key(served, scope, namespace if served.namespaced else "", name)
        metadata = {"name": name, "labels": labels} if labels is not None else {"name": name}
        obj = {"apiVersion": served.api_version, "kind": served.kind, "metadata": metadata, **fields}
        value = stored.encode(obj, scope)
        current = await self.store.get(key)
        if current is None:
            return await self.store.create(key, value)
        return await self.store.update(key, value, expect=current.revision)

    async def remove(
        self, name: str, *, served: Served = CONFIGMAPS, namespace: str = "ns", scope: Scope = ROOT
    ) -> int:
        key = object_key(served, scope, namespace if served.namespaced else "", name)
        current = await self.store.get(key)
        assert current is not None
        return await self.store.delete(key, expect=current.revision)

    def call(
        self,
        verb: str,
        *,
        served: Served = CONFIGMAPS,
        namespace: str = "ns",
        scope: Scope = ROOT,
        name: str = "",
        **query: Any,
    ) -> Call:
        text = urlencode({field.rstrip("_"): str(value) for field, value in query.items()})
        namespace = namespace if served.namespaced else ""
        return Call(verb, served, scope, Query(text), namespace=namespace, name=name)

    async def get(self, name: str, **asked: Any) -> JSON:
        return stored.decode(await self.clock.run(get(self.world, self.call("get", name=name, **asked))))

    async def list(self, **asked: Any) -> "Listed":
        return Listed(await self.clock.run(list_(self.world, self.call("list", **asked))))

    def watch(self, **asked: Any) -> "Watching":
        return Watching(self.clock, watch(self.world, self.call("watch", **asked)))


class Listed:
    """A list's answer, decoded."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self.objects: list[JSON] = [msgspec.json.decode(item) for item in result.items]
        self.names = [obj["metadata"]["name"] for obj in self.objects]
        self.revision: int = result.revision
        self.continue_: str = result.continue_
        self.remaining: int | None = result.remaining


class Watching:
    """A watch, and everything that it said so far."""

    def __init__(self, clock: VirtualClock, running: Watch) -> None:
        self.clock = clock
        self.running = running

    async def until_end(self) -> list[Event]:
        """Return everything up to the end, letting as much time pass as it takes."""

        async def read() -> list[Event]:
            return [event async for several in self.running for event in several]

        return await self.clock.run(read())

    async def next(self) -> list[Event]:
        """Return the next events, letting as much time pass as it takes."""

        async def read() -> list[Event]:
            return await anext(self.running)

        return await self.clock.run(read())


def said(events: list[Event]) -> list[tuple[str, str, int]]:
    """Return (type, name, resourceVersion) of events."""
    found = []
    for event in events:
        metadata = stored.decode(event.body)["metadata"]
        found.append((event.type, metadata.get("name", ""), int(metadata.get("resourceVersion", "0"))))
    return found


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def asking(clock: VirtualClock) -> AsyncIterator[Asking]:
    asking = Asking(clock)
    yield asking
    assert len(asking.store._state.feeds) == 0, "a read left a feed behind"
    assert not asking.world._watches, "a watch left its registration behind"
    assert not [t for _, _, t in clock._timers if t.callback is not None], "a read left a timer behind"
    await asking.store.aclose()
