"""Where a reflector gets lists and watches from: a client, bound to one collection."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Generic, Protocol, TypeAlias, TypeVar

from informers.api.decoding import Page, Reader, WatchEvent
from informers.api.histories import UNTOLD, Lineage, Told, untold
from informers.api.resources import Collection

T = TypeVar("T")

Batches: TypeAlias = AsyncIterator[list[WatchEvent[T]]]
Watch: TypeAlias = AbstractAsyncContextManager[Batches[T]]


class Readable(Protocol):
    """What a `Client` offers reflectors; nothing here may retry, for the reflector's table decides itself."""

    async def list_page(
        self,
        collection: Collection[T],
        *,
        reader: Reader[T],
        limit: int = 0,
        continue_: str = "",
        rv: str | None = None,
        match: str = "",
        metadata_only: bool = False,
        told: Told = untold,
    ) -> Page[T]:
        """Return one page of the collection; `told` learns which store it is of."""
        ...

    def watch_batches(
        self,
        collection: Collection[T],
        *,
        reader: Reader[T],
        rv: str | None = None,
        timeout: float = 300.0,
        bookmarks: bool = True,
        initial_events: bool = False,
        told: Told = untold,
    ) -> Watch[T]:
        """Watch the collection; the block gets events as they arrive. `told` learns which store is watched."""
        ...


class Source(Protocol[T]):
    """Lists and watches of one collection; `rv` "" asks for the newest state. Raises `InformersError` and no other."""

    @property
    def lineage(self) -> Lineage:
        """What the latest good answer said of the store that it came from."""
        ...

    async def list_page(self, *, limit: int = 0, continue_: str = "", rv: str = "") -> Page[T]:
        """Return one page; `limit` 0 asks for all there is."""
        ...

    async def exact_page(self, *, rv: str, limit: int, continue_: str = "") -> Page[T]:
        """Return one page of the state at exactly that revision; its objects may be nothing but their metadata."""
        ...

    def watch_batches(self, *, rv: str, timeout: float, initial_events: bool = False) -> Watch[T]:
        """Watch from a revision, with bookmarks; `initial_events` asks for the state first, no older than `rv`."""
        ...


class BoundSource(Generic[T]):
    """The source that a client is for one collection."""

    def __init__(self, client: Readable, collection: Collection[T]) -> None:
        """Read the collection's objects with a reader of their own."""
        self._client = client
        self._collection = collection
        self.reader = Reader(collection.resource, cluster=collection.cluster, shard=collection.shard)
        self.lineage = UNTOLD
        """What the latest good answer said of its store."""

    async def list_page(self, *, limit: int = 0, continue_: str = "", rv: str = "") -> Page[T]:
        """Return one page; of a paged list no older than `rv`, which some servers would take for exactly `rv`."""
        match = "NotOlderThan" if limit and rv not in ("", "0") else ""
        return await self._client.list_page(
            self._collection,
            reader=self.reader,
            limit=limit,
            continue_=continue_,
            rv=rv or None,
            match=match,
            told=self._hear,
        )

    async def exact_page(self, *, rv: str, limit: int, continue_: str = "") -> Page[T]:
        """Return one page of the metadata at exactly that revision."""
        return await self._client.list_page(
            self._collection,
            reader=self.reader,
            limit=limit,
            continue_=continue_,
            rv=rv,
            match="Exact",
            metadata_only=True,
            told=self._hear,
        )

    def watch_batches(self, *, rv: str, timeout: float, initial_events: bool = False) -> Watch[T]:
        """Watch from a revision."""
        return self._client.watch_batches(
            self._collection,
            reader=self.reader,
            rv=rv or None,
            timeout=timeout,
            initial_events=initial_events,
            told=self._hear,
        )

    def _hear(self, lineage: Lineage) -> None:
        self.lineage = lineage
