"""Rows about the whole program as a process: when it is ready, what it holds when idle, how long its loop is held."""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.kcpctl_process import running
from tests.bench.laboratory import Laboratory
from tests.bench.load import configmaps, fill
from tests.bench.measure import resident_of
from tests.bench.programs import Figures, printed
from tests.bench.rows import Baseline, Reach, Row

_IDLE_AFTER = 60.0


def start_to_ready_s(lab: Laboratory) -> Row:
    """Seconds from exec to /readyz 200, in an empty data directory: certificates are made on the way."""
    name = "start_to_ready_s"
    return Row(name, lab.once((name,), _start_empty)[name], "s", Reach(at_most=0.8))


def _start_empty() -> Figures:
    with tempfile.TemporaryDirectory() as place, running(Path(place)) as process:
        return {"start_to_ready_s": process.ready_after}


def start_to_ready_10k_s(lab: Laboratory) -> Row:
    """The same over a data directory that holds 10,000 objects, made by the start before."""
    name = "start_to_ready_10k_s"
    return Row(name, lab.once((name,), _start_full)[name], "s", Reach(at_most=1.0))


def _start_full() -> Figures:
    with tempfile.TemporaryDirectory() as place:
        with running(Path(place)):
            fill(Path(place), configmaps(10_000))
        with running(Path(place)) as process:
            return {"start_to_ready_10k_s": process.ready_after}


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
    work = Baseline("ours, CPU time alone", found["loop_work_ms"])  # differs where the machine is busy
    return Row(name, found[name], "ms", Reach(at_most=20), [work])


ROWS: tuple[Callable[[Laboratory], Row], ...] = (start_to_ready_s, start_to_ready_10k_s, idle_rss_mb, loop_block_ms)
