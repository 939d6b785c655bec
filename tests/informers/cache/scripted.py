"""A server in virtual time that keeps to the rules of lists and watches, and breaks them when it is told to.

It is a model, not a mock: tests change its objects and its health, and look at what an informer makes of it.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from informers.api.decoding import Page, Reader, WatchEvent
from informers.api.errors import ConnectionRefused, Disconnected, InformersError, api_error
from informers.api.histories import UNTOLD, Lineage, Told, untold
from informers.api.resources import Collection
from informers.api.status import Status, StatusDetails
from informers.clock import VirtualClock
from tests.informers.cache.making import body

BOOKMARK_PERIOD = 60.0


def failure(code: int, reason: str = "", message: str = "", retry_after: int = 0) -> InformersError:
    """Return the error that a failed answer becomes."""
    details = StatusDetails(retry_after_seconds=retry_after) if retry_after else None
    return api_error(Status(message=message or f"scripted {code}", reason=reason, code=code, details=details))


EXPIRED = failure(410, "Expired")


def too_large(current: int) -> InformersError:
    """Return what a server says that has not reached a revision."""
    return failure(504, "Timeout", f"Too large resource version: current: {current}")


def status_line(code: int, reason: str = "") -> bytes:
    """Return an ERROR event."""
    status = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": f"scripted {code}"}
    return json.dumps({"type": "ERROR", "object": status}).encode()


def event_line(kind: str, raw: bytes) -> bytes:
    """Return a watch line."""
    return b'{"type":"%s","object":%s}' % (kind.encode(), raw)


def bookmark_line(revision: int, *, ends_state: bool = False) -> bytes:
    """Return a bookmark."""
    meta: dict[str, Any] = {"resourceVersion": str(revision)}
    if ends_state:
        meta["annotations"] = {"k8s.io/initial-events-end": "true"}
    return json.dumps({"type": "BOOKMARK", "object": {"kind": "Widget", "metadata": meta}}).encode()


@dataclass(frozen=True)
class Asked:
    """One request, as the server saw it."""

    verb: str
    at: float
    rv: str | None
    limit: int = 0
    continue_: str = ""
    match: str = ""
    initial_events: bool = False
    timeout: float = 0.0
    metadata_only: bool = False

    def __str__(self) -> str:
        return f"{self.verb} rv={self.rv!r}"


class Stream:
    """One open watch."""

    def __init__(self, reader: Reader[Any], after: int) -> None:
        self.after = after
        """Only events after this revision are for it, however far in the future that is."""
        self._reader = reader
        self._items: asyncio.Queue[list[bytes] | Exception | None] = asyncio.Queue()
        self.open = True
        self.muted = False

    def send(self, *lines: bytes) -> None:
        if not self.muted:
            self._items.put_nowait(list(lines))

    def end(self, error: Exception | None = None) -> None:
        if self.open:
            self.open = False
            if not self.muted:
                self._items.put_nowait(error)

    def mute(self) -> None:
        """Bring nothing any more, not even an end: a half-open connection."""
        self.muted = True

    def __aiter__(self) -> "Stream":
        return self

    async def __anext__(self) -> list[WatchEvent[Any]]:
        item = await self._items.get()
        if item is None:
            raise StopAsyncIteration
        if isinstance(item, Exception):
            raise item
        return [self._reader.event(line) for line in item]


Fault = InformersError | Callable[["Stream"], None]
"""An error instead of an answer, or what happens to a watch right after it was accepted."""


@dataclass
class Server:
    """Widgets with a revision, a history of events, and watches."""

    clock: VirtualClock
    revision: int = 100
    compacted: int = 0
    """Watches and continue tokens from before this revision have expired."""
    streams_state: bool = True
    """Whether it knows sendInitialEvents; else it refuses such watches."""
    bookmarks: bool = True
    largest_page: int = 0
    """The most objects that a page has, whatever was asked for; 0: no limit."""
    stuck: bool = False
    """Whether a continue token leads to the page that it came with."""
    refuses_future: bool = False
    """Whether a watch from a future revision is answered 504, as by a watch cache, instead of staying silent."""
    latency: float = 0.0
    """Seconds until a request is answered."""
    down: bool = False
    lineage: Lineage = UNTOLD
    """What it says of its store; by default nothing, as everybody else's servers do."""
    shows_past: bool = True
    """Whether it knows resourceVersionMatch=Exact; else it refuses such lists."""
    objects: dict[str, bytes] = field(default_factory=dict)
    history: list[tuple[int, bytes]] = field(default_factory=list)
    before: list[tuple[int, str, bytes | None]] = field(default_factory=list)
    """What each change replaced, oldest first."""
    begun: int = 0
    """The revision from which on the past can be told."""
    asked: list[Asked] = field(default_factory=list)
    faults: dict[str, deque[Fault]] = field(
        default_factory=lambda: {"list": deque(), "exact": deque(), "watch": deque(), "state": deque()}
    )
    """What goes wrong with the next lists, exact ones, watches, and watches that ask for the state first, one each."""
    streams: list[Stream] = field(default_factory=list)
    most_streams: int = 0
    terms: int = 0

    # What happens on the server

    def put(self, name: str, **fields: Any) -> None:
        """Create or change a widget."""
        kind = "MODIFIED" if name in self.objects else "ADDED"
        self.revision += 1
        self._remember(name)
        self.objects[name] = body(name, rv=self.revision, **fields)
        self._happen(event_line(kind, self.objects[name]))

    def put_raw(self, name: str, raw: bytes) -> None:
        """Store something that need not be an object."""
        kind = "MODIFIED" if name in self.objects else "ADDED"
        self.revision += 1
        self._remember(name)
        self.objects[name] = raw
        self._happen(event_line(kind, raw))

    def delete(self, name: str) -> None:
        """Delete a widget; the event carries the revision of the deletion."""
        self.revision += 1
        self._remember(name)
        raw = self.objects.pop(name)
        try:
            last = json.loads(raw)
            last["metadata"]["resourceVersion"] = str(self.revision)
            raw = json.dumps(last).encode()
        except (ValueError, TypeError, KeyError):
            pass  # what cannot be read goes as it was
        self._happen(event_line("DELETED", raw))

    def compact(self) -> None:
        """Forget all history."""
        self.compacted = self.revision

    def lose_history(self, revision: int = 1) -> None:
        """Come back with the same objects at lower revisions, as from a backup, or on another shard."""
        self.revision, self.compacted, self.history = revision, 0, []
        self.before.clear()
        for name, raw in self.objects.items():
            self.revision += 1
            obj = json.loads(raw)
            obj["metadata"]["resourceVersion"] = str(self.revision)
            self.objects[name] = json.dumps(obj).encode()
        self.begun = self.revision
        self.cut()

    def be_replaced(self, revision: int, lineage: Lineage = UNTOLD, **objects: bytes) -> None:
        """Be another server from now on, which holds these objects only; connections break."""
        self.revision = self.begun = revision
        self.objects, self.lineage, self.compacted = dict(objects), lineage, 0
        self.history.clear()
        self.before.clear()
        self.cut()

    def copied(self) -> Callable[[], None]:
        """Copy the data; what is returned restores that copy, in terms of its own, and breaks all connections."""
        numbers = (self.revision, self.begun, self.compacted, self.lineage)
        objects, history, before = dict(self.objects), list(self.history), list(self.before)

        def restore() -> None:
            self.revision, self.begun, self.compacted, self.lineage = numbers
            self.objects, self.history, self.before = dict(objects), list(history), list(before)
            self.restart()

        return restore

    def restart(self) -> None:
        """Start anew over the same data: another term begins, and all connections break."""
        if self.lineage.store:
            terms = [term for term in self.lineage.terms if term[1] <= self.revision]
            self.terms += 1
            self.lineage = Lineage(self.lineage.store, (*terms, (f"term-{self.terms}", self.revision)))
        self.cut()

    def cut(self) -> None:
        """Break all connections."""
        self._end_all(Disconnected("scripted cut"))

    def close_watches(self) -> None:
        """End all watches cleanly, before their time."""
        self._end_all(None)

    def go_down(self) -> None:
        """Stop listening."""
        self.down = True
        self.cut()

    def send(self, *lines: bytes) -> None:
        """Send lines of any kind to all watches, as one chunk."""
        for stream in self.open_streams:
            stream.send(*lines)

    def fail_next(self, verb: str, *faults: Fault) -> None:
        """Let the next requests of the verb go wrong, one each."""
        self.faults[verb].extend(faults)

    @property
    def open_streams(self) -> list[Stream]:
        """The watches that are open."""
        return [stream for stream in self.streams if stream.open]

    def of(self, verb: str) -> list[Asked]:
        """Return the requests of one verb."""
        return [asked for asked in self.asked if asked.verb == verb]

    # What a client sees

    async def list_page(
        self,
        collection: Collection[Any],
        *,
        reader: Reader[Any],
        limit: int = 0,
        continue_: str = "",
        rv: str | None = None,
        match: str = "",
        metadata_only: bool = False,
        told: Told = untold,
    ) -> Page[Any]:
        """Answer a list as an API server does; continue tokens are `revision/offset`."""
        verb = "exact" if match == "Exact" else "list"
        self.asked.append(Asked(verb, self.clock.monotonic(), rv, limit, continue_, match, metadata_only=metadata_only))
        await self.clock.sleep(self.latency)
        self._fault(verb)
        if verb == "exact" and not self.shows_past:
            raise failure(422, "Invalid", "resourceVersionMatch is forbidden")
        objects = self._at(int(rv)) if verb == "exact" and rv else self.objects
        told(self.lineage)
        revision, start = int(rv) if verb == "exact" and rv else self.revision, 0
        limit = min(size for size in (limit, self.largest_page, 10**9) if size)
        if continue_:
            revision, start = map(int, continue_.split("/"))
            start -= limit if self.stuck else 0
            if revision < self.compacted:
                raise EXPIRED
        elif rv and int(rv) > self.revision:
            raise too_large(self.revision)
        items = list(objects.values())[start : start + limit]
        more = f"{revision}/{start + limit}" if start + limit < len(objects) else ""
        meta = json.dumps({"resourceVersion": str(revision), "continue": more}).encode()
        return reader.page(b'{"kind":"WidgetList","metadata":%s,"items":[%s]}' % (meta, b",".join(items)))

    @asynccontextmanager
    async def watch_batches(
        self,
        collection: Collection[Any],
        *,
        reader: Reader[Any],
        rv: str | None = None,
        timeout: float = 300.0,
        bookmarks: bool = True,
        initial_events: bool = False,
        told: Told = untold,
    ) -> AsyncIterator[Stream]:
        """Answer a watch as an API server does, until its timeout."""
        self.asked.append(Asked("watch", self.clock.monotonic(), rv, initial_events=initial_events, timeout=timeout))
        await self.clock.sleep(self.latency)
        fault = self._fault("watch") or (self._fault("state") if initial_events else None)
        if initial_events and not self.streams_state:
            raise failure(422, "Invalid", "sendInitialEvents is forbidden")
        if rv and int(rv) > self.revision and (self.refuses_future or initial_events):
            raise too_large(self.revision)
        told(self.lineage)
        stream = Stream(reader, 0 if initial_events else int(rv or 0))
        self.streams.append(stream)
        self.most_streams = max(self.most_streams, len(self.open_streams))
        try:
            if fault is None:
                self._begin(stream, rv, initial_events=initial_events)
            else:
                fault(stream)
            self.clock.call_at(self.clock.monotonic() + timeout, stream.end)
            if bookmarks and self.bookmarks:
                self._bookmark_later(stream)
            yield stream
        finally:
            stream.end()

    def _begin(self, stream: Stream, rv: str | None, *, initial_events: bool) -> None:
        if initial_events:
            state = [event_line("ADDED", raw) for raw in self.objects.values()]
            stream.send(*state, bookmark_line(self.revision, ends_state=True))
        elif int(rv or 0) < self.compacted:
            stream.send(status_line(410, "Expired"))
            stream.end()
        else:
            missed = [line for revision, line in self.history if revision > int(rv or 0)]
            if missed:
                stream.send(*missed)

    def _remember(self, name: str) -> None:
        """Note what the change of this revision replaces."""
        self.before.append((self.revision, name, self.objects.get(name)))

    def _at(self, revision: int) -> dict[str, bytes]:
        """Return what there was at a revision."""
        if revision > self.revision:
            raise too_large(self.revision)
        if revision < max(self.begun, self.compacted):
            raise EXPIRED
        found = dict(self.objects)
        for changed, name, was in reversed(self.before):
            if changed > revision:
                if was is None:
                    found.pop(name, None)
                else:
                    found[name] = was
        return found

    def _bookmark_later(self, stream: Stream) -> None:
        def send() -> None:
            if stream.open and self.bookmarks:
                if self.revision >= stream.after:
                    stream.send(bookmark_line(self.revision))
                self._bookmark_later(stream)

        self.clock.call_at(self.clock.monotonic() + BOOKMARK_PERIOD, send)

    def _happen(self, line: bytes) -> None:
        self.history.append((self.revision, line))
        for stream in self.open_streams:
            if self.revision > stream.after:
                stream.send(line)

    def _end_all(self, error: Exception | None) -> None:
        for stream in self.open_streams:
            stream.end(error)

    def _fault(self, verb: str) -> Callable[[Stream], None] | None:
        if self.down:
            raise ConnectionRefused("scripted: nobody listens")
        fault = self.faults[verb].popleft() if self.faults[verb] else None
        if isinstance(fault, Exception):
            raise fault
        return fault
