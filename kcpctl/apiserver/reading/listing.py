"""List: a collection at one revision, whole or page by page."""

import asyncio
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import overload

import msgspec

from kcpctl.apiserver.call import Call
from kcpctl.apiserver.failures import Failure, bad_request, expired, too_large_revision
from kcpctl.apiserver.reading import tokens
from kcpctl.apiserver.reading.options import EXACT, ListOptions, list_options
from kcpctl.apiserver.reading.revisions import parse_revision, reach
from kcpctl.apiserver.reading.selection import Selection
from kcpctl.apiserver.storage.base import Compacted, FutureRevision, Record
from kcpctl.apiserver.world import World

_CHUNK = 500
"""Records that are read, and looked at, before others may run: a millisecond or two with a label selector."""

_TURN = 0.002
"""Seconds after which others may run in any case: a selector may be very long."""

_TOO_OLD = "The resourceVersion for the provided list is too old."
_TOKEN_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


class Items(Sequence[bytes]):
    """The items of a list, each made when it is asked for; built-ins have no apiVersion and kind there."""

    def __init__(self, world: World, call: Call, records: Sequence[Record]) -> None:
        """Show these records."""
        self.records = records
        self._world = world
        self._call = call

    def __len__(self) -> int:
        """Return how many there are; that makes none of them."""
        return len(self.records)

    def __iter__(self) -> Iterator[bytes]:
        """Make one after the other."""
        item, served, scope = self._world.item, self._call.served, self._call.scope
        return (item(record, served, scope) for record in self.records)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> "Items": ...
    def __getitem__(self, index: int | slice) -> "bytes | Items":
        """Make one item, or say which ones are meant."""
        if isinstance(index, slice):
            return Items(self._world, self._call, self.records[index])
        return self._world.item(self.records[index], self._call.served, self._call.scope)


class ListResult(msgspec.Struct, frozen=True):
    """One answer to a list."""

    items: Items
    revision: int
    """The revision of every page of this list."""
    continue_: str = ""
    remaining: int | None = None
    """How many objects follow on later pages; None where there are none, or where selectors leave it open."""


async def list_(world: World, call: Call) -> ListResult:
    """Return what a list asks for; waits for a resourceVersion that has not been reached, and lets others run.

    Raises `Failure`: 400 and 422 for options, 410 where the revision is gone, 504 where it does not come.
    """
    options = await world.aside.do(len(call.query.raw), lambda: list_options(call))
    selection = Selection(call, options)
    start, revision = await _where_to_begin(world, call, options, selection.collection)
    is_cached_read = options.revision == "0" and not call.scope.is_cache  # such a read has no pages
    limit = 0 if is_cached_read else options.limit
    try:
        records, at, left = await _collect(world, selection, start=start, limit=limit, revision=revision)
    except Compacted as error:
        raise _expired(start, selection.collection, paging=bool(options.continue_)) from error
    except FutureRevision as error:
        raise too_large_revision(revision, error.current) from error
    items = Items(world, call, records)
    if not left:
        return ListResult(items, at)
    token = tokens.encode(_after(records[-1]), selection.collection, at)
    return ListResult(items, at, token, None if options.has_selector or not selection.takes_all_keys else left)


async def _where_to_begin(world: World, call: Call, options: ListOptions, prefix: str) -> tuple[str, int]:
    """Return the first key that may be in the answer, and the revision that it must show (0 for the newest)."""
    if options.continue_:
        start, revision = tokens.decode(options.continue_, prefix)
        if options.revision not in ("", "0"):
            raise bad_request("specifying resource version is not allowed when using continue")
        return start, max(revision, 0)
    try:
        revision = parse_revision(options.revision)
    except ValueError as error:
        raise bad_request(f"invalid resource version: {error}") from error
    if options.match == EXACT or (not options.match and options.limit):
        return "", revision  # a page of an old revision is exact even where nobody said so
    await reach(world, revision, call.scope)
    return "", 0


async def _collect(
    world: World, selection: Selection, *, start: str, limit: int, revision: int
) -> tuple[list[Record], int, int]:
    """Return (wanted records, their revision, how many keys were not looked at)."""
    found: list[Record] = []
    while True:
        size = min(_CHUNK, limit - len(found)) if limit and selection.takes_all else _CHUNK
        part = await world.storage.range(selection.prefix, start=start, limit=size, revision=revision)
        revision = part.revision
        if selection.takes_all:
            found += part.records
        else:
            began = perf_counter()
            for seen, record in enumerate(part.records, start=1):
                if perf_counter() - began > _TURN:
                    await asyncio.sleep(0)
                    began = perf_counter()
                if selection.wants(record):
                    found.append(record)
                    if len(found) == limit:
                        return found, revision, len(part.records) - seen + part.remaining
        if not part.remaining or len(found) == limit:
            return found, revision, part.remaining
        start = _after(part.records[-1])
        await asyncio.sleep(0)


def _after(record: Record) -> str:
    """Return the first key behind a record's."""
    return record.key + "\0"


def _expired(start: str, prefix: str, *, paging: bool) -> Failure:
    if not paging:
        return expired(_TOO_OLD)
    return expired(_TOKEN_TOO_OLD, continue_=tokens.encode(start, prefix, tokens.LATEST))
