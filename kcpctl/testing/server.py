"""An API server for one test: in this process, in memory, without a socket."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from informers.api.errors import ConfigurationError
from informers.api.objects import Object
from informers.api.resources import Resource
from informers.client.client import Client
from informers.client.server import Server
from informers.tasks import background
from kcpctl.apiserver.app import ApiServer, Seen
from kcpctl.apiserver.assembly import PlainServer
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.http.inprocess import InProcess
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.testing.applying import CRD, apply_one, kind_of, rank
from kcpctl.testing.home import Home
from kcpctl.testing.manifests import Manifests, read_manifests

_READS = frozenset(("GET", "HEAD", "OPTIONS"))
_TEST_ITSELF = "kcpctl.testing"
_CRDS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", kind="CustomResourceDefinition")


class InProcessServer:
    """A running API server that nobody outside this process can see; `serving` makes it.

    It is the server that `kcpctl serve` runs, with the same bytes in and out: only the socket is missing. It begins
    with the namespaces that every cluster has, and whoever asks it may do everything.
    """

    def __init__(self, plain: PlainServer) -> None:
        """Use `serving`."""
        self.requests: list[Seen] = []
        """Every request of the code under test, in the order in which they ended (watches end late); may be cleared."""
        self.home = Home(plain.world, lambda: plain.at_rest)
        """What waiting for quiet needs to know."""
        self._plain = plain
        self._app = ApiServer(plain.mounts, Authentication(), observe=self._observe)
        self._transports: list[InProcess] = []
        self.server = self.connect()
        """For the code under test."""
        self.client: Client = self._connect("test", _TEST_ITSELF).client()
        """For the test itself, whose requests are not noted."""

    def connect(self, name: str = "main") -> Server:
        """Return one more Server that talks to it, for code that closes its own."""
        return self._connect(name, "")

    def _connect(self, name: str, user_agent: str) -> Server:
        transport = InProcess(self._app)
        self._transports.append(transport)
        return Server(name, transport, user_agent=user_agent)

    def _observe(self, seen: Seen) -> None:
        if seen.user_agent != _TEST_ITSELF:
            self.requests.append(seen)

    def is_home_of(self, server: Server) -> bool:
        """Say whether the Server talks to this API server."""
        return server.transport in self._transports

    @property
    def writes(self) -> list[Seen]:
        """Those requests that may have changed something."""
        return [seen for seen in self.requests if seen.method not in _READS]

    async def apply(self, manifests: Manifests) -> list[Object]:
        """Create the objects, or merge them into those that are there, and return them in the order given.

        Takes a dict, a list of dicts, YAML or JSON text, or a Path to a file or folder. Definitions and namespaces are
        made first, and definitions are served when this returns. What a manifest says of the status is written too.
        Raises `ConfigurationError` for what cannot be applied, and whatever the server refuses with.
        """
        wanted = read_manifests(manifests)
        made: dict[int, Object] = {}
        for at in sorted(range(len(wanted)), key=lambda at: rank(wanted[at])):
            made[at] = await apply_one(self.client, wanted[at])
            if kind_of(wanted[at]) == CRD:
                made[at] = await self._established(made[at])
        return [made[at] for at in range(len(wanted))]

    async def _established(self, definition: Object) -> Object:
        """Return the definition once it is served."""
        await self._plain.wait_at_rest()
        found = await self.client.get(_CRDS, definition.name)
        if not found.is_true("Established"):
            reasons = "; ".join(f"{c.type} is {c.status}: {c.message}" for c in found.conditions if c.status != "True")
            raise ConfigurationError(f"expected {found.name} to be established, found that {reasons}")
        return found

    async def aclose(self) -> None:
        """End all requests; later ones are refused."""
        for transport in self._transports:
            await transport.aclose()


@asynccontextmanager
async def serving() -> AsyncIterator[InProcessServer]:
    """Run an empty API server beside the block."""
    storage = MemoryStorage()
    plain = PlainServer(storage)
    served = InProcessServer(plain)
    await plain.load()
    async with background(plain.run()):
        try:
            yield served
        finally:
            await served.aclose()
            await storage.aclose()
