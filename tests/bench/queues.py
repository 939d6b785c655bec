"""The row about the work queue."""

import sys
from collections.abc import Callable

from tests.bench.contestants import go_program
from tests.bench.laboratory import Laboratory
from tests.bench.programs import Missing, printed
from tests.bench.rows import Baseline, Reach, Row


def queue_cycles_per_s(lab: Laboratory) -> Row:
    """200,000 keys added, then each taken in an `async with` block; limiter and observer on."""
    name = "queue_cycles_per_s"
    ours = lab.once(("ours, queue",), lambda: printed([sys.executable, "-m", "tests.bench.ours_queue", "1"]))
    return Row(name, ours[name], "1/s", Reach(at_least=400_000), _others(lab))


def _others(lab: Laboratory) -> list[Baseline]:
    try:
        found = lab.once(("client-go, queues",), lambda: printed(go_program("queuebench")))
    except Missing:
        return []  # said already
    return [
        Baseline("client-go workqueue, bare", found["workqueue_drain_cycles_per_s"]),
        Baseline("controller-runtime priorityqueue", found["priorityqueue_drain_cycles_per_s"]),
    ]


ROWS: tuple[Callable[[Laboratory], Row], ...] = (queue_cycles_per_s,)
