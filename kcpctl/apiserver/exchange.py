"""What goes into the API server and what comes out: the one callable that everything around it knows."""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

import msgspec


class User(msgspec.Struct, frozen=True):
    """Who asks, as the authenticators found out."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()

    @property
    def is_master(self) -> bool:
        """Whether the user is in `system:masters`, who may do everything."""
        return "system:masters" in self.groups


ANONYMOUS = User("system:anonymous", groups=("system:unauthenticated",))


class Incoming(msgspec.Struct, frozen=True):
    """One request as it came off the wire; the body is complete, unless it is longer than anybody takes."""

    method: str
    path: str
    """Still percent-encoded, without the query."""
    query: str = ""
    headers: Mapping[str, str] = {}
    """Names in lower case."""
    body: bytes = b""
    peer: User | None = None
    """Whom the connection proves (client certificate, in-process caller); None when it proves nobody."""


class BrokenOff(ConnectionError):
    """An answer failed halfway; its maker has told of the reason, and the client is told by the connection's end."""


class Answer(msgspec.Struct, frozen=True):
    """One response: a whole body, or a stream of chunks that is flushed chunk by chunk.

    A stream that is not live is a large one. Where it fails, it raises `BrokenOff`. Whoever consumes a stream closes it
    (`aclose`) when the client has gone.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | AsyncIterator[bytes] = b""
    live: bool = False
    """Whether the stream goes on until somebody ends it (a watch): it is never compressed, and a server that stops ends
    it."""


class Application(Protocol):
    """The API server, and everything that wraps it."""

    async def __call__(self, incoming: Incoming) -> Answer:
        """Answer one request; failures are answers too."""
