"""What most Python operators have: objects as dicts, with indexes, a filter and a queue around them."""

import asyncio
from asyncio import Event
from collections import deque
from collections.abc import Callable
from typing import Any

Key = tuple[str, str]


def _namespace(obj: dict[str, Any]) -> str:
    return str(obj["metadata"].get("namespace", ""))


def _app(obj: dict[str, Any]) -> str:
    return str(obj["metadata"].get("labels", {}).get("app", ""))


def _partition(obj: dict[str, Any]) -> str:
    return str(obj.get("spec", {}).get("partition", ""))


INDEXERS: tuple[Callable[[dict[str, Any]], str], ...] = (_namespace, _app, _partition)


def generation_changed(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Keep what changed a generation."""
    return bool(old["metadata"].get("generation") != new["metadata"].get("generation"))


class DictStore:
    """Objects by (namespace, name), and their keys by the first so many of `INDEXERS`."""

    def __init__(self, indexes: int) -> None:
        self._objects: dict[Key, dict[str, Any]] = {}
        self._indexers = INDEXERS[:indexes]
        self._indexes: list[dict[str, set[Key]]] = [{} for _ in self._indexers]

    def __len__(self) -> int:
        return len(self._objects)

    def put(self, obj: dict[str, Any]) -> tuple[Key, dict[str, Any] | None]:
        """Take the object in; returns its key and what was there."""
        key = (obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
        old = self._objects.get(key)
        self._objects[key] = obj
        for indexer, index in zip(self._indexers, self._indexes, strict=True):
            value = indexer(obj)
            if old is not None:
                before = indexer(old)
                if before == value:
                    continue
                index[before].discard(key)
            index.setdefault(value, set()).add(key)
        return key, old


class Queue:
    """Keys to visit: each at most once however often it was added."""

    def __init__(self) -> None:
        self._waiting: set[Key] = set()
        self._order: deque[Key] = deque()
        self._filled = Event()
        self.visits = 0

    def add(self, key: Key) -> None:
        """Have the key visited."""
        if key not in self._waiting:
            self._waiting.add(key)
            self._order.append(key)
            self._filled.set()

    async def work(self) -> None:
        """Visit keys until cancelled."""
        while True:
            await self._filled.wait()
            while self._order:
                self._waiting.discard(self._order.popleft())
                self.visits += 1
            self._filled.clear()

    @property
    def empty(self) -> bool:
        """Whether all was visited."""
        return not self._order


class Pipeline:
    """Store, filter, queue and a worker, and how many events went through."""

    def __init__(self, indexes: int) -> None:
        self.store = DictStore(indexes)
        self.queue = Queue()
        self.events = 0
        self._wanted = 0
        self._reached = Event()

    def modified(self, obj: dict[str, Any]) -> None:
        """Take one event through store, filter and queue."""
        key, old = self.store.put(obj)
        if old is None or generation_changed(old, obj):
            self.queue.add(key)
        self.events += 1
        if self.events == self._wanted:
            self._reached.set()

    async def wait_events(self, events: int) -> int:
        """Wait until that many have come and were visited; returns the visits."""
        self._wanted = events
        if self.events < events:
            await self._reached.wait()
        while not self.queue.empty:
            await asyncio.sleep(0)  # the worker's turn
        return self.queue.visits
