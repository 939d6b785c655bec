"""The verbs: what one can ask of a server, scoped to one logical cluster."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import msgspec

from informers.api.decoding import Page, Reader, WatchEvent
from informers.api.errors import DecodeError
from informers.api.histories import Told, untold
from informers.api.objects import Object
from informers.api.resources import Collection, Resource
from informers.client import writing
from informers.client.addresses import Place, object_path, path, place_of
from informers.client.answers import fetch, whole
from informers.client.bodies import Body, Patch, PatchKind
from informers.client.calls import CALL, Calls
from informers.client.hints import explaining
from informers.client.paging import all_pages, list_query, page_of, pager, whole_list
from informers.client.records import Write
from informers.client.telling import Telling
from informers.client.transport import Timeouts
from informers.client.watching import opened_watch, watch_query
from informers.client.writer import Writer, refuse_wild

T = TypeVar("T")

Objects = list[Object[T]]
Batches = AsyncIterator[list[WatchEvent[T]]]

METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

WATCH_MARGIN = 15.0
"""Seconds that a watch may outlive its `timeoutSeconds` before it counts as dead."""


class Client(msgspec.Struct, frozen=True):
    """The verbs of one server in one place; a value, cheap to make and to scope.

    Calls are sent again only when the server answered 429 or 5xx with Retry-After, as the server's `Retry` allows;
    `list_page` and `watch_batches`, on which reflectors stand, never. Every verb raises an `ApiError` when the server
    refuses, a `TransportError` when it does not answer, a `DecodeError` when the answer makes no sense, and a
    `ConfigurationError` when the request could not be right.
    """

    calls: Calls
    place: Place = Place()
    writes: Callable[[Write], None] | None = None
    """Told of each write that was accepted, before the verb returns; dry runs are none."""

    def cluster(self, name: str) -> "Client":
        """Return this client for another logical cluster, by name or path; `"*"` is all of them."""
        return msgspec.structs.replace(self, place=Place(name, self.place.shard))

    def shard(self, name: str) -> "Client":
        """Return this client for another shard of a cache server; `"*"` is all of them."""
        return msgspec.structs.replace(self, place=Place(self.place.cluster, name))

    def noting(self, writes: Callable[[Write], None]) -> "Client":
        """Return this client with somebody who is told of its writes."""
        return msgspec.structs.replace(self, writes=writes)

    async def get(self, resource: Resource[T], name: str, *, namespace: str = "", subresource: str = "") -> Object[T]:
        """Return one object as the server has it now."""
        target = object_path(resource, name, namespace=namespace, subresource=subresource)
        with explaining(resource, "GET", target):
            body = await self.calls.fetch(self.calls.request("GET", self.place, target), whole)
        return self._reader(resource).object(body)

    async def list(
        self, resource: Resource[T], *, namespace: str = "", selector: str = "", fields: str = "", limit: int = 500
    ) -> Objects[T]:
        """Return all objects that the selectors allow, at one revision; asks in pages of `limit`, 0 for one page.

        Raises `DecodeError` when one of them cannot be read; `pages` sets such objects aside.
        """
        collection = self._collection(resource, namespace, selector, fields)
        found = await whole_list(pager(self.calls, self.place, collection, limit=limit))
        for malformed in (one for page in found for one in page.malformed):
            raise DecodeError(f"expected {resource.plural} only, found {malformed.key}: {malformed.error}")
        return [obj for page in found for obj in page.objects]

    def pages(
        self, resource: Resource[T], *, namespace: str = "", selector: str = "", fields: str = "", limit: int = 500
    ) -> AsyncIterator[Page[T]]:
        """Yield the list page by page as it is needed; raises `Expired` when that takes longer than history lasts."""
        collection = self._collection(resource, namespace, selector, fields)
        return all_pages(pager(self.calls, self.place, collection, limit=limit))

    async def list_page(
        self,
        collection: Collection[T],
        *,
        reader: Reader[T],
        limit: int = 0,
        continue_: str = "",
        rv: str | None = None,
        match: str = "",
        timeouts: Timeouts = CALL,
        metadata_only: bool = False,
        told: Told = untold,
    ) -> Page[T]:
        """Return one page of the collection, which says where it is; sent once, whatever the answer.

        `metadata_only` asks for objects that are nothing but their metadata; `told` learns which store the page is of.
        """
        target = path(collection.resource, namespace=collection.namespace)
        target += list_query(collection, limit=limit, continue_=continue_, rv=rv, match=match)
        request = self.calls.request("GET", place_of(collection), target, timeouts=timeouts)
        if metadata_only:
            request = msgspec.structs.replace(request, headers={**request.headers, "Accept": METADATA})
        return await fetch(Telling(self.calls.transport, told), request, page_of(reader))

    def watch_batches(
        self,
        collection: Collection[T],
        *,
        reader: Reader[T],
        rv: str | None = None,
        timeout: float = 300.0,
        bookmarks: bool = True,
        initial_events: bool = False,
        idle: float | None = None,
        margin: float = WATCH_MARGIN,
        told: Told = untold,
    ) -> AbstractAsyncContextManager[Batches[T]]:
        """Watch the collection for `timeout` seconds; the block gets one list of events for each chunk that arrived.

        Sent once, whatever the answer. Raises `ReadTimeout` after `idle` seconds of silence (None: no limit), and when
        the server has not ended the watch `margin` seconds after its time; `Disconnected` and `DecodeError` as
        `watching.Batches` says. `told` learns which store is watched.
        """
        target = path(collection.resource, namespace=collection.namespace)
        target += watch_query(collection, rv=rv, timeout=timeout, bookmarks=bookmarks, initial_events=initial_events)
        timeouts = Timeouts(idle=idle, total=timeout + margin)
        request = self.calls.request("GET", place_of(collection), target, timeouts=timeouts, watch=True)
        return opened_watch(Telling(self.calls.transport, told), request, reader)

    async def watch(
        self,
        resource: Resource[T],
        *,
        rv: str = "",
        namespace: str = "",
        selector: str = "",
        fields: str = "",
        timeout: float = 300.0,
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Yield events since `rv` (a list's revision; "" begins with what there is as ADDED) for `timeout` seconds.

        One watch, as it comes, bookmarks and ERROR events too; it ends when the server ends it and does not resume:
        that needs a memory of what was seen, which is what an informer is. Close it (`contextlib.aclosing`) when
        leaving early.
        """
        collection = self._collection(resource, namespace, selector, fields)
        reader = self._reader(resource)
        async with self.watch_batches(collection, reader=reader, rv=rv, timeout=timeout) as batches:
            async for batch in batches:
                for event in batch:
                    yield event

    async def create(
        self, resource: Resource[T], body: Body, *, namespace: str = "", subresource: str = "", dry_run: bool = False
    ) -> Object[T]:
        """Create an object, in the namespace given or the body's own; raises `AlreadyExists` when its name is taken."""
        sending = writing.creation(resource, body, namespace=namespace, subresource=subresource, dry_run=dry_run)
        return await self._writer.write(resource, sending)

    async def update(
        self, resource: Resource[T], body: Body, *, namespace: str = "", subresource: str = "", dry_run: bool = False
    ) -> Object[T]:
        """Replace an object; raises `Conflict` when the body's resourceVersion is not the newest."""
        sending = writing.replacement(resource, body, namespace=namespace, subresource=subresource, dry_run=dry_run)
        return await self._writer.write(resource, sending)

    async def patch(
        self,
        resource: Resource[T],
        name: str,
        patch: Patch,
        *,
        kind: PatchKind = PatchKind.MERGE,
        namespace: str = "",
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object[T]:
        """Change an object by a patch; a uid or resourceVersion in it is a precondition (`Conflict` when it fails)."""
        sending = writing.change(
            resource, name, patch, kind=kind, namespace=namespace, subresource=subresource, dry_run=dry_run
        )
        return await self._writer.write(resource, sending)

    async def apply(
        self,
        resource: Resource[T],
        body: Body,
        *,
        manager: str,
        force: bool = False,
        namespace: str = "",
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object[T]:
        """Apply the fields of the body on the server, creating the object if need be.

        Raises `Conflict` when another manager owns one of them with another value; `force` takes it over.
        """
        sending = writing.application(
            resource, body, manager=manager, force=force, namespace=namespace, subresource=subresource, dry_run=dry_run
        )
        return await self._writer.write(resource, sending)

    async def delete(
        self,
        resource: Resource[T],
        name: str,
        *,
        namespace: str = "",
        uid: str = "",
        rv: str = "",
        propagation: str = "",
    ) -> Object[T] | None:
        """Delete an object; return it as it is now if the server shows it, None if only its going was confirmed.

        Raises `Conflict` when uid or rv are not its own. `propagation` is Background, Foreground or Orphan.
        """
        sending = writing.deletion(resource, name, namespace=namespace, uid=uid, rv=rv, propagation=propagation)
        return await self._writer.delete(resource, name, sending, namespace=namespace)

    async def delete_collection(
        self,
        resource: Resource[Any],
        *,
        namespace: str = "",
        selector: str = "",
        fields: str = "",
        propagation: str = "",
    ) -> None:
        """Delete every object that the selectors allow; such a write is not noted, since it names no objects."""
        sending = writing.clearance(
            resource, namespace=namespace, selector=selector, fields=fields, propagation=propagation
        )
        await self._writer.send(resource, sending)

    async def raw(self, method: str, target: str, body: bytes = b"", *, media: str = "application/json") -> bytes:
        """Send anything to a path (and query) below this client's place; return the JSON of the answer."""
        if method not in ("GET", "HEAD", "OPTIONS"):
            refuse_wild(self.place, method)
        return await self.calls.fetch(self.calls.request(method, self.place, target, body=body, media=media), whole)

    @property
    def _writer(self) -> Writer:
        return Writer(self.calls, self.place, self.writes)

    def _reader(self, resource: Resource[T]) -> Reader[T]:
        return Reader(resource, cluster=self.place.cluster, shard=self.place.shard)

    def _collection(self, resource: Resource[T], namespace: str, selector: str, fields: str) -> Collection[T]:
        return Collection(resource, self.place.cluster, self.place.shard, namespace, selector, fields)
