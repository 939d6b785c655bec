"""What ties a process together ends with it."""

import asyncio

from informers.api.objects import Object
from informers.clock import VirtualClock
from informers.runtime.cluster import Cluster
from informers.runtime.controller import controller
from informers.runtime.manager import Manager
from informers.tasks import background
from kcpctl.run import settle
from tests.informers.runtime.memory import MemoryServer
from tests.informers.runtime.objects import TEAMS


async def test_a_stop_before_everything_has_started_waits_for_nothing() -> None:
    memory, clock, stop = MemoryServer(), VirtualClock(), asyncio.Event()
    memory.down = True
    manager = Manager(memory.server(), [never], clock=clock)

    async def work() -> None:
        async with background(settle(manager, clock)):
            await manager.run(stop)

    async with background(work()) as tasks:
        await clock.run_until_idle()
        stop.set()
        await clock.run_until_idle()

        assert tasks[0].done()  # and no time has passed


@controller(TEAMS)
async def never(team: Object, cluster: Cluster) -> None:
    """Wait for Teams that nobody serves."""
