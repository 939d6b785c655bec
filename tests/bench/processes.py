"""Rows about the whole program as a process: when it is ready, what it holds when idle, how long its loop is held."""

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.kcpctl_process import running
from tests.bench.laboratory import Laboratory
from tests.bench.load import fill, workspace
from tests.bench.measure import resident_of
from tests.bench.programs import Figures, printed
from tests.bench.rows import Baseline, Reach, Row

_IDLE_AFTER = 60.0
_CPU_ALONE = "ours, CPU time alone"  # differs where the machine is busy


def start_to_ready_s(lab: Laboratory) -> Row:
    """Seconds from exec to /readyz 200, in an empty data directory: certificates are made on the way."""
    return _start_row("start_to_ready_s", lab, _start_empty, at_most=0.8)


def _start_row(name: str, lab: Laboratory, start: Callable[[], Figures], at_most: float) -> Row:
    found = lab.once((name,), start)
    return Row(name, found["wall"], "s", Reach(at_most=at_most), [Baseline(_CPU_ALONE, found["cpu"])])


def _start_empty() -> Figures:
    with tempfile.TemporaryDirectory() as place, running(Path(place)) as process:
        return {"wall": process.ready_after, "cpu": process.cpu}


def start_to_ready_10k_s(lab: Laboratory) -> Row:
    """The same over a data directory that holds 10,000 objects, 2,000 of them APIExportEndpointSlices."""
    return _start_row("start_to_ready_10k_s", lab, _start_full, at_most=1.0)


def _start_full() -> Figures:
    with tempfile.TemporaryDirectory() as place:
        with running(Path(place)):
            fill(Path(place), workspace(10_000, 2_000))
        shutil.rmtree(Path(place, "certificates"))  # to be made anew, as in an empty one
        with running(Path(place)) as process:
            return {"wall": process.ready_after, "cpu": process.cpu}


def idle_rss_mb(lab: Laboratory) -> Row:
    """Resident megabytes (10⁶ bytes) of shard, cache server and controllers in one process, a minute after ready."""
    name = "idle_rss_mb"
    return Row(name, lab.once((name,), _idle)[name], "MB", Reach(at_most=80))


def _idle() -> Figures:
    with tempfile.TemporaryDirectory() as place, running(Path(place)) as process:
        time.sleep(_IDLE_AFTER)
        return {"idle_rss_mb": resident_of(process.pid) / 1e6}


def loop_block_ms(lab: Laboratory) -> Row:
    """The longest that the loop was held: 30,000 objects, with a list, a re-list and a fan-out at once."""
    name = "loop_block_ms"
    found = lab.once((name,), lambda: printed([sys.executable, "-m", "tests.bench.loop_block"]))
    return Row(name, found[name], "ms", Reach(at_most=20), [Baseline(_CPU_ALONE, found["loop_work_ms"])])


ROWS: tuple[Callable[[Laboratory], Row], ...] = (start_to_ready_s, start_to_ready_10k_s, idle_rss_mb, loop_block_ms)
