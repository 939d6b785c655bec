"""One API server that we talk to: its transport, and how it separates logical clusters."""

from functools import cache
from typing import Any, Self
from urllib.parse import urlsplit

import msgspec

from informers.api.errors import ConfigurationError, DecodeError
from informers.client.addresses import Place, Scope
from informers.client.answers import whole
from informers.client.calls import Calls
from informers.client.client import Client
from informers.client.credentials import Anonymous, Credentials
from informers.client.heeding import Heeding
from informers.client.records import Noticed
from informers.client.retry import Retry
from informers.client.transport import Transport
from informers.clock import Clock, SystemClock

_ANYONE = Anonymous()
_POLICY = Retry()
_TIME = SystemClock()


class Server:
    """One API server under a name of ours; closes its transport when a block with it ends.

    Invariant: all Clients of a Server share its transport, its retry policy and its observer of retries and warnings.
    """

    def __init__(
        self,
        name: str,
        transport: Transport,
        *,
        scope: Scope = Scope.PLAIN,
        prefix: str = "",
        user_agent: str = "",
        retry: Retry = _POLICY,
        noticed: Noticed | None = None,
        clock: Clock = _TIME,
    ) -> None:
        """Take how to reach it; `prefix` is a path in front of all others, `noticed` hears of retries and warnings."""
        self.name = name
        self.transport = transport
        self.scope = scope
        heard = Heeding(transport, name, noticed) if noticed is not None else transport
        self._calls = Calls(name, heard, scope, prefix, user_agent or _user_agent(), retry, noticed, clock)

    @classmethod
    def from_address(
        cls,
        address: str,
        *,
        name: str = "",
        scope: Scope | None = None,
        credentials: Credentials = _ANYONE,
        proxy: str | None = None,
        tls_server_name: str | None = None,
        compress: bool = False,
        retry: Retry = _POLICY,
        noticed: Noticed | None = None,
    ) -> "Server":
        """Return the server at a URL, whose path says the scope.

        `…/clusters/*` leaves the logical cluster to each request, `…/clusters/x` fixes it, `…/services/cache` (with or
        without `/shards/*/clusters/*`) is a cache server, and anything else is plain; `scope` goes before that. The
        name is by default the host.
        """
        from informers.client.http import HttpTransport  # brings aiohttp, 25 MB that in-process servers do without

        origin, prefix, found = scoped(address)
        transport = HttpTransport(
            origin, credentials=credentials, proxy=proxy, tls_server_name=tls_server_name, compress=compress
        )
        return cls(
            name or urlsplit(origin).netloc,
            transport,
            scope=scope or found,
            prefix=prefix,
            retry=retry,
            noticed=noticed,
        )

    def client(self, cluster: str = "", shard: str = "") -> Client:
        """Return the verbs, for one place on this server or, without names, for callers that bring their own."""
        return Client(self._calls, Place(cluster, shard))

    async def version(self) -> dict[str, Any]:
        """Return what `/version` says."""
        calls = msgspec.structs.replace(self._calls, scope=Scope.PLAIN)
        body = await calls.fetch(calls.request("GET", Place(), "/version"), whole)
        try:
            return msgspec.json.decode(body, type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise DecodeError(
                f"expected an object from /version of {self.name}, found something else: {error}"
            ) from error

    async def aclose(self) -> None:
        """Close all connections."""
        await self.transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()


def scoped(address: str) -> tuple[str, str, Scope]:
    """Return (address without path, path in front of all others, scope) of a server's URL."""
    try:
        path = urlsplit(address).path.rstrip("/")
    except ValueError as error:
        raise ConfigurationError(f"expected a server's URL, found {address!r}: {error}") from error
    origin = address.partition("?")[0].rstrip("/").removesuffix(path)
    for ending, scope in _ENDINGS:
        if path.endswith(ending):
            return origin, path.removesuffix(ending), scope
    return origin, path, Scope.ONE if "/clusters/" in path else Scope.PLAIN


_ENDINGS = (
    ("/services/cache/shards/*/clusters/*", Scope.CACHE),
    ("/services/cache", Scope.CACHE),
    ("/clusters/*", Scope.ALL),
)


@cache
def _user_agent() -> str:
    from importlib import metadata  # 15 ms that only servers need, not every import of the framework

    try:
        return f"kcpctl/{metadata.version('kcpctl')}"
    except metadata.PackageNotFoundError:
        return "kcpctl/0"  # run from a checkout that was never installed
