"""The transport seam: one request in, one streaming response out.

Everything that talks to a server goes through `Transport.send`. The production form is `informers.client.http`; the
in-process form of the API server and the fault-injecting forms of the tests are its siblings and carry the same bytes.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

import msgspec
from multidict import MultiMapping


class Timeouts(msgspec.Struct, frozen=True):
    """Seconds; None means no limit."""

    connect: float | None = 10.0
    """To get a connection, TLS included."""
    idle: float | None = 30.0
    """Between two chunks of the answer, the first one included."""
    total: float | None = 60.0
    """For the whole call; for a watch a little more than the time that it asked for."""


class Request(msgspec.Struct, frozen=True):
    """One HTTP request, without its server's address."""

    method: str
    target: str
    """Path and query, percent-encoded, beginning with `/`."""
    headers: Mapping[str, str] = {}
    body: bytes = b""
    timeouts: Timeouts = Timeouts()
    watch: bool = False
    """Whether the answer is a watch: such requests have a pool of their own, without a limit."""


class Response(Protocol):
    """An answer whose status and headers are there; its body comes in chunks."""

    @property
    def status(self) -> int:
        """The HTTP status code."""
        ...

    @property
    def headers(self) -> MultiMapping[str]:
        """Headers; names compare without regard to case."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives, content encodings already undone.

        Raises `Disconnected` when it breaks off, `ReadTimeout` on silence.
        """
        ...

    async def aclose(self) -> None:
        """Give the connection back or drop it; safe to call twice."""


class Transport(Protocol):
    """Sends requests to one server, with its address and credentials."""

    async def send(self, request: Request) -> Response:
        """Return the answer once its headers are there; any status is an answer.

        Raises `ConnectionRefused`, `ConnectError`, `ReadTimeout`, `Disconnected`, `DecodeError` when the answer is not
        HTTP, and `ConfigurationError` when credentials cannot be had. Retries nothing; the HTTP form alone sends a
        request again, once, when its credentials were refused and there are fresh ones. The caller closes the response.
        """
        ...

    async def aclose(self) -> None:
        """Close all connections."""
