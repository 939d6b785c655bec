"""Controllers are woken by what is no server, and wait until that is ready."""

from collections.abc import Iterable
from typing import Any

from informers.api.objects import Key, Object
from informers.cache.gate import Gate
from informers.cache.listers import Lister
from informers.clock import VirtualClock
from informers.runtime.channels import Channel, Listen, every_key
from informers.runtime.cluster import Cluster
from informers.runtime.controller import Controller, controller
from informers.runtime.manager import Manager
from tests.informers.runtime.memory import MemoryServer
from tests.informers.runtime.objects import TEAMS


def named(name: str, objects: Lister[Any]) -> Iterable[Key]:
    return [obj.key for obj in objects.list() if obj.name == name]


def visiting(seen: list[str], *watches: Listen[Any]) -> Controller[Any]:
    """Return a controller that notes whom it visits."""

    @controller(TEAMS, watches=watches)
    async def reconcile(obj: Object[Any], cluster: Cluster) -> None:
        seen.append(obj.name)

    return reconcile


async def test_an_event_wakes_the_keys_that_it_maps_to_and_one_before_the_start_is_not_missed(
    clock: VirtualClock, memory: MemoryServer
) -> None:
    one: Channel[str] = Channel()
    every: Channel[None] = Channel()
    seen: list[str] = []
    for name in ("blue", "red"):
        memory.put(name)
    made = visiting(seen, Listen(one, to=named), Listen(every, to=every_key))
    async with Manager(memory.server(), [made], clock=clock):
        one.send("blue")
        await clock.run_until_idle()
        assert sorted(seen) == ["blue", "red"], "all are visited at the start anyway"

        one.send("blue")
        await clock.run_until_idle()
        assert sorted(seen) == ["blue", "blue", "red"]

        every.send(None)
        every.send(None)
        await clock.run_until_idle()
        assert sorted(seen) == ["blue", "blue", "blue", "red", "red"], "events that come together are one visit"

    one.send("blue")
    assert len(seen) == 5


async def test_workers_begin_once_what_they_listen_for_is_ready(clock: VirtualClock, memory: MemoryServer) -> None:
    ready = Gate()
    seen: list[str] = []
    memory.put("blue")
    channel: Channel[None] = Channel()
    async with Manager(memory.server(), [visiting(seen, Listen(channel, to=every_key, ready=ready))], clock=clock):
        await clock.advance(3600)
        assert seen == []

        ready.open()
        await clock.run_until_idle()
        assert seen == ["blue"]
