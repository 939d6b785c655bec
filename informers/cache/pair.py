"""Two views as one: the local shard's first, then what the cache server knows of all shards."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from informers.api.clusters import WILDCARD
from informers.api.errors import Incomplete, NotFound, NotSynced
from informers.api.objects import Object
from informers.api.selectors import LabelSelector
from informers.cache.listers import Lister, Objects

T = TypeVar("T")


class _Halves(Generic[T]):
    """What all views of one pair share, so that an exchange reaches each of them."""

    __slots__ = ("cache", "local")

    def __init__(self, local: Lister[T] | None, cache: Lister[T] | None) -> None:
        self.local = local
        self.cache = cache


class ListerPair(Generic[T]):
    """Reads that ask the local half, and the cache half only where the local one has nothing.

    "Nothing" is `NotFound` for one name and an empty list for many; every other error of the local half goes up, and
    the cache is not asked. A half that is None has nothing. Both halves may be exchanged at any time.
    """

    __slots__ = ("_cluster", "_halves")

    def __init__(self, local: Lister[T] | None = None, cache: Lister[T] | None = None) -> None:
        """Pair the halves as they are at present."""
        self._halves = _Halves(local, cache)
        self._cluster = WILDCARD

    def swap(self, *, local: Lister[T] | None, cache: Lister[T] | None) -> None:
        """Exchange both halves at once, for this view and every view that came from the same pair."""
        self._halves.local, self._halves.cache = local, cache

    def cluster(self, name: str) -> "ListerPair[T]":
        """Return the view of one logical cluster; it follows later exchanges."""
        view: ListerPair[T] = ListerPair()
        view._halves, view._cluster = self._halves, name
        return view

    @property
    def local(self) -> Lister[T] | None:
        """The local half."""
        return self._scoped(self._halves.local)

    @property
    def cache(self) -> Lister[T] | None:
        """The half that knows all shards."""
        return self._scoped(self._halves.cache)

    @property
    def synced(self) -> bool:
        """Whether there is a half, and all there are have synced."""
        halves = [half for half in (self._halves.local, self._halves.cache) if half is not None]
        return bool(halves) and all(half.synced for half in halves)

    def get(self, name: str, namespace: str = "") -> Object[T]:
        """Return the object of that name; raises what the last half asked raises, `NotFound` among it."""
        first, second = self._both()
        try:
            return first.get(name, namespace)
        except NotFound:
            if second is None:
                raise
        return second.get(name, namespace)

    def find(self, name: str, namespace: str = "") -> Object[T] | None:
        """Return the object of that name, or None."""
        try:
            return self.get(name, namespace)
        except NotFound:
            return None

    def list(self, selector: LabelSelector | str | None = None, namespace: str = "") -> Objects[T]:
        """Return the local objects whose labels match, or the cache's where there is no local one."""
        return self._first(lambda half: half.list(selector, namespace))

    def by_index(self, index: str, value: str) -> Objects[T]:
        """Return what the local index holds under the value, or the cache's where that is empty. Never a union."""
        return self._first(lambda half: half.by_index(index, value))

    def owned_by(self, owner: Object[Any]) -> Objects[T]:
        """Return the local objects that name the owner, or the cache's where there is no local one."""
        return self._first(lambda half: half.owned_by(owner))

    def complete(self) -> Objects[T]:
        """Return what all shards have; raises `Incomplete` unless the cache half is there and has synced."""
        cache = self.cache
        if cache is None:
            raise Incomplete("expected a view of all shards, found no cache server connected")
        return cache.complete()

    def _first(self, read: Callable[[Lister[T]], Objects[T]]) -> Objects[T]:
        first, second = self._both()
        return read(first) or (read(second) if second is not None else [])

    def _both(self) -> tuple[Lister[T], Lister[T] | None]:
        """Return which half to ask first, and which one then."""
        local, cache = self.local, self.cache
        if local is not None:
            return local, cache
        if cache is not None:
            return cache, None
        raise NotSynced("expected a local or a cache half to read from, found neither connected yet")

    def _scoped(self, half: Lister[T] | None) -> Lister[T] | None:
        return half if half is None or self._cluster == WILDCARD else half.cluster(self._cluster)
