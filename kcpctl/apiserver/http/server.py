"""The API server on a socket: HTTP/1.1 over TLS, by aiohttp's low-level server."""

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from errno import EADDRINUSE
from functools import partial

from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.web_protocol import RequestPayloadError
from aiohttp.web_request import BaseRequest

from kcpctl.apiserver.exchange import Answer, Application, Incoming
from kcpctl.apiserver.failures import Failure, bad_request, failure
from kcpctl.apiserver.http import requests, streams
from kcpctl.apiserver.http.connections import SERVER, Connections, Limits, refusal, whole
from kcpctl.apiserver.writing.decoding import LARGEST_BODY

_MAX_HEAD = 1024 * 1024
"""Bytes of a request line or header: Go's limit for all of them together."""
_BACKLOG = 1024
_MOST_HEADERS = 1000
_LIMITS = Limits()
_AT_ONCE = 0.001
"""To aiohttp, no time at all means no limit."""


class PortTaken(OSError):
    """Somebody else listens on that address and port."""

    def __init__(self, host: str, port: int) -> None:
        """Keep what was asked for."""
        super().__init__(EADDRINUSE, f"cannot listen on {host}:{port}: the port is taken")
        self.host = host
        self.port = port


class _ClientFaults(logging.Filter):
    """Keeps out what only clients do: malformed requests, which have their 400, and going away before the answer."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, HttpProcessingError | ConnectionError)


_log = logging.getLogger(__name__)
_log.addFilter(_ClientFaults())


class Listening:
    """A running server; `serving` makes and ends it."""

    def __init__(self, app: Application, limits: Limits = _LIMITS) -> None:
        """Answer with the application; of the limits those of bodies are kept here."""
        self.address = ""
        """Such as `https://127.0.0.1:6443`."""
        self.port = 0
        self._app = app
        self._limits = limits
        self._endings: set[asyncio.Timeout] = set()
        self._in_flight = 0
        self._idle = asyncio.Event()
        self._stopping = False

    async def handle(self, request: BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        self._in_flight += 1
        try:
            response = await self._respond(request)
            if self._stopping:
                response.force_close()
            return response
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()

    async def _respond(self, request: BaseRequest) -> web.StreamResponse:
        try:
            body = await self._body(request) if request.body_exists else b""
        except TimeoutError:
            return _refused(failure(408, "Timeout", f"expected the whole body within {self._limits.body:g} s"), request)
        except RequestPayloadError as error:
            return _refused(bad_request(f"expected a body as its headers announce it, found: {error}"), request)
        response = await self._answer(request, requests.incoming(request, body))
        if len(body) > LARGEST_BODY:
            response.force_close()  # the rest of the body is on its way, and nobody wants it
        return response

    async def _body(self, request: BaseRequest) -> bytes:
        if request.content.is_eof():  # it came with the head
            return await requests.read_body(request)
        async with asyncio.timeout(self._limits.body):
            return await requests.read_body(request)

    async def _answer(self, request: BaseRequest, incoming: Incoming) -> web.StreamResponse:
        answer = await self._app(incoming)
        gzip = not answer.live and "gzip" in incoming.headers.get("accept-encoding", "")
        if isinstance(answer.body, bytes):
            if not gzip or len(answer.body) <= streams.GZIP_OVER:
                return whole(answer)
            return await self._send(request, answer, streams.pieces(answer.body), gzip=True)
        try:
            return await self._send(request, answer, answer.body, gzip=gzip)
        finally:
            await streams.close(answer.body)  # whatever happened, and as soon as the client has gone

    async def _send(
        self, request: BaseRequest, answer: Answer, stream: AsyncIterator[bytes], *, gzip: bool
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=answer.status, headers=[*answer.headers, SERVER])
        if gzip:
            response.headers["Content-Encoding"] = "gzip"
            response.headers.add("Vary", "Accept-Encoding")
            stream = streams.gzipped(stream)
        if self._stopping:
            response.force_close()
        await response.prepare(request)
        ending = asyncio.timeout(0 if self._stopping and answer.live else None)
        try:
            async with ending:
                if answer.live:
                    self._endings.add(ending)
                async for chunk in stream:
                    await response.write(chunk)
        except TimeoutError:
            if not ending.expired():
                raise
        finally:
            self._endings.discard(ending)
        await response.write_eof()
        return response

    async def stop(self, server: web.Server, grace: float) -> None:
        """End watches by EOF, wait for everything else in flight, at most `grace` seconds, and close connections."""
        self._stopping = True
        now = asyncio.get_running_loop().time()
        for ending in self._endings:
            ending.reschedule(now)
        server.pre_shutdown()
        self._idle.clear()
        if self._in_flight:
            try:
                async with asyncio.timeout(grace):
                    await self._idle.wait()
            except TimeoutError:
                pass  # what is still in flight is cancelled below
        await server.shutdown(_AT_ONCE)
        while self._in_flight:  # they have been cancelled
            self._idle.clear()
            await self._idle.wait()


@asynccontextmanager
async def serving(
    app: Application,
    *,
    host: str = "127.0.0.1",
    port: int = 6443,
    tls: ssl.SSLContext | None = None,
    grace: float = 10.0,
    limits: Limits = _LIMITS,
    bound: socket.socket | None = None,
) -> AsyncIterator[Listening]:
    """Serve the application as long as the block runs; leaving it stops in order.

    Port 0 takes a free one. `grace` is how long, in seconds, requests in flight may take to finish, `limits` what
    clients have for theirs. `bound` is a socket that `bind` took for the host; it is closed at the end. Raises
    `PortTaken`.
    """
    listening = Listening(app, limits)
    # A client that goes away cancels its request, so that a watch that has nothing to write ends, too.
    server = Connections(
        listening.handle,
        limits,
        handler_cancellation=True,
        access_log=None,
        logger=_log,
        auto_decompress=False,  # kube-apiserver does not, and a small body could become a huge one
        max_line_size=_MAX_HEAD,
        max_field_size=_MAX_HEAD,
        max_headers=_MOST_HEADERS,
    )
    listener = await _listen(server, host, port, tls, limits.head, bound)
    try:
        listening.port = listener.sockets[0].getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        listening.address = f"{'http' if tls is None else 'https'}://{shown}:{listening.port}"
        yield listening
    finally:
        listener.close()
        await listening.stop(server, grace)
        await listener.wait_closed()


def bind(host: str, port: int) -> socket.socket:
    """Take an address (port 0: a free one) before anything answers there; who connects meanwhile waits.

    Of a host name's addresses it is the first. Raises `PortTaken`, and `OSError` for addresses that cannot be had.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, *_, address = found[0]
    try:
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except OSError as error:
        raise (PortTaken(host, port) if error.errno == EADDRINUSE else error) from error


async def _listen(
    server: web.Server, host: str, port: int, tls: ssl.SSLContext | None, handshake: float, bound: socket.socket | None
) -> asyncio.Server:
    def protocol() -> asyncio.BaseProtocol:
        return server()

    create = partial(
        asyncio.get_running_loop().create_server,
        protocol,
        ssl=tls,
        ssl_handshake_timeout=None if tls is None else handshake,
        backlog=_BACKLOG,
    )
    if bound is not None:
        return await create(sock=bound)
    try:
        return await create(host, port)
    except OSError as error:
        if error.errno == EADDRINUSE:
            raise PortTaken(host, port) from error
        raise


def _refused(why: Failure, request: BaseRequest) -> web.StreamResponse:
    response = refusal(why, request)
    response.force_close()
    return response
