"""What controllers do is counted: their visits and how long these took, their retries, their writes."""

from informers.api.objects import Object
from informers.clock import VirtualClock
from informers.queue.ratelimit import Exponential
from informers.runtime.cluster import Cluster
from informers.runtime.controller import controller
from informers.runtime.manager import Manager
from informers.runtime.result import Result
from kcpctl.figures import figures_of
from kcpctl.metrics import Metrics
from tests.informers.runtime.memory import MemoryServer
from tests.informers.runtime.objects import TEAMS


async def test_visits_are_counted_with_their_seconds_their_retries_and_their_writes() -> None:
    memory, clock = MemoryServer(), VirtualClock()

    @controller(TEAMS, name="slow", limiter=lambda: Exponential(base=10))
    async def slow(obj: Object, cluster: Cluster) -> Result:
        await clock.sleep(1.5)
        if clock.monotonic() - began < 10:
            raise ValueError("not yet")
        return Result(status={"done": True})

    began = clock.monotonic()
    memory.put("blue")
    manager = Manager(memory.server(), [slow], clock=clock)
    async with manager:
        await clock.advance(60)
        lines = Metrics(*figures_of(manager, None)).text().decode().splitlines()

    found = dict(line.rsplit(" ", 1) for line in lines if line.startswith("kcpctl_controller_"))
    assert found['kcpctl_controller_visits_total{controller="slow",outcome="error"}'] == "1"
    assert found['kcpctl_controller_retries_total{controller="slow"}'] == "1"
    assert found['kcpctl_controller_writes_total{controller="slow"}'] == "1"
    visits = sum(int(value) for name, value in found.items() if name.startswith("kcpctl_controller_visits_total"))
    assert visits == 3, "the first one, the one after it, and the one that the own write wakes"
    assert found['kcpctl_controller_visit_seconds_total{controller="slow"}'] == "4.5"
