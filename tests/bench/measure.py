"""What a process has used, as its user sees it: CPU time, resident and peak memory, and how long its loop was held.

Linux only, since the peak of one phase can be had only from /proc; needs nothing but the standard library, so that it
measures programs in any environment.
"""

import asyncio
import os
import time
from pathlib import Path
from typing import NamedTuple

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_TICK = 0.001


class Mark(NamedTuple):
    """What the process had used at one moment."""

    wall: float
    """Seconds of a clock that never goes back."""
    cpu: float
    """Seconds, user and system, all threads."""
    rss: int
    """Resident bytes."""


def now() -> Mark:
    """Mark this moment."""
    return Mark(time.perf_counter(), time.process_time(), resident())


def resident() -> int:
    """Return the resident bytes of this process."""
    return int(Path("/proc/self/statm").read_bytes().split()[1]) * _PAGE


def forget_peak() -> None:
    """Let `peak` start again from what is resident now."""
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Return the most bytes that were resident since `forget_peak`."""
    return _status("self", "VmHWM")


def resident_of(process: int) -> int:
    """Return the resident bytes of another process."""
    return _status(str(process), "VmRSS")


def peak_of(process: int) -> int:
    """Return the most bytes that were ever resident of another process."""
    return _status(str(process), "VmHWM")


def cpu_of(process: int) -> float:
    """Return the seconds, user and system, that another process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _status(process: str, field: str) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise LookupError(f"expected a field {field} in /proc/{process}/status, found none")


class Ticker:
    """Wakes every millisecond and remembers the longest that it overslept; costs CPU time."""

    longest: float = 0.0
    """Seconds between two turns of the loop, whatever held it: its own work, waiting for a disk, or other processes."""
    longest_work: float = 0.0
    """Seconds of CPU time that the loop's thread used between two turns: other processes do not count."""

    async def run(self) -> None:
        """Tick until cancelled."""
        before, worked = time.perf_counter(), time.thread_time()
        while True:
            await asyncio.sleep(_TICK)
            after, works = time.perf_counter(), time.thread_time()
            self.longest = max(self.longest, after - before - _TICK)
            self.longest_work = max(self.longest_work, works - worked)
            before, worked = after, works
