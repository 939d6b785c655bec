"""Watch: the state of a collection, or not, and then every change, as kube-apiserver's table of options says.

| resourceVersion | sendInitialEvents unset | true                            | false                 |
|-----------------|-------------------------|---------------------------------|-----------------------|
| unset, 0        | the state, then changes | the state, then changes         | changes from now on   |
| N               | changes after N         | the state at N or later, …      | changes after N       |
| N, too old      | one ERROR event (410)   | the state, …                    | one ERROR event (410) |
| N, not reached  | silence until then      | one ERROR event (504) after 3 s | silence until then    |

Where bookmarks are allowed, one that says so ends the state, whether the client asked for a streamed list or not: so do
servers since 1.34.
A shard stays silent for a revision that it has not reached, as kube-apiserver does; its revisions begin at the wall
clock (`first_revision`), so only a client that comes from another server can hold such a one. A cache server answers
410 in every column: its clients are shards that outlive it, and its store may come back older than they remember it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Self

from kcpctl.apiserver.call import Call
from kcpctl.apiserver.failures import Failure, expired, untyped
from kcpctl.apiserver.reading import events
from kcpctl.apiserver.reading.alarm import Alarm
from kcpctl.apiserver.reading.options import ListOptions, list_options
from kcpctl.apiserver.reading.revisions import parse_revision, reach
from kcpctl.apiserver.reading.selection import Selection
from kcpctl.apiserver.storage.base import Change, Compacted, Feed, Record
from kcpctl.apiserver.world import Event, World

_AT_ONCE = 128
"""Events that are made before others may run: they are one chunk, which a client in this process reads in one step."""

_SECONDS = (1800.0, 3600.0)
"""Between these a watch ends by itself where the client names no time, as with kube-apiserver's default flags."""

_TOO_OLD = "The resourceVersion for the provided watch is too old."

_STATE_CHUNK = 500
"""Records of the initial state that are fetched, and looked at, before others may run."""


def watch(world: World, call: Call) -> "Watch":
    """Check what a watch asks for, and return its events as they come.

    Raises `Failure`: 400 and 422 for options, 500 without a reason for a resourceVersion that is none. What goes wrong
    later is an ERROR event.
    """
    options = list_options(call)
    try:
        revision = parse_revision(options.revision)
    except ValueError as error:
        raise untyped(str(error)) from error
    return Watch(world, call, options, revision)


class Watch:
    """One watch: an async iterator of events, several at a time when several are there.

    It ends when its time is up, the kind is retired, the store closes, or its client was too slow for the kept history.
    Nothing is held before the first iteration, and nothing after the end or `aclose`, which its owner must call.
    """

    def __init__(self, world: World, call: Call, options: ListOptions, revision: int) -> None:
        """Use `watch`."""
        self._world = world
        self._call = call
        self._options = options
        self._selection = Selection(call, options)
        self._begin = revision
        self._step: Callable[[], Awaitable[list[Event]]] | None = self._start
        self._alarm: Alarm | None = None
        self._feed: Feed | None = None
        self._state_from: str | None = ""
        self._records: Sequence[Record] = ()
        self._changes: Sequence[Change] = ()
        self._position = 0
        self._retired = False

    def __aiter__(self) -> Self:
        """Return itself."""
        return self

    async def __anext__(self) -> list[Event]:
        """Wait for the next events."""
        while self._step is not None:
            try:
                found = await self._step()
            except Failure as failure:
                await self.aclose()
                return [events.error(failure)]
            if found:
                return found
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """End the watch and let go of what it holds."""
        self._step = None
        self._world.not_watching(self._call.served, self._retire)
        if self._alarm is not None:
            self._alarm.stop()
        if self._feed is not None:
            await self._feed.aclose()

    async def _start(self) -> list[Event]:
        """Find out where the changes begin, and what comes before them."""
        world, options = self._world, self._options
        seconds = options.timeout or world.rng.uniform(*_SECONDS)
        self._alarm = Alarm(world.clock, seconds, bookmarks=options.bookmarks, ring=self._nudge)
        world.watching(self._call.served, self._retire)
        if not _is_served(world, self._call):
            self._retire()  # it changed between the request and the first event
        state_first = options.initial_events if options.initial_events is not None else not self._begin
        if self._call.scope.is_cache and self._begin > world.storage.revision:
            raise expired(f"resource version {self._begin} is ahead of this server ({world.storage.revision})")
        if state_first:
            await reach(world, self._begin, self._call.scope)
        if state_first or not self._begin:
            self._begin = world.storage.revision
        self._feed = world.storage.watch(self._selection.prefix, self._begin)
        self._step = self._state if state_first else self._first_changes
        return []

    async def _state(self) -> list[Event]:
        """Return a part of the state as ADDED events; behind its end there may be a bookmark that says so."""
        if not self._records and self._state_from is not None:
            self._records, self._state_from = await self._fetch_state(self._state_from)
        records, self._records = self._records[:_AT_ONCE], self._records[_AT_ONCE:]
        found = events.added(self._world, self._call, records)
        if self._records or self._state_from is not None:
            await asyncio.sleep(0)
        else:
            self._step = self._follow
            if self._options.bookmarks:
                found.append(events.bookmark(self._call.served, self._begin, ends_state=True))
        return found

    async def _fetch_state(self, start: str) -> tuple[list[Record], str | None]:
        """Return the next wanted records, and where those after them begin; None behind the end."""
        try:
            part = await self._world.storage.range(
                self._selection.prefix, start=start, limit=_STATE_CHUNK, revision=self._begin
            )
        except Compacted as error:
            raise expired(_TOO_OLD) from error
        wanted = list(filter(self._selection.wants, part.records))
        return wanted, part.records[-1].key + "\0" if part.remaining else None

    async def _first_changes(self) -> list[Event]:
        """Return the first changes, unless they are gone: then that is all the client hears."""
        self._step = self._follow
        try:
            return await self._next_events()
        except Compacted as error:
            raise expired(f"too old resource version: {self._begin} ({error.oldest})") from error

    async def _follow(self) -> list[Event]:
        """Return the next changes; a client that falls behind the kept history is cut off and resumes by itself."""
        try:
            return await self._next_events()
        except Compacted:
            await self.aclose()
            return []

    async def _next_events(self) -> list[Event]:
        assert self._feed is not None
        assert self._alarm is not None
        if self._changes:
            await asyncio.sleep(0)  # a big batch lets others run between its parts
        elif self._retired or self._alarm.is_over or not await self._next_batch(self._feed):
            await self.aclose()
            return []
        changes, self._changes = self._changes[:_AT_ONCE], self._changes[_AT_ONCE:]
        found = list(events.changed(self._world, self._call, self._selection, changes))
        if not self._changes and self._alarm.bookmark_due() and self._position >= self._begin:
            found.append(events.bookmark(self._call.served, self._position))
        return found

    async def _next_batch(self, feed: Feed) -> bool:
        """Wait for changes or a nudge; say whether the store still goes on."""
        try:
            batch = await anext(feed)
        except StopAsyncIteration:
            return False
        self._changes, self._position = batch.changes, batch.revision
        return True

    def _retire(self) -> None:
        self._retired = True
        self._nudge()

    def _nudge(self) -> None:
        if self._feed is not None:
            self._feed.nudge()


def _is_served(world: World, call: Call) -> bool:
    served = call.served
    return world.catalog.find(call.scope.cluster, served.group, served.version, served.plural) is served
