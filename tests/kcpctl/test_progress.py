"""First syncs that take long are told of while they go on."""

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import structlog

from informers.clock import VirtualClock
from informers.runtime.manager import Manager
from informers.tasks import background
from kcpctl.progress import tell_of_first_contact, tell_of_first_syncs
from tests.informers.runtime.memory import MemoryServer
from tests.informers.runtime.objects import TEAMS

Events = list[MutableMapping[str, Any]]


@asynccontextmanager
async def told(memory: MemoryServer, clock: VirtualClock) -> AsyncIterator[Events]:
    """Run a Manager that reads teams, and tell of its syncs; the block sees what was logged."""
    manager = Manager(memory.server(), clock=clock)
    manager.informer(TEAMS)
    with structlog.testing.capture_logs() as events:
        log = structlog.get_logger()
        async with background(manager.run(asyncio.Event()), tell_of_first_syncs(manager, log, clock)):
            await clock.run_until_idle()
            yield events


async def test_syncs_of_less_than_a_second_are_not_worth_a_word() -> None:
    clock = VirtualClock()
    async with told(MemoryServer(), clock) as events:
        await clock.advance(60)

        assert events == []


async def test_longer_ones_are_told_of_less_and_less_often_until_they_end() -> None:
    memory, clock = MemoryServer(), VirtualClock()
    memory.down = True
    async with told(memory, clock) as events:
        await clock.advance(0.9)
        assert events == []

        await clock.advance(9)
        assert [event["waited"] for event in events] == [1.0, 2.5, 4.8, 8.1]
        assert "teams" in events[-1]["waiting_for"][0]
        assert "0 objects so far, ConnectionRefused" in events[-1]["waiting_for"][0]

        memory.down = False
        await clock.advance(60)
        known = len(events)
        await clock.advance(600)
        assert len(events) == known


async def test_a_server_that_does_not_answer_is_told_of_less_and_less_often() -> None:
    clock = VirtualClock()
    with structlog.testing.capture_logs() as events:
        async with background(tell_of_first_contact("local", structlog.get_logger(), clock)):
            await clock.run_until_idle()
            await clock.advance(0.9)
            assert events == []

            await clock.advance(9)

    assert [(event["event"], event["server"], event["waited"]) for event in events] == [
        ("server does not answer yet", "local", waited) for waited in (1.0, 2.5, 4.8, 8.1)
    ]
