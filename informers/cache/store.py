"""The writable cache of one collection: one writer, and any number of readers."""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from informers.api.clusters import WILDCARD
from informers.api.errors import ConfigurationError, Undeclared
from informers.api.objects import Key, Object
from informers.cache.content import Content
from informers.cache.index import Index, IndexerFailed
from informers.cache.indexers import Indexer
from informers.cache.replacement import Changes, Replacement, take_apart

T = TypeVar("T")


class Store(Generic[T]):
    """Objects as last seen, found by key and by index.

    Invariant: every method is one step. Readers see the content before a change or after it, also when the whole is
    replaced. What they get is shared and frozen.
    """

    __slots__ = ("_content", "epoch", "put", "revision")

    def __init__(self, indexers: Mapping[str, Indexer[T]] = {}) -> None:
        """Start empty, with these indexes by name."""
        self._content: Content[T] = Content(Index(name, indexer) for name, indexer in indexers.items())
        self.put = self._content.put
        """Take an object in, and return what was there. Bare, since a frame around it shows.

        Raises `IndexerFailed`; then nothing has changed, and what was there stays."""
        self.revision = ""
        """The resourceVersion that the content has reached; "" before the first."""
        self.epoch = 0
        """Counts the unbroken histories of the server: revisions compare only within one."""

    def __len__(self) -> int:
        """Count the objects."""
        return len(self._content.objects)

    def __contains__(self, key: Key) -> bool:
        """Say whether an object is there."""
        return key in self._content.objects

    def __iter__(self) -> Iterator[Object[T]]:
        """Go through the objects, within one step."""
        return iter(self._content.objects.values())

    @property
    def keys(self) -> list[Key]:
        """All keys."""
        return list(self._content.objects)

    def get(self, key: Key) -> Object[T] | None:
        """Return the object with exactly this key."""
        return self._content.objects.get(key)

    def find(
        self, name: str, namespace: str = "", *, cluster: str = WILDCARD, shard: str = WILDCARD
    ) -> list[Object[T]]:
        """Return all objects of that name and namespace; `"*"` looks in every cluster, in every shard."""
        return self._content.find(name, namespace, cluster, shard)

    def by_index(self, name: str, value: str) -> list[Object[T]]:
        """Return the objects that the index holds under the value.

        Right from the moment an index was added, if slow until it is finished. Raises `Undeclared` for an unknown one.
        """
        content = self._content
        index = content.indexes.get(name)
        if index is None:
            known = ", ".join(map(repr, content.indexes)) or "none"
            raise Undeclared(f"expected the name of an index, found {name!r}; declared are: {known}")
        if index.unfinished is not None:
            return [obj for obj in content.objects.values() if value in index.values_if_any(obj)]
        return [content.objects[key] for key in index.keys(value)]

    @property
    def bytes(self) -> int:
        """What the objects measured on the wire."""
        return self._content.bytes

    @property
    def indexers(self) -> dict[str, Indexer[T]]:
        """The indexers by name."""
        return {name: index.indexer for name, index in self._content.indexes.items()}

    def index_sizes(self) -> dict[str, int]:
        """Return how many values each index holds."""
        return {name: len(index) for name, index in self._content.indexes.items()}

    def drop(self, key: Key) -> Object[T] | None:
        """Take the object out, and return it."""
        return self._content.drop(key)

    def prepare(self, *, unbroken: bool = True) -> Replacement[T]:
        """Begin the next content, with the same indexes; this one does not change by it.

        The writer changes nothing until `swap`. `unbroken` says whether an equal uid and revision mean an equal object,
        as they do while the server's history goes on.
        """
        return Replacement(self._content, unbroken=unbroken)

    def swap(self, replacement: Replacement[T], revision: str, *, initial: bool = False) -> Changes[T]:
        """Let the prepared content take the place of this one; return what that changes, to go through once.

        Indexes that were added meanwhile begin anew.
        """
        old, self._content = self._content, replacement.content
        self.put = self._content.put
        self.revision = revision
        for name, index in old.indexes.items():
            if name not in self._content.indexes:
                self.add_indexer(name, index.indexer)
        return take_apart(replacement, initial=initial)

    def add_indexer(self, name: str, indexer: Indexer[T]) -> None:
        """Add an index; going through `finish_indexes` then indexes what is stored already.

        The same function under the same name again changes nothing. Raises `ConfigurationError` when another one has
        the name.
        """
        indexes = self._content.indexes
        known = indexes.get(name)
        if known is None:
            self._content.add_index(Index(name, indexer, unfinished=self.keys or None))
        elif known.indexer != indexer:
            raise ConfigurationError(
                f"expected a new name for an index, found {name!r} taken by another function; choose another name"
            )

    def finish_indexes(self) -> Iterator[IndexerFailed | None]:
        """Index one stored object a step until all indexes are finished; the content may change between two steps.

        An object that an indexer raises for stays out of that index, and the failure is what the step yields.
        """
        while (index := self._unfinished()) is not None:
            yield self._finish_one(index, index.unfinished or [])

    def _unfinished(self) -> Index[T] | None:
        return next((index for index in self._content.indexes.values() if index.unfinished is not None), None)

    def _finish_one(self, index: Index[T], unfinished: list[Key]) -> IndexerFailed | None:
        obj = self._content.objects.get(unfinished.pop()) if unfinished else None
        if not unfinished:
            index.unfinished = None
        try:
            if obj is not None:
                index.add(obj.key, index.values(obj))
        except IndexerFailed as failure:
            return failure
        return None
