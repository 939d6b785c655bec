"""The frame around every measured Python informer: sync, settle, events, and one JSON line of figures.

The figures have the names that the Go programs print. Standard library only, see `measure`.
"""

import argparse
import asyncio
import json
from asyncio import TaskGroup
from typing import Protocol
from urllib.request import Request, urlopen

from tests.bench.measure import Mark, Ticker, forget_peak, now, peak, resident

SETTLE = 1.0
"""Seconds from the sync to reading what stays resident."""


class Subject(Protocol):
    """An informer with the planned indexes (namespace, label `app`, `spec.partition`), a filter and a queue."""

    async def run(self) -> None:
        """List and watch until cancelled."""

    async def wait_synced(self) -> int:
        """Wait for the first sync; returns the number of objects."""

    async def wait_events(self, events: int) -> int:
        """Wait until that many events went through filter and queue; returns the visits."""


class Plan(argparse.Namespace):
    """What to measure, from the command line."""

    server: str
    path: str
    objects: int
    indexes: int
    events: int
    ticker: bool


def plan() -> Plan:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True, help="URL of the replay server")
    parser.add_argument("--path", required=True, help="path of the collection there")
    parser.add_argument("--objects", type=int, default=20_000)
    parser.add_argument("--indexes", type=int, choices=(2, 3), default=3, help="2 leaves out `spec.partition`")
    parser.add_argument("--events", type=int, default=100_000, help="0 ends after the sync")
    parser.add_argument("--ticker", action="store_true", help="measure how long the sync holds the loop")
    return parser.parse_args(namespace=Plan())


async def measure(wanted: Plan, subject: Subject) -> None:
    """Measure a subject that has not begun, and print the figures."""
    async with TaskGroup() as group:
        ticker = Ticker()
        running = [group.create_task(ticker.run())] if wanted.ticker else []
        await asyncio.sleep(0)
        forget_peak()
        before = now()
        running.append(group.create_task(subject.run()))
        found = await subject.wait_synced()
        figures = _sync_figures(before, now(), wanted.objects)
        if found != wanted.objects:
            raise SystemExit(f"expected {wanted.objects} objects, found {found}")
        if wanted.ticker:
            figures["sync_loop_block_ms"] = ticker.longest * 1e3
            figures["sync_loop_work_ms"] = ticker.longest_work * 1e3
        await asyncio.sleep(SETTLE)
        figures["sync_rss_bytes_per_object"] = (resident() - before.rss) / wanted.objects
        figures["sync_peak_bytes_per_object"] = (peak() - before.rss) / wanted.objects
        if wanted.events:
            figures |= await _events(wanted, subject, before)
        for task in running:
            task.cancel()
    print(json.dumps(figures), flush=True)


def _sync_figures(before: Mark, synced: Mark, objects: int) -> dict[str, float]:
    return {
        "objects": objects,
        "sync_s": synced.wall - before.wall,
        "sync_cpu_us_per_object": (synced.cpu - before.cpu) * 1e6 / objects,
    }


async def _events(wanted: Plan, subject: Subject, start: Mark) -> dict[str, float]:
    before = now()
    await asyncio.to_thread(_post, f"{wanted.server}/start?events={wanted.events}")
    visits = await subject.wait_events(wanted.events)
    after = now()
    return {
        "events": wanted.events,
        "visits": visits,
        "events_per_s": wanted.events / (after.wall - before.wall),
        "event_cpu_us": (after.cpu - before.cpu) * 1e6 / wanted.events,
        "after_events_rss_bytes_per_object": (after.rss - start.rss) / wanted.objects,
    }


def _post(url: str) -> None:
    with urlopen(Request(url, method="POST")) as answer:
        answer.read()
