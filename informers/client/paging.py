"""Lists: one page, and all pages of a list."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from informers.api.decoding import Page, Reader
from informers.api.errors import Expired
from informers.api.pages import PageReader
from informers.api.resources import Collection
from informers.client.addresses import Place, path, query
from informers.client.calls import Calls
from informers.client.transport import Response

T = TypeVar("T")

Pager: TypeAlias = Callable[[str], Awaitable[Page[T]]]
"""Gets one page by its continue token; the first has "" for one."""

_SLICE = 2**18


def list_query(collection: Collection[Any], *, limit: int, continue_: str, rv: str | None, match: str) -> str:
    """Return the query of one page; a continue token carries its own revision, so that none goes beside it."""
    return query(
        {
            "labelSelector": collection.label_selector,
            "fieldSelector": collection.field_selector,
            "limit": limit or None,
            "continue": continue_,
            "resourceVersion": None if continue_ else rv,
            "resourceVersionMatch": None if continue_ else match,
        }
    )


def page_of(reader: Reader[T]) -> Callable[[Response], Awaitable[Page[T]]]:
    """Return what reads a list's answer as it arrives, letting other tasks run every `_SLICE` bytes (about a ms)."""

    async def read(response: Response) -> Page[T]:
        pages = PageReader(reader)
        async for chunk in response.chunks():
            pages.feed(chunk[:_SLICE])
            for start in range(_SLICE, len(chunk), _SLICE):
                await asyncio.sleep(0)
                pages.feed(chunk[start : start + _SLICE])
        return pages.finish()

    return read


def pager(calls: Calls, place: Place, collection: Collection[T], *, limit: int) -> Pager[T]:
    """Return what gets the pages of a collection at the place, each of `limit` objects, 0 for all in one."""
    reader = Reader(collection.resource, cluster=place.cluster, shard=place.shard)

    async def fetch_page(continue_: str) -> Page[T]:
        target = path(collection.resource, namespace=collection.namespace)
        target += list_query(collection, limit=limit, continue_=continue_, rv=None, match="")
        return await calls.fetch(calls.request("GET", place, target), page_of(reader))

    return fetch_page


async def all_pages(fetch: Pager[T]) -> AsyncIterator[Page[T]]:
    """Yield page after page.

    Raises `Expired` when the list's revision was compacted on the way; what was yielded is then half a list.
    """
    continue_ = ""
    while True:
        page = await fetch(continue_)
        yield page
        continue_ = page.continue_
        if not continue_:
            return


async def whole_list(fetch: Pager[T]) -> list[Page[T]]:
    """Return all pages of one revision; starts again, once, when that revision is compacted on the way."""
    try:
        return [page async for page in all_pages(fetch)]
    except Expired:
        return [page async for page in all_pages(fetch)]
