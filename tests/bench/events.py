"""Rows about the events of a watch."""

from collections.abc import Callable

from tests.bench.contestants import ASYNCIO_WATCH, CLIENT_GO_DYNAMIC, CLIENT_GO_TYPED, DICTS, OFFICIAL, OURS
from tests.bench.laboratory import Laboratory
from tests.bench.rows import Reach, Row

_TWO_INDEXES = ("--indexes", "2")
_OTHERS = (CLIENT_GO_TYPED, CLIENT_GO_DYNAMIC, DICTS, ASYNCIO_WATCH, OFFICIAL)


def event_cpu_us(lab: Laboratory) -> Row:
    """CPU time of the whole process a MODIFIED event: store, two indexes, a filter, a queue, the visit of its key."""
    return _row(lab, "event_cpu_us", "µs", Reach(at_most=11, times=0.1, of=CLIENT_GO_TYPED.name))


def events_per_s(lab: Laboratory) -> Row:
    """The same as events a second, as fast as they come; depends on what else the machine does."""
    return _row(lab, "events_per_s", "1/s", Reach())


def _row(lab: Laboratory, figure: str, unit: str, reach: Reach) -> Row:
    value = lab.informer(OURS, options=_TWO_INDEXES, events=OURS.events)[figure]
    return Row(figure, value, unit, reach, lab.baselines(figure, _OTHERS, options=_TWO_INDEXES, with_events=True))


ROWS: tuple[Callable[[Laboratory], Row], ...] = (event_cpu_us, events_per_s)
