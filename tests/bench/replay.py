"""A server that replays one large collection as fast as it can: lists, streamed lists, and a storm of events.

Plain HTTP/1.1 on 127.0.0.1. `POST /start?events=N` modifies N times, and every open watch shows it at full speed. Run
as `python -m tests.bench.replay` it prints its address as one JSON line, and ends with its standard input.
"""

import argparse
import asyncio
import json
import sys
from asyncio import IncompleteReadError, Queue, StreamReader, StreamWriter, TaskGroup
from collections.abc import Iterable
from typing import NamedTuple, get_args
from urllib.parse import parse_qs, urlsplit

from tests.bench.collection import Collection, chunked
from tests.bench.objects import Labels

SLICES = "/apis/bench.example.com/v1/slices"
CONFIGMAPS = "/api/v1/configmaps"
"""The same objects under a built-in's path, for clients whose informers know no others."""

_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
_YES = ("true", "True", "1")
_UNSENT = 1 << 20  # bytes that a connection may hold back before the next block is made


class Habits(NamedTuple):
    """What kind of server this is."""

    watchlist: bool = True
    """Off: streamed lists are refused with 422, as by servers with the feature switched off."""
    whole_at_zero: bool = True
    """Whether a list at resourceVersion=0 ignores its limit, as servers with a watch cache do."""
    chunk: int = 2048
    """Bytes of an HTTP chunk, in lists as in watches; Go's servers, that is all real ones, send 2048."""


class Refused(Exception):
    """A request that is answered with a Status."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        """Take what the Status says."""
        super().__init__(message)
        self.code = code
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        self.status = json.dumps(status | {"message": message, "reason": reason, "code": code}).encode()


class Replay:
    """Serves one collection at one path, and shows its changes to whoever watches."""

    def __init__(self, collection: Collection, path: str, habits: Habits) -> None:
        """Serve the collection at the path."""
        self.collection = collection
        self._path = path
        self._habits = habits
        self._watchers: dict[Queue[Iterable[bytes] | None], bool] = {}  # → wants bookmarks
        self._watched = asyncio.Event()

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Answer one connection's requests until it closes."""
        writer.transport.set_write_buffer_limits(high=_UNSENT)
        try:
            while True:
                method, target, length = _head(await reader.readuntil(b"\r\n\r\n"))
                await reader.readexactly(length)
                await self._answer(method, target, reader, writer)
        except (IncompleteReadError, ConnectionError):
            pass  # the client has gone
        finally:
            writer.close()

    async def _answer(self, method: str, target: str, reader: StreamReader, writer: StreamWriter) -> None:
        url = urlsplit(target)
        query = {name: values[-1] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        try:
            if (method, url.path) == ("POST", "/start"):
                await self._start(int(query["events"]))
                _send(writer, 200, b"{}\n")
            elif (method, url.path) != ("GET", self._path):
                raise Refused(404, "NotFound", f"expected GET {self._path} or POST /start, found {method} {url.path}")
            elif query.get("watch") in _YES:
                await self._watch(query, reader, writer)
            else:
                page = self._list(query)
                writer.write(_STREAM)
                await self._stream(page, writer)
                writer.write(b"0\r\n\r\n")
        except Refused as refused:
            _send(writer, refused.code, refused.status)

    def _list(self, query: dict[str, str]) -> list[bytes]:
        limit = int(query.get("limit") or 0)
        revision, _, start = query.get("continue", "").partition(".")
        if not start:
            whole = self._habits.whole_at_zero and query.get("resourceVersion") == "0"
            return self.collection.page(0, 0 if whole else limit)
        if int(revision) != self.collection.revision:
            raise Refused(410, "Expired", f"the continue token's revision {revision} is gone; list anew")
        return self.collection.page(int(start), limit)

    async def _watch(self, query: dict[str, str], reader: StreamReader, writer: StreamWriter) -> None:
        streamed = query.get("sendInitialEvents") in _YES
        bookmarks = query.get("allowWatchBookmarks") in _YES
        revision = query.get("resourceVersion", "")
        if streamed and not self._habits.watchlist:
            raise Refused(422, "Invalid", "sendInitialEvents: Forbidden: this server has no streamed lists")
        whole = streamed or revision in ("", "0")
        if not whole and revision != str(self.collection.revision):
            raise Refused(410, "Expired", f"expected revision {self.collection.revision}, found {revision}; list anew")
        waiting: Queue[Iterable[bytes] | None] = Queue()
        if whole:
            waiting.put_nowait(self.collection.added())
        if streamed and bookmarks:
            waiting.put_nowait([self.collection.bookmark(initial_events_end=True)])
        self._watchers[waiting] = bookmarks
        self._watched.set()
        try:
            async with TaskGroup() as group:
                group.create_task(_notice_end(reader, waiting))
                writer.write(_STREAM)
                while (blocks := await waiting.get()) is not None:
                    await self._stream(blocks, writer)
        finally:
            del self._watchers[waiting]
            if not self._watchers:
                self._watched.clear()

    async def _stream(self, blocks: Iterable[bytes], writer: StreamWriter) -> None:
        for block in chunked(blocks, self._habits.chunk):
            writer.write(block)
            await writer.drain()

    async def _start(self, events: int) -> None:
        """Modify that many times, as soon as somebody watches."""
        try:
            await asyncio.wait_for(self._watched.wait(), 30)
        except TimeoutError:
            raise Refused(409, "Conflict", "expected an open watch within 30 s, found none") from None
        changes = self.collection.advance(events)
        for waiting, bookmarks in self._watchers.items():
            waiting.put_nowait(self.collection.modified(changes))
            if bookmarks:
                waiting.put_nowait([self.collection.bookmark()])


def _head(head: bytes) -> tuple[str, str, int]:
    """Return method, target and length of the body."""
    request, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = request.split(" ")
    headers = dict(line.lower().split(": ", 1) for line in lines if line)
    return method, target, int(headers.get("content-length", 0))


async def _notice_end(reader: StreamReader, waiting: "Queue[Iterable[bytes] | None]") -> None:
    await reader.read(1)  # a client that watches says no more, so this is its end
    waiting.put_nowait(None)


def _send(writer: StreamWriter, code: int, body: bytes) -> None:
    head = b"HTTP/1.1 %d -\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    writer.write(head % (code, len(body)) + body)


async def _run(arguments: argparse.Namespace) -> None:
    kind, api_version = ("ConfigMap", "v1") if arguments.path == CONFIGMAPS else ("Slice", "bench.example.com/v1")
    collection = Collection(kind, api_version, arguments.objects, arguments.labels)
    habits = Habits(arguments.watchlist, arguments.whole_at_zero, arguments.chunk)
    server = await asyncio.start_server(Replay(collection, arguments.path, habits).serve, "127.0.0.1", arguments.port)
    async with server:
        host, port = server.sockets[0].getsockname()
        print(json.dumps({"url": f"http://{host}:{port}", "path": arguments.path}), flush=True)
        await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--path", choices=(SLICES, CONFIGMAPS), default=SLICES)
    parser.add_argument("--objects", type=int, default=20_000)
    parser.add_argument("--labels", choices=get_args(Labels), default="shared")
    parser.add_argument("--watchlist", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--whole-at-zero", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--chunk", type=int, default=2048, help="bytes of an HTTP chunk")
    asyncio.run(_run(parser.parse_args()))


if __name__ == "__main__":
    main()
