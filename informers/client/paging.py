"""Lists: one page, and all pages of a list."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from informers.api.decoding import Page
from informers.api.errors import Expired
from informers.api.resources import Collection
from informers.client.addresses import query

T = TypeVar("T")


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


async def all_pages(fetch: Callable[[str], Awaitable[Page[T]]]) -> AsyncIterator[Page[T]]:
    """Yield page after page; `fetch` gets one by its continue token, the first by "".

    Raises `Expired` when the list's revision was compacted on the way; what was yielded is then half a list.
    """
    continue_ = ""
    while True:
        page = await fetch(continue_)
        yield page
        continue_ = page.continue_
        if not continue_:
            return


async def whole_list(fetch: Callable[[str], Awaitable[Page[T]]]) -> list[Page[T]]:
    """Return all pages of one revision; starts again, once, when that revision is compacted on the way."""
    try:
        return [page async for page in all_pages(fetch)]
    except Expired:
        return [page async for page in all_pages(fetch)]
