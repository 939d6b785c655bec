"""Rows about several shards over one cache server, each a process of its own; real kcp's figures are recorded ones."""

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import aiohttp

from tests.bench.api import Refused
from tests.bench.fanout import fanout
from tests.bench.laboratory import Laboratory, Sizes
from tests.bench.programs import Figures, Missing
from tests.bench.recovering import recovery
from tests.bench.replicating import each, footprint, many
from tests.bench.restarting import restarts
from tests.bench.rows import Baseline, Reach, Row

_CPU_OF_SHARD = "ours, CPU time of the shard"  # differs where the machine is busy

Experiment = Callable[[Path, Sizes], Coroutine[Any, Any, Figures]]


def fanout_seconds(lab: Laboratory) -> Row:
    """Seconds from the change of one Shard's URL in the cache until a watch has shown all of 1,000 slices follow."""
    found = _measured(lab, "fanout", fanout)
    baselines = [Baseline("kcp, 300 slices × 3 shards, recorded", 60), Baseline(_CPU_OF_SHARD, found["cpu"])]
    return Row("fanout_seconds", found["fanout_seconds"], "s", Reach(at_most=2), baselines)


def fanout_writes_per_slice(lab: Laboratory) -> Row:
    """How often each slice was written for that, also after it was right."""
    value = _measured(lab, "fanout", fanout)["fanout_writes_per_slice"]
    recorded = Baseline("kcp, requests a slice for 5 changes, recorded", 17)
    return Row("fanout_writes_per_slice", value, "", Reach(at_most=1), [recorded])


def replication_seconds(lab: Laboratory) -> Row:
    """Seconds from the first request that creates one of 1,000 APIExports until a watch has shown all in the cache."""
    found = _measured(lab, "replication", many)
    baselines = [
        Baseline("kcp, recorded", 233),
        Baseline("ours, until all are created", found["answered"]),
        Baseline(_CPU_OF_SHARD, found["cpu"]),
    ]
    return Row("replication_seconds", found["seconds"], "s", Reach(at_most=2), baselines)


def replication_delay_ms(lab: Laboratory) -> Row:
    """Median from the API's answer to the copy's event in the cache, at three writes a second."""
    found = _measured(lab, "replication delay", each)
    baselines = [
        Baseline("kcp, recorded, at best", 284),
        Baseline("kcp, recorded, at worst", 440),
        Baseline("ours, the longest", found["longest_ms"]),
    ]
    return Row("replication_delay_ms", found["median_ms"], "ms", Reach(at_most=20), baselines)


def empty_cache_recovery_s(lab: Laboratory) -> Row:
    """Seconds from the start of an empty cache server until the copies of three shards are back, and slices as before.

    The shards have 1,000 APIExports and 1,000 slices together; real kcp never came back.
    """
    found = _measured(lab, "empty cache", recovery)
    baselines = [
        Baseline("ours, until the cache server is ready", found["ready"]),
        Baseline("ours, CPU time of all four processes", found["cpu"]),
        Baseline("ours, writes at the shards meanwhile", found["writes"]),
    ]
    return Row("empty_cache_recovery_s", found["seconds"], "s", Reach(at_most=5), baselines)


def shard_rss_mb(lab: Laboratory) -> Row:
    """Resident megabytes (10⁶ bytes) of a shard with 1,000 APIExports and 1,000 slices; the cache runs apart."""
    found = _measured(lab, "shard's memory", footprint)
    baselines = [
        Baseline("kcp, recorded, at best", 1_400),
        Baseline("kcp, recorded, at worst", 1_800),
        Baseline("ours, at its peak", found["peak"] / 1e6),
    ]
    return Row("shard_rss_mb", found["resident"] / 1e6, "MB", Reach(at_most=150), baselines)


def restart_writes(lab: Laboratory) -> Row:
    """Writes after a shard was restarted without its cache server, and again with it, lease renewals apart."""
    found = _measured(lab, "restarts", restarts)
    parts = [
        Baseline("ours, at the shard, without the cache", found["alone"]),
        Baseline("ours, at the shard, with the cache", found["again"]),
        Baseline("ours, at the cache", found["copies"]),
    ]
    return Row("restart_writes", sum(found.values()), "", Reach(at_most=0), parts)


def _measured(lab: Laboratory, name: str, experiment: Experiment) -> Figures:
    return lab.once((name,), lambda: _run(experiment, lab.sizes))


def _run(experiment: Experiment, sizes: Sizes) -> Figures:
    """Carry an experiment out in a folder of its own; raises `Missing` with what went wrong."""
    with tempfile.TemporaryDirectory() as site:
        try:
            return asyncio.run(experiment(Path(site), sizes))
        except (Refused, aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Missing(f"{type(error).__name__}: {error}") from error


ROWS: tuple[Callable[[Laboratory], Row], ...] = (
    fanout_seconds,
    fanout_writes_per_slice,
    replication_seconds,
    replication_delay_ms,
    empty_cache_recovery_s,
    shard_rss_mb,
    restart_writes,
)
