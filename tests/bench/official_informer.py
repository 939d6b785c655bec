"""Baseline: `kubernetes.informer` of the official client, over ConfigMaps, since it fails on custom resources.

It has neither indexes nor the object before a change, so that it is spared the indexes and the filter, and its model
drops spec and status. Runs in an environment of its own that has the package `kubernetes`.
"""

import asyncio
import threading
from asyncio import Event
from queue import SimpleQueue
from typing import Any

from kubernetes.client import ApiClient, Configuration, CoreV1Api  # type: ignore[import-not-found]
from kubernetes.informer import ADDED, MODIFIED, SharedInformer  # type: ignore[import-not-found]

from tests.bench.replay import CONFIGMAPS
from tests.bench.subject import Plan, measure, plan


class Reached:
    """Counts in a thread, and tells the loop when enough have come."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = Event()
        self._wanted = 0
        self.count = 0

    def add(self) -> None:
        """Count one more; called in any one thread."""
        self.count += 1
        if self.count == self._wanted:
            self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self, wanted: int) -> None:
        """Wait until that many were counted; must be called before they come."""
        self._wanted = wanted
        await self._event.wait()


class OfficialInformer:
    """Runs the library's informer thread, and a worker thread behind a queue."""

    def __init__(self, wanted: Plan) -> None:
        if wanted.path != CONFIGMAPS:
            raise SystemExit(f"expected --path {CONFIGMAPS}, found {wanted.path}")
        api = CoreV1Api(ApiClient(Configuration(host=wanted.server)))
        self._informer = SharedInformer(api.list_config_map_for_all_namespaces)
        self._objects = wanted.objects
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._added, self._visited = Reached(), Reached()

    async def run(self) -> None:
        """List and watch until cancelled."""
        worker = threading.Thread(target=self._work)
        worker.start()
        self._informer.add_event_handler(ADDED, lambda _: self._added.add())
        self._informer.add_event_handler(MODIFIED, self._modified)
        self._informer.start()
        try:
            await Event().wait()
        finally:
            self._queue.put(None)
            worker.join()
            self._informer.stop()

    def _modified(self, obj: Any) -> None:
        self._queue.put(f"{obj.metadata.namespace}/{obj.metadata.name}")

    def _work(self) -> None:
        while self._queue.get() is not None:
            self._visited.add()

    async def wait_synced(self) -> int:
        """Wait for the list; returns the number of objects."""
        await self._added.wait(self._objects)
        return len(self._informer.cache.list_keys())

    async def wait_events(self, events: int) -> int:
        """Wait until that many were visited; returns the visits."""
        await self._visited.wait(events)
        return self._visited.count


async def main() -> None:
    """Measure what the command line says."""
    wanted = plan()
    await measure(wanted, OfficialInformer(wanted))


if __name__ == "__main__":
    asyncio.run(main())
