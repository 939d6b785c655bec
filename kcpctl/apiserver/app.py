"""The API server as one callable: from a request to its answer, whoever carries the bytes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

import msgspec

from informers.clock import Clock, SystemClock
from kcpctl.apiserver import durations
from kcpctl.apiserver.call import Call, Query
from kcpctl.apiserver.exchange import ANONYMOUS, Answer, BrokenOff, Incoming, User
from kcpctl.apiserver.failures import Failure, bad_request, failure, internal, not_built, path_not_found
from kcpctl.apiserver.http import answers, resources
from kcpctl.apiserver.http.auth import Authenticator, authorize, refuse_impersonation
from kcpctl.apiserver.http.discovery import Discovery
from kcpctl.apiserver.http.health import Health
from kcpctl.apiserver.http.openapi.site import OpenApi
from kcpctl.apiserver.http.site import Metrics, Site
from kcpctl.apiserver.http.streams import begun, close
from kcpctl.apiserver.mounts import Mount, Scoped
from kcpctl.apiserver.routing import Target, find, parse

_LONGEST = 60.0
"""Seconds that a request may take at most, watches excepted."""
_LONGEST_WRITE = 34.0
_LONGEST_TARGET = 64 * 1024
"""Bytes of a path and its query; Go takes a megabyte, of which nothing that clients write comes near."""
_MOST_PARAMETERS = 1000
_READS = frozenset(("get", "list"))


class Seen(msgspec.Struct, frozen=True):
    """One answered request, as observers see it; a stream is seen when it has ended."""

    method: str
    path: str
    query: str
    status: int
    seconds: float
    user: User
    user_agent: str
    live: bool = False
    """Whether it was a watch."""
    error: Exception | None = None
    """What went wrong unexpectedly; clients learn only that something did."""


Observe = Callable[[Seen], None]


def _nobody(seen: Seen) -> None:
    """Observe nothing."""


class _Mounted(msgspec.Struct, frozen=True):
    mount: Mount
    site: Site


class ApiServer:
    """Answers requests for one or several worlds, each below its own path prefix.

    The order is kube-apiserver's: who asks (401), whether they may (403), what is there (404, 405), and only then the
    body. Failures are answers; what is not expected becomes a 500 that tells the client nothing but its kind.
    """

    def __init__(
        self,
        mounts: Mapping[str, Mount],
        authenticate: Authenticator,
        *,
        health: Health | None = None,
        metrics: Metrics | None = None,
        observe: Observe = _nobody,
        clock: Clock | None = None,
        address: str = "127.0.0.1:6443",
    ) -> None:
        """Serve these worlds; the prefix `""` is that of all paths which belong to no other.

        `address` (host and port) is what discovery names where a request has no Host. Without `metrics` there are none.
        """
        self._authenticate = authenticate
        self._observe = observe
        self._clock = clock or SystemClock()
        health = health or Health()
        openapi = OpenApi(now=self._clock.now)
        # Longest prefix first, so that the one without a prefix comes last.
        self._mounted = []
        for prefix, mount in sorted(mounts.items(), key=lambda item: -len(item[0])):
            site = Site(Discovery(mount.world.catalog), openapi, health, address=address, metrics=metrics)
            self._mounted.append((prefix, _Mounted(mount, site)))

    async def __call__(self, incoming: Incoming) -> Answer:
        """Answer one request; waits for whatever the request needs. Raises nothing but cancellation."""
        started = self._clock.monotonic()
        query = Query()
        user = ANONYMOUS
        error: Exception | None = None
        try:
            query = _query(incoming)
            user = self._authenticate(incoming)
            refuse_impersonation(incoming)
            answer = await begun(await self._answer(incoming, query, user))
        except Failure as refused:
            answer = answers.failed(refused, incoming.headers, query)
        except Exception as unexpected:  # noqa: BLE001 - the last line: the client gets a 500, the observer the error
            error = unexpected
            answer = answers.failed(internal("an unexpected error, see the server's log"), incoming.headers, query)
        answer = answers.finished(answer, incoming.headers)
        ending = _Ending(self._observe, self._clock, incoming, user, started, answer)
        if isinstance(answer.body, bytes):
            ending.reached(error)
            return answer
        return Answer(answer.status, answer.headers, _ObservedStream(answer.body, ending), answer.live)

    async def _answer(self, incoming: Incoming, query: Query, user: User) -> Answer:
        mounted, path = self._mounted_at(incoming.path)
        try:
            scoped = await mounted.mount.scoping(path)
        except Failure:
            # Which clusters there are is nothing for those who may see none of them.
            authorize(user, parse(incoming.method, path, query), query)
            raise
        target = parse(incoming.method, scoped.path, query)
        authorize(user, target, query)
        if not target.is_resource:
            if target.segments[:2] == ("services", "apiexport"):
                raise not_built("virtual workspaces are not built yet: nothing is served at the URLs that slices list")
            return await mounted.site(incoming, target, scoped, query)
        call = _call(mounted.mount, incoming, target, scoped, query, user)
        if call.verb == "watch" or (call.verb == "get" and not query.raw):
            # A watch has its own end, and a plain get waits for nothing but the store: a timer would be a third of it.
            return await resources.answer(mounted.mount.world, call)
        try:
            async with asyncio.timeout(_deadline(call)) as deadline:
                return await resources.answer(mounted.mount.world, call)
        except TimeoutError:
            if not deadline.expired():
                raise
            raise _too_slow() from None

    def _mounted_at(self, path: str) -> tuple[_Mounted, str]:
        for prefix, mounted in self._mounted:
            if path == prefix or path.startswith(prefix + "/"):
                return mounted, path[len(prefix) :]
        raise path_not_found()


def _query(incoming: Incoming) -> Query:
    """Read the query; raises `Failure`: 414 and 400 for what is too long to be read in passing."""
    length = len(incoming.path) + len(incoming.query)
    if length > _LONGEST_TARGET:
        raise failure(
            414, "RequestURITooLong", f"expected a path and query of at most {_LONGEST_TARGET} bytes, found {length}"
        )
    if (count := incoming.query.count("&") + 1) > _MOST_PARAMETERS:
        raise bad_request(f"expected at most {_MOST_PARAMETERS} query parameters, found {count}")
    return Query(incoming.query)


def _call(mount: Mount, incoming: Incoming, target: Target, scoped: Scoped, query: Query, user: User) -> Call:
    return Call(
        target.verb,
        find(target, mount.world.catalog, scoped.scope),
        scoped.scope,
        query,
        "" if target.resource == "namespaces" else target.namespace,
        target.name,
        target.subresource,
        incoming.headers,
        incoming.body,
        user,
    )


def _deadline(call: Call) -> float:
    """Return the seconds that a request may take: its own `timeout`, within the server's limit."""
    longest = _LONGEST if call.verb in _READS else _LONGEST_WRITE
    if "timeout" not in call.query:
        return longest
    try:
        asked = durations.parse(call.query.text("timeout"))
    except ValueError as error:
        raise bad_request(f"invalid timeout specified in the request URL - {error}") from error
    return min(asked, _LONGEST) if asked > 0 else longest


def _too_slow() -> Failure:
    message = "Timeout: request did not complete within requested timeout - context deadline exceeded"
    return failure(504, "Timeout", message)


class _Ending:
    """Tells the observer of a request's end, once."""

    __slots__ = ("_answer", "_clock", "_incoming", "_observe", "_started", "_told", "_user")

    def __init__(
        self, observe: Observe, clock: Clock, incoming: Incoming, user: User, started: float, answer: Answer
    ) -> None:
        self._observe = observe
        self._clock = clock
        self._incoming = incoming
        self._user = user
        self._started = started
        self._answer = answer
        self._told = False

    def reached(self, error: Exception | None = None) -> None:
        """The request is over."""
        if self._told:
            return
        self._told = True
        asked = self._incoming
        self._observe(
            Seen(
                asked.method,
                asked.path,
                asked.query,
                self._answer.status,
                self._clock.monotonic() - self._started,
                self._user,
                asked.headers.get("user-agent", ""),
                self._answer.live,
                error,
            )
        )


class _ObservedStream:
    """A stream that tells when it ends, and how."""

    def __init__(self, stream: AsyncIterator[bytes], ending: _Ending) -> None:
        self._stream = stream
        self._ending = ending

    def __aiter__(self) -> "_ObservedStream":
        return self

    async def __anext__(self) -> bytes:
        try:
            return await anext(self._stream)
        except StopAsyncIteration:
            self._ending.reached()
            raise
        except Exception as error:
            self._ending.reached(error)
            raise BrokenOff("an unexpected error, see the server's log") from error

    async def aclose(self) -> None:
        """Close the stream."""
        try:
            await close(self._stream)
        finally:
            self._ending.reached()
