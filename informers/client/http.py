"""The production transport: HTTP/1.1 through aiohttp, which nothing above this room knows.

Compression is not asked for unless `compress` says so: undoing gzip costs a quarter of what a cached object may cost in
all (2.3 of 10 µs for 1.5 kB), doing it costs the server several times that, and only slow links give it back. Whatever
arrives compressed is undone by our own `wire.Gunzip`, not by aiohttp, whose decoder takes a stream that ends inside a
gzip member for a whole one.

One thing is ever sent twice: a request that was answered 401, once, if fresh credentials turn out to differ from those
it was sent with. aiohttp's own habit of repeating GET, PUT and DELETE after a broken connection is switched off. No
redirect is followed, so credentials go to one host only.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from functools import lru_cache, partial
from ssl import SSLContext

import aiohttp
from aiohttp.connector import AddrInfoType
from multidict import MultiMapping
from yarl import URL

from informers.api.errors import ConfigurationError, ConnectError, DecodeError
from informers.client.credentials import Credentials
from informers.client.failing import FAILURES, broken, failure, unconnected
from informers.client.queueing import Line
from informers.client.sockets import watched_socket
from informers.client.tap import TappedResponse, tapped
from informers.client.transport import Request, Response, Timeouts
from informers.client.wire import Unzipped

CALLS_AT_ONCE = 32
"""Connections for everything but watches; further calls wait, within their connect timeout."""
_READ_BUFFER = 2**16
"""Bytes read ahead; four times as many make each chunk fresh memory: a fifth more CPU an event at full speed."""
_SKIPPED = frozenset({"User-Agent", "Accept", "Accept-Encoding", "Content-Type"})


class HttpTransport:
    """Sends requests to one address with one set of credentials; belongs to the loop that first uses it."""

    def __init__(
        self,
        address: str,
        *,
        credentials: Credentials,
        proxy: str | None = None,
        tls_server_name: str | None = None,
        compress: bool = False,
    ) -> None:
        """Take `http[s]://host[:port][/prefix]`; `compress` asks the server for gzip, for slow links."""
        url = _parsed(address, "server address")
        self._base = str(url).rstrip("/")
        self._name = str(url.origin())
        self._credentials = credentials
        self._proxy = _parsed(proxy, "proxy address") if proxy else None
        self._server_name = tls_server_name
        self._encoding = "gzip" if compress else "identity"
        self._line = Line(CALLS_AT_ONCE)
        self._calls: aiohttp.ClientSession | None = None
        self._watches: aiohttp.ClientSession | None = None
        self._closed = False

    async def send(self, request: Request) -> Response:
        """Return the answer once its headers are there; see `Transport.send`, and above for what a 401 does.

        Raises `DecodeError` as well: when the answer is not HTTP.
        """
        self._check_open()
        headers = await self._credentials.headers()
        context = await self._credentials.ssl_context()
        response = await self._exchange(request, headers, context)
        if response.status != 401:
            return response
        try:
            fresh = await self._refreshed(headers, context)
        except BaseException:
            await response.aclose()
            raise
        if fresh is None:
            return response
        await response.aclose()
        return await self._exchange(request, *fresh)

    async def aclose(self) -> None:
        """Close all connections, and what credentials have running; requests sent later raise `ConnectError`."""
        self._closed = True
        await self._credentials.aclose()
        for session in (self._calls, self._watches):
            if session is not None:
                await session.close()

    async def _refreshed(
        self, headers: Mapping[str, str], context: SSLContext | None
    ) -> tuple[Mapping[str, str], SSLContext | None] | None:
        """Return credentials other than these, which were refused; None where there are no others.

        Somebody else's 401 may have brought new ones already: only the current ones are declared invalid.
        """
        credentials = self._credentials
        current = await credentials.headers(), await credentials.ssl_context()
        if current == (headers, context):
            credentials.invalidate()
            current = await credentials.headers(), await credentials.ssl_context()
        return None if current == (headers, context) else current

    async def _exchange(self, request: Request, extra: Mapping[str, str], context: SSLContext | None) -> "HttpResponse":
        session = self._session(watch=request.watch)
        line = Line(0) if request.watch else self._line
        number = line.come()
        total = request.timeouts.total
        deadline = None if total is None else asyncio.get_running_loop().time() + total
        try:
            response = await session.request(
                request.method,
                URL(self._base + request.target, encoded=True),
                headers={"Accept-Encoding": self._encoding, **request.headers, **extra},
                data=request.body or None,
                timeout=_limits(request.timeouts),
                ssl=context or True,
                server_hostname=self._server_name,
                proxy=self._proxy,
                allow_redirects=False,
            )
        except BaseException as error:
            busy = CALLS_AT_ONCE if not request.watch and line.waits(number) else 0
            line.go(number)
            if isinstance(error, aiohttp.ConnectionTimeoutError):
                raise unconnected(self._name, request.timeouts, busy=busy) from error
            if isinstance(error, FAILURES):
                raise failure(error, self._name, request.timeouts) from error
            raise
        if (tap := tapped(response)) is not None:
            tap.limit(request.timeouts.idle, deadline)
        return HttpResponse(response, self._name, request.timeouts, partial(line.go, number))

    def _check_open(self) -> None:
        if self._closed:
            raise ConnectError(f"expected an open transport to {self._name}, found it closed")

    def _session(self, *, watch: bool) -> aiohttp.ClientSession:
        self._check_open()
        if watch:
            self._watches = self._watches or _new_session(limit=0)
            return self._watches
        self._calls = self._calls or _new_session(limit=CALLS_AT_ONCE)
        return self._calls


class HttpResponse:
    """An answer as aiohttp reads it."""

    __slots__ = ("_gone", "_name", "_response", "_timeouts")

    def __init__(
        self, response: aiohttp.ClientResponse, name: str, timeouts: Timeouts, gone: Callable[[], None]
    ) -> None:
        """Take over the response; `name` and `timeouts` are for error messages.

        `gone` is called each time it is closed.
        """
        self._gone = gone
        self._response = response
        self._name = name
        self._timeouts = timeouts

    @property
    def status(self) -> int:
        """The HTTP status code."""
        return self._response.status

    @property
    def headers(self) -> MultiMapping[str]:
        """Headers; names compare without regard to case."""
        return self._response.headers

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives; see `Response.chunks`."""
        chunks = _Chunks(self._response, self._name, self._timeouts)
        encoding = self._response.headers.get("Content-Encoding", "identity").lower()
        if encoding == "identity":
            return chunks
        if encoding in ("gzip", "x-gzip"):
            return Unzipped(chunks)
        raise DecodeError(f"expected an answer of {self._name} plain or in gzip, found Content-Encoding {encoding!r}")

    async def aclose(self) -> None:
        """Give the connection back if the body was read to its end, else drop it, and wait until it is closed."""
        self._gone()
        connection = self._response.connection
        transport = connection.transport if connection is not None else None
        if transport is not None:
            transport.abort()  # a farewell over TLS would outlive the loop of a program that ends now
        self._response.close()
        if transport is not None:
            await asyncio.sleep(0)  # the turn in which the loop closes the socket


class _Chunks:
    """Iterates over a body as the socket gives it; a plain class, so that leaving it early leaves nothing to finish."""

    __slots__ = ("_name", "_read", "_timeouts")

    def __init__(self, response: aiohttp.ClientResponse, name: str, timeouts: Timeouts) -> None:
        tap = tapped(response)
        self._read = response.content.readany if tap is None else tap.read
        self._name = name
        self._timeouts = timeouts

    def __aiter__(self) -> "_Chunks":
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await self._read()
        except FAILURES as error:
            raise failure(error, self._name, self._timeouts) from error
        if not chunk:
            raise StopAsyncIteration
        return chunk


def _new_session(limit: int) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=limit, socket_factory=_new_socket),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        skip_auto_headers=_SKIPPED,
        response_class=TappedResponse,
        auto_decompress=False,
        read_bufsize=_READ_BUFFER,
        middlewares=(_never_twice,),
    )


async def _never_twice(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Turn broken connections into our own error where aiohttp would quietly send the request again."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        if isinstance(error, TimeoutError):
            raise
        raise broken(error, str(request.url.origin())) from error


def _new_socket(address: AddrInfoType) -> socket.socket:
    return watched_socket(*address[:3])


def _parsed(address: str, what: str) -> URL:
    try:
        url = URL(address, encoded=True)
        if url.scheme in ("http", "https") and url.host:
            return url
    except ValueError as error:
        raise ConfigurationError(f"expected a {what} like https://host:6443, found {address!r}: {error}") from error
    raise ConfigurationError(f"expected a {what} like https://host:6443, found {address!r}")


@lru_cache(64)
def _limits(timeouts: Timeouts) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=timeouts.total, connect=timeouts.connect, sock_read=timeouts.idle)
