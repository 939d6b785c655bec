"""Our SharedInformer over HTTP with its indexes, a handler with a filter, and a WorkQueue with one worker."""

import asyncio
from asyncio import Event
from itertools import islice

from informers.api.objects import Key
from informers.api.resources import Collection, Resource
from informers.cache.indexers import NAMESPACE, by_label, by_namespace, by_path
from informers.cache.informer import SharedInformer
from informers.cache.notices import Notice
from informers.client.server import Server
from informers.clock import SystemClock
from informers.queue.workqueue import WorkQueue
from informers.runtime.filters import generation_changed
from informers.tasks import background
from tests.bench.replay import SLICES
from tests.bench.subject import Plan, measure, plan

_SLICES = Resource("bench.example.com", "v1", "slices")
_INDEXERS = {NAMESPACE: by_namespace, "app": by_label("app"), "partition": by_path("spec", "partition")}
_KEEPS = generation_changed.keeps  # as a controller asks its filter


class OurInformer:
    """Runs the informer and the queue's worker."""

    def __init__(self, wanted: Plan) -> None:
        if wanted.path != SLICES:
            raise SystemExit(f"expected --path {SLICES}, found {wanted.path}")
        self._server = Server.from_address(wanted.server)
        indexers = dict(islice(_INDEXERS.items(), wanted.indexes))
        self._informer = SharedInformer(self._server.client(), Collection(_SLICES), indexers=indexers)
        self._queue: WorkQueue[Key] = WorkQueue(clock=SystemClock())
        self._events = 0
        self._wanted = 0
        self._reached = Event()
        self._visits = 0

    async def run(self) -> None:
        """List and watch until cancelled."""
        self._informer.add_handler(self._notice)
        async with self._server, background(self._work()):
            await self._informer.run()

    def _notice(self, notice: Notice[dict[str, object]]) -> None:
        if notice.old is None:
            return
        if _KEEPS(notice.old, notice.new):
            self._queue.add(notice.key)
        self._events += 1
        if self._events == self._wanted:
            self._reached.set()

    async def _work(self) -> None:
        while True:
            async with self._queue.take() as key:
                self._queue.forget(key)
                self._visits += 1

    async def wait_synced(self) -> int:
        """Wait for the first sync; returns the number of objects."""
        await self._informer.wait_synced()
        return len(self._informer.store)

    async def wait_events(self, events: int) -> int:
        """Wait until that many have come and were visited; returns the visits."""
        self._wanted = events
        if self._events < events:
            await self._reached.wait()
        await self._queue.wait_idle()
        return self._visits


if __name__ == "__main__":
    wanted = plan()
    asyncio.run(measure(wanted, OurInformer(wanted)))
