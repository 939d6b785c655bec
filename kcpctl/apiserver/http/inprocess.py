"""The transport of embedded parts and tests: the same requests and bytes as on a socket, without one."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from multidict import CIMultiDict, CIMultiDictProxy, MultiMapping

from informers.api.errors import ConnectError, Disconnected, ReadTimeout
from informers.client.transport import Request, Timeouts
from kcpctl.apiserver.exchange import Answer, Application, Incoming, User
from kcpctl.apiserver.http.streams import close

ADMIN: Final = User("system:admin", groups=("system:masters",))


class InProcess:
    """Sends requests to an application in this process, as a given user.

    Implements `informers.client.transport.Transport`; what a socket could do to a request (refusal, reset) cannot
    happen here. Time limits are heard as on a socket.
    """

    def __init__(self, app: Application, *, user: User | None = ADMIN) -> None:
        """Talk to the application; with `user` None a request proves nobody, and its headers count."""
        self._app = app
        self._user = user
        self._open: set[InProcessResponse] = set()
        self._closed = False

    async def send(self, request: Request) -> "InProcessResponse":
        """Return the answer once its headers are there. Raises `ReadTimeout`, and `ConnectError` when closed."""
        if self._closed:
            raise ConnectError(f"cannot send {request.method} {request.target}: the transport is closed")
        path, _, query = request.target.partition("?")
        headers = {name.lower(): value for name, value in request.headers.items()}
        incoming = Incoming(request.method, path, query, headers, request.body, self._user)
        limit = _earlier(request.timeouts.idle, request.timeouts.total)
        started = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(limit):
                answer = await self._app(incoming)
        except TimeoutError:
            raise ReadTimeout(f"expected an answer to {request.target} within {limit:g} s, found silence") from None
        response = InProcessResponse(answer, request.target, request.timeouts, started, self._open)
        if not isinstance(answer.body, bytes):
            self._open.add(response)
        return response

    async def aclose(self) -> None:
        """Close every response that is still open; requests sent later raise `ConnectError`."""
        self._closed = True
        for response in list(self._open):
            await response.aclose()


class InProcessResponse:
    """An answer of the application, read like one from a socket."""

    def __init__(
        self,
        answer: Answer,
        target: str,
        timeouts: Timeouts,
        started: float,
        register: "set[InProcessResponse]",
    ) -> None:
        """Read this answer; `register` is where the response is noted as long as it is open."""
        self.status = answer.status
        self.headers: MultiMapping[str] = CIMultiDictProxy(CIMultiDict(answer.headers))
        self._body = answer.body
        self._target = target
        self._idle = timeouts.idle
        self._until = None if timeouts.total is None else started + timeouts.total
        self._register = register

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes.

        Raises `ReadTimeout` on silence and when the whole takes too long, `Disconnected` when the server fails halfway.
        """
        return _Whole(self._body) if isinstance(self._body, bytes) else self._streamed(self._body)

    async def _streamed(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        try:
            while True:
                chunk = await self._next(stream)
                if chunk is None:
                    return
                yield chunk
        finally:
            await self.aclose()

    async def _next(self, stream: AsyncIterator[bytes]) -> bytes | None:
        now = asyncio.get_running_loop().time()
        limit = _earlier(self._idle, None if self._until is None else self._until - now)
        try:
            async with asyncio.timeout(limit):
                return await anext(stream, None)
        except TimeoutError:
            raise ReadTimeout(f"expected more of {self._target} within {limit:g} s, found silence") from None
        except Exception as error:  # the server's own observer has it; a client sees the answer break off
            raise Disconnected(f"the answer to {self._target} broke off: {error!r}") from error

    async def aclose(self) -> None:
        """End the stream; safe to call twice."""
        self._register.discard(self)
        if not isinstance(self._body, bytes):
            await close(self._body)


class _Whole:
    """Iterates over a body that is there already: one piece, unless it is empty."""

    __slots__ = ("_left",)

    def __init__(self, body: bytes) -> None:
        self._left = body

    def __aiter__(self) -> "_Whole":
        return self

    async def __anext__(self) -> bytes:
        if not self._left:
            raise StopAsyncIteration
        body, self._left = self._left, b""
        return body


def _earlier(one: float | None, other: float | None) -> float | None:
    return min((limit for limit in (one, other) if limit is not None), default=None)
