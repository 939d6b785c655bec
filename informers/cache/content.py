"""Objects by key with their indexes: what a store holds at one time."""

from collections.abc import Iterable
from typing import Generic, TypeVar

from informers.api.clusters import WILDCARD
from informers.api.objects import Key, Object
from informers.cache.index import Index
from informers.cache.indexers import DependsOn

T = TypeVar("T")


_NOTHING: tuple[DependsOn, ...] = ()
_KEY = (DependsOn.KEY,)
_KEY_AND_LABELS = (DependsOn.KEY, DependsOn.LABELS)


def _settled(old: Object[T] | None, new: Object[T]) -> tuple[DependsOn, ...]:
    """Return what is sure to be the same in both states; equal labels are mostly one interned dict."""
    if old is None:
        return _NOTHING
    return _KEY_AND_LABELS if old.interned_labels is new.interned_labels else _KEY


class Content(Generic[T]):
    """Objects, and the same objects under the values of each index.

    Invariants: `put` and `drop` are one step, so that nobody sees an object without its index entries, or these without
    the object. An object that an indexer raises for does not come in, and what was there before stays.
    """

    __slots__ = ("_places", "bytes", "indexes", "objects")

    def __init__(self, indexes: Iterable[Index[T]]) -> None:
        """Start empty, with these empty indexes."""
        self.objects: dict[Key, Object[T]] = {}
        self.indexes = {index.name: index for index in indexes}
        self.bytes = 0
        """What the objects measured on the wire."""
        self._places: dict[str, dict[str, int]] = {}  # cluster → shard → number of objects

    def empty_copy(self) -> "Content[T]":
        """Return an empty content with the same indexers."""
        return Content(Index(index.name, index.indexer) for index in self.indexes.values())

    def put(self, obj: Object[T]) -> Object[T] | None:
        """Take the object in, and return what was there; raises `IndexerFailed` before anything has changed."""
        key = obj.key
        old = self.objects.get(key)
        moves = []
        settled = _settled(old, obj)
        for index in self.indexes.values():
            if index.decided_by in settled:
                continue
            values = index.values(obj)
            was = () if old is None else index.last_values(old)
            if values != was:
                moves.append((index, was, values))
        self.objects[key] = obj
        if old is None:
            self._enter(obj)
        else:
            self.bytes += len(obj.raw) - len(old.raw)
        for index, was, values in moves:
            if was:
                index.discard(key, was)
            index.add(key, values)
        return old

    def keep(self, obj: Object[T]) -> None:
        """Take in an object that was held before, under those indexes that still take it."""
        self.drop(obj.key)
        self.objects[obj.key] = obj
        self._enter(obj)
        for index in self.indexes.values():
            index.add(obj.key, index.values_if_any(obj))

    def drop(self, key: Key) -> Object[T] | None:
        """Take the object out, and return it."""
        old = self.objects.pop(key, None)
        if old is not None:
            self._leave(old)
            for index in self.indexes.values():
                index.discard(key, index.last_values(old))
        return old

    def find(self, name: str, namespace: str, cluster: str, shard: str) -> list[Object[T]]:
        """Return all objects of that name and namespace; `"*"` looks in every cluster, in every shard."""
        found = []
        for in_cluster in self._places if cluster == WILDCARD else (cluster,):
            for in_shard in self._places.get(in_cluster, ()) if shard == WILDCARD else (shard,):
                obj = self.objects.get(Key(in_shard, in_cluster, namespace, name))
                if obj is not None:
                    found.append(obj)
        return found

    def _enter(self, obj: Object[T]) -> None:
        key = obj.key
        self.bytes += len(obj.raw)
        shards = self._places.get(key.cluster)
        if shards is None:
            shards = self._places[key.cluster] = {}
        shards[key.shard] = shards.get(key.shard, 0) + 1

    def _leave(self, obj: Object[T]) -> None:
        key = obj.key
        self.bytes -= len(obj.raw)
        shards = self._places[key.cluster]
        shards[key.shard] -= 1
        if not shards[key.shard]:
            del shards[key.shard]
            if not shards:
                del self._places[key.cluster]
