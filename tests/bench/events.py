"""Rows about the events of a watch."""

from collections.abc import Callable

from tests.bench.contestants import ASYNCIO_WATCH, CLIENT_GO_DYNAMIC, CLIENT_GO_TYPED, DICTS, OFFICIAL, OURS
from tests.bench.laboratory import Laboratory
from tests.bench.rows import Reach, Row

_OTHERS = (CLIENT_GO_TYPED, CLIENT_GO_DYNAMIC, DICTS, ASYNCIO_WATCH, OFFICIAL)


def event_cpu_us(lab: Laboratory) -> Row:
    """CPU time of the whole process a MODIFIED event: store, indexes, a filter, a queue, and the visit of its key."""
    figure = "event_cpu_us"
    reach = Reach(at_most=11, times=0.1, of=CLIENT_GO_TYPED.name)
    return Row(figure, lab.informer(OURS)[figure], "µs", reach, lab.baselines(figure, _OTHERS))


def events_per_s(lab: Laboratory) -> Row:
    """The same as events a second, as fast as they come; depends on what else the machine does."""
    figure = "events_per_s"
    return Row(figure, lab.informer(OURS)[figure], "1/s", Reach(), lab.baselines(figure, _OTHERS))


ROWS: tuple[Callable[[Laboratory], Row], ...] = (event_cpu_us, events_per_s)
