"""Objects by key with their indexes: what a store holds at one time."""

from collections.abc import Iterable, Mapping
from typing import Generic, TypeAlias, TypeVar

from informers.api.clusters import WILDCARD
from informers.api.objects import Key, Object
from informers.api.peeking import Path, Peek
from informers.cache.index import Index
from informers.cache.indexers import DependsOn, paths

T = TypeVar("T")

_Move: TypeAlias = tuple[Index[T], tuple[str, ...], tuple[str, ...]]
"""An index, where it has an object, and where it is to have it."""


class Content(Generic[T]):
    """Objects, and the same objects under the values of each index.

    Invariants: `put` and `drop` are one step, so that nobody sees an object without its index entries, or these without
    the object. An object that an indexer raises for does not come in, and what was there before stays.
    """

    __slots__ = ("_by_body", "_by_labels", "_by_path", "_indexes", "_paths", "_places", "bytes", "objects")

    def __init__(self, indexes: Iterable[Index[T]]) -> None:
        """Start empty, with these empty indexes."""
        self.objects: dict[Key, Object[T]] = {}
        self._indexes: dict[str, Index[T]] = {}
        self._by_labels: tuple[Index[T], ...] = ()
        self._by_path: tuple[Index[T], ...] = ()
        self._paths: tuple[Path, ...] = ()
        self._by_body: tuple[Index[T], ...] = ()
        for index in indexes:
            self.add_index(index)
        self.bytes = 0
        """What the objects measured on the wire."""
        self._places: dict[str, dict[str, int]] = {}  # cluster → shard → number of objects

    @property
    def indexes(self) -> Mapping[str, Index[T]]:
        """The indexes by name; read-only."""
        return self._indexes

    def add_index(self, index: Index[T]) -> None:
        """Keep one index more."""
        self._indexes[index.name] = index
        if index.decided_by is DependsOn.LABELS:
            self._by_labels = (*self._by_labels, index)
        elif index.decided_by is DependsOn.PATH:
            self._by_path = (*self._by_path, index)
            self._paths = ()
        elif index.decided_by is DependsOn.BODY:
            self._by_body = (*self._by_body, index)

    def drop_index(self) -> bool:
        """Let one index go; say whether there was any."""
        if not self._indexes:
            return False
        self._indexes.popitem()
        self._by_labels = self._by_path = self._by_body = ()
        return True

    def empty_copy(self) -> "Content[T]":
        """Return an empty content with the same indexers."""
        return Content(Index(index.name, index.indexer) for index in self.indexes.values())

    def put(self, obj: Object[T]) -> Object[T] | None:
        """Take the object in, and return what was there; raises `IndexerFailed` before anything has changed."""
        key = obj.key
        old = self.objects.get(key)
        if old is None:
            self.put_new([obj])
            return None
        moves: list[_Move[T]] = []
        if self._by_body:
            moves = self._moves(self._by_body, old, obj)
        peek = obj.peek  # where it is equal it is mostly the same one
        if self._by_path and not (
            peek is not None and peek is old.peek and (peek.paths is self._paths or self._says_all(peek))
        ):
            moves += self._moves(self._by_path, old, obj)
        if old.interned_labels is not obj.interned_labels and self._by_labels:  # and equal labels one dict
            moves += self._moves(self._by_labels, old, obj)
        self.objects[key] = obj
        self.bytes += len(obj.raw) - len(old.raw)
        if moves:
            self._move(key, moves)
        return old

    def _move(self, key: Key, moves: list[_Move[T]]) -> None:
        for index, was, values in moves:
            index.discard(key, was)
            index.add(key, values)

    def _says_all(self, peek: Peek) -> bool:
        """Say whether it has all the paths of the indexes; nearly always it has those of the last one that did."""
        if peek.paths is not self._paths and {*peek.paths}.issuperset(paths(i.indexer for i in self._by_path)):
            self._paths = peek.paths
        return peek.paths is self._paths

    def _moves(self, indexes: tuple[Index[T], ...], old: Object[T], new: Object[T]) -> list[_Move[T]]:
        """Return what is found elsewhere from now on; raises `IndexerFailed`."""
        compared = ((index, index.last_values(old), index.values(new)) for index in indexes)
        return [move for move in compared if move[1] != move[2]]

    def put_new(self, objects: list[Object[T]]) -> None:
        """Take in objects with different keys, none of which is there; raises as `put` does, and then takes none."""
        keys = [obj.key for obj in objects]
        found = [(index, index.all_values(objects)) for index in self._indexes.values()]
        self.objects.update(zip(keys, objects, strict=True))
        self._enter(objects)
        for index, values in found:
            index.add_all(keys, values)

    def keep(self, obj: Object[T]) -> None:
        """Take in an object that was held before, under those indexes that still take it."""
        self.drop(obj.key)
        self.objects[obj.key] = obj
        self._enter([obj])
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

    def _enter(self, objects: list[Object[T]]) -> None:
        places = self._places
        for obj in objects:
            key = obj.key
            self.bytes += len(obj.raw)
            shards = places.get(key.cluster)
            if shards is None:
                shards = places[key.cluster] = {}
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
