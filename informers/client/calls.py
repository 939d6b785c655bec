"""Calls to one server: requests with everything that server wants, and answers with the retries that policy allows."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import msgspec

from informers.api.errors import ApiError
from informers.client.addresses import Place, Scope, root
from informers.client.answers import fetch
from informers.client.records import Noticed, Retried
from informers.client.retry import Retry
from informers.client.transport import Request, Response, Timeouts, Transport
from informers.clock import Clock, SystemClock

R = TypeVar("R")

CALL = Timeouts()
NOTHING: Mapping[str, str] = {}


class Calls(msgspec.Struct, frozen=True):
    """How to call one server; what a Server shares with all its Clients."""

    server: str
    """The server's name, for messages and records."""
    transport: Transport
    scope: Scope = Scope.PLAIN
    prefix: str = ""
    user_agent: str = ""
    policy: Retry = Retry()
    noticed: Noticed | None = None
    """Told of each retry before its wait."""
    clock: Clock = SystemClock()

    def request(
        self,
        method: str,
        place: Place,
        target: str,
        *,
        body: bytes = b"",
        media: str = "application/json",
        timeouts: Timeouts = CALL,
        watch: bool = False,
    ) -> Request:
        """Return a request for the target (path and query) below the place; `media` is the body's type."""
        headers = {"Accept": "application/json", "User-Agent": self.user_agent}
        if body:
            headers["Content-Type"] = media
        return Request(method, self.prefix + root(self.scope, place) + target, headers, body, timeouts, watch)

    async def fetch(self, request: Request, read: Callable[[Response], Awaitable[R]]) -> R:
        """Return what `read` makes of the first good answer; raises what the last attempt did."""
        waited, attempt = 0.0, 1
        while True:
            try:
                return await fetch(self.transport, request, read)
            except ApiError as error:
                delay = self.policy.delay(error, attempt=attempt, waited=waited)
                if delay is None:
                    raise
                if self.noticed:
                    self.noticed(Retried(self.server, request.method, request.target, attempt, delay, str(error)))
            await self.clock.sleep(delay)
            waited += delay
            attempt += 1
