"""Rows about a first sync: CPU time, what stays resident, the peak, and how long the loop is held."""

from collections.abc import Callable

from tests.bench.contestants import (
    ASYNCIO_WATCH,
    CLIENT_GO_DYNAMIC,
    CLIENT_GO_DYNAMIC_STREAMED,
    CLIENT_GO_TYPED,
    CLIENT_GO_TYPED_COLLECTED,
    CLIENT_GO_TYPED_STREAMED,
    DICTS,
    OFFICIAL,
    OURS,
    OURS_PAGED,
)
from tests.bench.laboratory import Laboratory
from tests.bench.objects import SIZE
from tests.bench.rows import Baseline, Reach, Row

_PYTHON = (DICTS, ASYNCIO_WATCH, OFFICIAL)
_CLIENT_GO = (CLIENT_GO_TYPED, CLIENT_GO_TYPED_STREAMED, CLIENT_GO_DYNAMIC, CLIENT_GO_DYNAMIC_STREAMED)
_OVER_WIRE = "× wire"


def sync_cpu_us_per_object(lab: Laboratory) -> Row:
    """CPU time of the whole process, user and system, an object."""
    figure = "sync_cpu_us_per_object"
    value = lab.informer(OURS)[figure]
    reach = Reach(at_most=10, times=0.2, of=CLIENT_GO_TYPED.name)
    return Row(figure, value, "µs", reach, lab.baselines(figure, [*_CLIENT_GO, OURS_PAGED, *_PYTHON]))


def sync_rss_bytes_per_object_over_wire(lab: Laboratory) -> Row:
    """Resident bytes a second after the sync, above those before it, an object, over the object's size on the wire."""
    figure = "sync_rss_bytes_per_object"
    value = lab.informer(OURS)[figure] / SIZE
    others = [CLIENT_GO_TYPED, CLIENT_GO_TYPED_COLLECTED, CLIENT_GO_DYNAMIC, OURS_PAGED, *_PYTHON]
    baselines = lab.baselines(figure, others, per=SIZE)
    return Row(f"{figure}_over_wire", value, _OVER_WIRE, Reach(at_most=1.7), baselines)


def sync_rss_bytes_per_object_over_wire_unique_labels(lab: Laboratory) -> Row:
    """The same where no two objects have equal labels."""
    figure = "sync_rss_bytes_per_object"
    value = lab.informer(OURS, "unique")[figure] / SIZE
    others = [CLIENT_GO_TYPED, CLIENT_GO_TYPED_COLLECTED, OURS_PAGED, DICTS]
    baselines = lab.baselines(figure, others, labels="unique", per=SIZE)
    return Row(f"{figure}_over_wire_unique_labels", value, _OVER_WIRE, Reach(at_most=2.1), baselines)


def sync_peak_over_wire(lab: Laboratory) -> Row:
    """The most bytes that were resident until a second after the sync, reckoned likewise."""
    figure = "sync_peak_bytes_per_object"
    value = lab.informer(OURS)[figure] / SIZE
    others = [CLIENT_GO_TYPED, CLIENT_GO_DYNAMIC, OURS_PAGED, *_PYTHON]
    return Row("sync_peak_over_wire", value, _OVER_WIRE, Reach(at_most=1.8), lab.baselines(figure, others, per=SIZE))


def sync_loop_block_ms(lab: Laboratory) -> Row:
    """The longest that a task waking every millisecond overslept while the sync ran; in runs of its own."""
    figure = "sync_loop_block_ms"
    ticking = ("--ticker",)
    ours = lab.informer(OURS, options=ticking)
    work = Baseline("ours, CPU time alone", ours["sync_loop_work_ms"])  # differs where the machine is busy
    others = lab.baselines(figure, [OURS_PAGED, DICTS, ASYNCIO_WATCH], options=ticking)
    return Row(figure, ours[figure], "ms", Reach(at_most=20), [work, *others])


ROWS: tuple[Callable[[Laboratory], Row], ...] = (
    sync_cpu_us_per_object,
    sync_rss_bytes_per_object_over_wire,
    sync_rss_bytes_per_object_over_wire_unique_labels,
    sync_peak_over_wire,
    sync_loop_block_ms,
)
