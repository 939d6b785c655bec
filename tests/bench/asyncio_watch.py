"""Baseline: kubernetes-asyncio's list (pages of 500) and Watch, feeding the same dict store, filter and queue."""

import asyncio
from asyncio import Event, TaskGroup

from kubernetes_asyncio.client import ApiClient, Configuration, CustomObjectsApi
from kubernetes_asyncio.watch import Watch

from tests.bench.dict_store import Pipeline
from tests.bench.subject import Plan, measure, plan


class AsyncioWatch:
    """Lists and watches custom objects through the library."""

    def __init__(self, wanted: Plan) -> None:
        self._configuration = Configuration(host=wanted.server)
        _, _, self._group, self._version, self._plural = wanted.path.split("/")
        self._pipeline = Pipeline(wanted.indexes)
        self._synced = Event()

    async def run(self) -> None:
        """List and watch until cancelled."""
        async with ApiClient(self._configuration) as client, TaskGroup() as group:
            group.create_task(self._pipeline.queue.work())
            api = CustomObjectsApi(client)
            collection = (self._group, self._version, self._plural)
            revision = await self._list(api, collection)
            self._synced.set()
            async with Watch() as watch:
                events = watch.stream(api.list_cluster_custom_object, *collection, resource_version=revision)
                async for event in events:
                    if event["type"] == "MODIFIED":
                        self._pipeline.modified(event["object"])

    async def _list(self, api: CustomObjectsApi, collection: tuple[str, str, str]) -> str:
        more = ""
        while True:
            page = await api.list_cluster_custom_object(*collection, limit=500, _continue=more)
            for obj in page["items"]:
                self._pipeline.store.put(obj)
            more = page["metadata"].get("continue", "")
            if not more:
                return str(page["metadata"]["resourceVersion"])

    async def wait_synced(self) -> int:
        """Wait for the list; returns the number of objects."""
        await self._synced.wait()
        return len(self._pipeline.store)

    async def wait_events(self, events: int) -> int:
        """Wait until that many events went through; returns the visits."""
        return await self._pipeline.wait_events(events)


if __name__ == "__main__":
    wanted = plan()
    asyncio.run(measure(wanted, AsyncioWatch(wanted)))
