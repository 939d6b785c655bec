"""Bodies of unknown length, read from the socket past aiohttp.

aiohttp spends about 4 µs on each chunk of a body, and servers write a chunk of at most 2 kB an object: as much as all
the rest of following a watch costs. So aiohttp makes the connection (names, TLS, proxies, the pool) and reads the head;
a chunked body is read here, into one buffer; and aiohttp gets the connection back when the body has ended.
"""

import asyncio
import re
import threading
from asyncio import BufferedProtocol, Future, TimerHandle, Transport

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

from informers.client.chunked import Dechunker

BUFFER = 2**16
"""Bytes read at once; of twice as many, each body would be fresh memory of the kernel's."""
_HELD = 2**18
_HEAD_START = b"HTTP/1."
_HEAD_END = b"\r\n\r\n"
_HEAD_LIMIT = 2**16
_INTERIM = re.compile(rb"HTTP/1\.\d 1(?!01)\d\d\b")
_CHUNKED = re.compile(rb"HTTP/1\.1 200\b.*\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n", re.IGNORECASE | re.DOTALL)
_LAST_CHUNK = b"0\r\n\r\n"


_of_thread = threading.local()


def _buffer() -> bytearray:
    """Return the thread's one buffer: what is read into it is taken out in the same step, whoever reads."""
    buffer: bytearray | None = getattr(_of_thread, "buffer", None)
    if buffer is None:
        buffer = _of_thread.buffer = bytearray(BUFFER)
        _of_thread.view = memoryview(buffer)
    return buffer


class TappedResponse(aiohttp.ClientResponse):
    """An answer whose body comes from `tap`, where that is open."""

    tap: "Tap | None" = None

    async def start(self, connection: Connection) -> "TappedResponse":
        """Read the head."""
        handler, transport = connection.protocol, connection.transport
        if self.method == "GET" and handler is not None and transport is not None and not handler.should_close:
            self.tap = Tap(handler, transport)
        await super().start(connection)
        return self


def tapped(response: aiohttp.ClientResponse) -> "Tap | None":
    """Return what the answer's body is to be read from; None where aiohttp has it."""
    tap = response.tap if isinstance(response, TappedResponse) else None
    return tap if tap is not None and tap.open else None


class Tap(BufferedProtocol):
    """Stands between a connection and aiohttp's protocol, and keeps the body to itself if it is a chunked one.

    Invariant: aiohttp gets each byte that is not of such a body, and in the end an empty one, so that for aiohttp the
    answer is as whole as it is here.
    """

    def __init__(self, handler: ResponseHandler, transport: Transport) -> None:
        """Read the transport in the handler's place from now on."""
        self._handler = handler
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._buffer = _buffer()
        self._view: memoryview = _of_thread.view
        self._head = b""
        self._dechunker: Dechunker | None = None
        self._pieces: list[bytes] = []
        self._held = 0
        self._paused = False
        self._ended = False
        self._error: Exception | None = None
        self._waiter: Future[None] | None = None
        self._heard = 0.0
        self._idle: float | None = None
        self._deadline: float | None = None
        self._timer: TimerHandle | None = None
        transport.set_protocol(self)

    @property
    def open(self) -> bool:
        """Whether the body comes from here."""
        return self._dechunker is not None

    def limit(self, idle: float | None, deadline: float | None) -> None:
        """Let the body have at most `idle` seconds between two pieces, and end at the loop's time `deadline`."""
        self._idle, self._deadline = idle, deadline
        self._heard = self._loop.time()
        self._watch_clock()

    async def read(self) -> bytes:
        """Return what has come of the body, at least a byte; b"" at its end.

        Raises `aiohttp.ClientPayloadError` where it breaks off, `aiohttp.SocketTimeoutError` on silence and
        `TimeoutError` at the deadline.
        """
        while not self._pieces:
            if self._error is not None:
                raise self._error
            if self._ended:
                return b""
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        if self._paused:
            self._paused = False
            self._heard = self._loop.time()
            self._transport.resume_reading()
        return body

    def get_buffer(self, sizehint: int) -> memoryview:
        """Give the memory to read into; asyncio's TLS puts a second record behind the first by slicing what it got."""
        return self._view

    def buffer_updated(self, nbytes: int) -> None:
        """Take what was read."""
        if self._dechunker is None:
            self._take_head(bytes(self._buffer[:nbytes]))
        else:
            self._heard = self._loop.time()
            self._take_body(self._dechunker, self._buffer, nbytes)

    def eof_received(self) -> None:
        """Pass on that the server says no more."""
        self._handler.eof_received()

    def pause_writing(self) -> None:
        """Pass on that the request waits."""
        self._handler.pause_writing()

    def resume_writing(self) -> None:
        """Pass on that the request goes on."""
        self._handler.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the body, and pass it on."""
        self._paused = False  # whoever reads what is left must not ask for more
        self._handler.connection_lost(exc)
        if not self._ended:
            error = aiohttp.ClientPayloadError(str(exc) if exc else "it ended before the body did")
            error.__cause__ = exc
            self._fail(error)

    def _take_head(self, data: bytes) -> None:
        """Pass the head on; what follows it too, unless it is a chunked body.

        What does not begin as a head does is no answer, or the rest of one whose beginning aiohttp has had.
        """
        whole = self._head + data
        end = whole.find(_HEAD_END)
        if end < 0 and len(whole) < _HEAD_LIMIT and whole.startswith(_HEAD_START[: len(whole)]):
            self._head = whole
            return
        self._head = b""
        stop = end + len(_HEAD_END)
        if end >= 0 and _INTERIM.match(whole):
            self._handler.data_received(whole[:stop])
            if stop < len(whole):
                self._take_head(whole[stop:])
        elif end >= 0 and _CHUNKED.match(whole, 0, stop):
            self._dechunker = Dechunker()
            self._handler.read_timeout = None
            self._handler.data_received(whole[:stop])
            self._take_body(self._dechunker, whole[stop:], len(whole) - stop)
        else:
            self._leave(whole)

    def _take_body(self, dechunker: Dechunker, data: bytes | bytearray, end: int) -> None:
        body, used = dechunker.feed(data, end)
        if body:
            self._pieces.append(body)
            self._held += len(body)
            if self._held > _HELD and not self._paused:
                self._paused = True
                self._transport.pause_reading()
        if dechunker.finished:
            self._end()
            if self._paused:
                self._paused = False
                self._transport.resume_reading()
            self._leave(_LAST_CHUNK + data[used:end])
        elif dechunker.error is not None:
            self._fail(aiohttp.ClientPayloadError(str(dechunker.error)))
            self._transport.abort()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _leave(self, data: bytes) -> None:
        """Give the connection back to aiohttp."""
        self._transport.set_protocol(self._handler)
        self._handler.data_received(data)

    def _end(self) -> None:
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()

    def _fail(self, error: Exception) -> None:
        self._error = self._error or error
        self._end()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _watch_clock(self) -> None:
        """Fail the body when it has run out of time, else look again when it may have."""
        now = self._loop.time()
        silent_at = None if self._idle is None or self._paused else self._heard + self._idle
        if silent_at is not None and now >= silent_at:
            self._fail(aiohttp.SocketTimeoutError())
        elif self._deadline is not None and now >= self._deadline:
            self._fail(TimeoutError())
        elif not self._ended:
            look = [t for t in (silent_at, self._deadline) if t is not None]
            if self._paused and self._idle is not None:
                look.append(now + self._idle)
            if look:
                self._timer = self._loop.call_at(min(look), self._watch_clock)
