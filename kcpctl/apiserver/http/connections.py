"""Connections as Go's server keeps them: how long they may be silent, and what they hear when they talk nonsense."""

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.http_exceptions import LineTooLong
from aiohttp.web_protocol import RequestHandler, RequestPayloadError
from aiohttp.web_request import BaseRequest

from kcpctl.apiserver.call import Query
from kcpctl.apiserver.exchange import Answer
from kcpctl.apiserver.failures import Failure, internal
from kcpctl.apiserver.http import answers

SERVER = ("Server", "kcpctl")


class Limits(msgspec.Struct, frozen=True):
    """Seconds that clients have; the defaults are kube-apiserver's."""

    head: float = 32.0
    """For a request line and its headers: from their first byte on, or from the beginning of the connection."""
    idle: float = 90.0
    """Between two requests."""
    body: float = 60.0
    """For a whole body: what kube-apiserver gives a whole request."""


class Connections(web.Server):
    """aiohttp's low-level server, with connections that have limits."""

    def __init__(
        self, handler: Callable[[BaseRequest], Awaitable[web.StreamResponse]], limits: Limits, **settings: Any
    ) -> None:
        """Have requests answered by the handler."""
        super().__init__(handler, keepalive_timeout=limits.idle, **settings)
        self._limits = limits

    def __call__(self) -> RequestHandler:
        """Return what handles one more connection."""
        return Connection(self, self._limits.head, loop=self._loop, **self._kwargs)


class Connection(RequestHandler):
    """One connection: it is closed without a word when a request's head takes too long.

    aiohttp closes connections that wait too long for a request, but to it one that is half there counts as well.
    """

    __slots__ = ("_head_limit", "_head_timer")

    def __init__(self, server: web.Server, head_limit: float, **settings: Any) -> None:
        """Give a head that many seconds."""
        super().__init__(server, **settings)
        self._head_limit = head_limit
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Wait no more."""
        self._head_is_here()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came: a head may be complete now, or have begun."""
        before = self._request_count
        super().data_received(data)
        if self._request_count != before:
            self._head_is_here()
            self._end_body()
        elif self._head_timer is None and self._waiter is not None:
            self._expect_head()

    def _end_body(self) -> None:
        """Something else has begun, so a body that is not complete never will be; aiohttp would wait for it."""
        if self._current_request is not None and not self._current_request.content.is_eof():
            self._current_request.content.set_exception(RequestPayloadError("no chunk where one should begin"))

    def _expect_head(self) -> None:
        self._head_timer = self._loop.call_later(self._head_limit, self.force_close)

    def _head_is_here(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def handle_error(
        self,
        request: BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what is no HTTP as Go does, with its status in words, and what broke here as kube-apiserver does."""
        self.log_exception("Error handling request from %s", request.remote, exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("the answer has begun: the client can only be told by its breaking off")
        if isinstance(exc, HttpProcessingError):
            code = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE if isinstance(exc, LineTooLong) else HTTPStatus(status)
            response = web.Response(status=code, headers=[SERVER], text=f"{code.value} {code.phrase}")
        else:
            response = refusal(internal("an unexpected error, see the server's log"), request)
        response.force_close()
        return response


def refusal(failure: Failure, request: BaseRequest) -> web.Response:
    """Return a Status for a request that the application never sees."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    return whole(answers.finished(answers.failed(failure, headers, Query()), headers))


def whole(answer: Answer) -> web.Response:
    """Return an answer that is sent in one piece."""
    assert isinstance(answer.body, bytes)
    return web.Response(body=answer.body, status=answer.status, headers=[*answer.headers, SERVER])
