"""Baseline: an informer as one writes it by hand: aiohttp, json and dicts, pages of 500, then a watch."""

import asyncio
import json
from asyncio import Event, TaskGroup
from collections.abc import AsyncIterator
from typing import Any

import aiohttp

from tests.bench.dict_store import Pipeline
from tests.bench.subject import Plan, measure, plan

_NO_LIMIT = aiohttp.ClientTimeout(total=None)


class DictInformer:
    """Lists, then watches, and forgets nothing of what it is sent."""

    def __init__(self, wanted: Plan) -> None:
        self._url = wanted.server + wanted.path
        self._pipeline = Pipeline(wanted.indexes)
        self._synced = Event()

    async def run(self) -> None:
        """List and watch until cancelled."""
        async with aiohttp.ClientSession(timeout=_NO_LIMIT) as session, TaskGroup() as group:
            group.create_task(self._pipeline.queue.work())
            revision = await self._list(session)
            self._synced.set()
            query = {"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": revision}
            async with session.get(self._url, params=query) as answer:
                async for line in _lines(answer):
                    event: dict[str, Any] = json.loads(line)
                    if event["type"] == "MODIFIED":
                        self._pipeline.modified(event["object"])

    async def _list(self, session: aiohttp.ClientSession) -> str:
        query = {"limit": "500"}
        while True:
            async with session.get(self._url, params=query) as answer:
                page = json.loads(await answer.read())
            for obj in page["items"]:
                self._pipeline.store.put(obj)
            more = page["metadata"].get("continue")
            if not more:
                return str(page["metadata"]["resourceVersion"])
            query["continue"] = more

    async def wait_synced(self) -> int:
        """Wait for the list; returns the number of objects."""
        await self._synced.wait()
        return len(self._pipeline.store)

    async def wait_events(self, events: int) -> int:
        """Wait until that many events went through; returns the visits."""
        return await self._pipeline.wait_events(events)


async def _lines(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Cut lines out of chunks; the library's own way refuses long ones."""
    rest = b""
    async for chunk in answer.content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line


if __name__ == "__main__":
    wanted = plan()
    asyncio.run(measure(wanted, DictInformer(wanted)))
