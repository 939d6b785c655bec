"""The world as one reconcile sees it, scoped to one logical cluster."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias, TypeVar, cast

from informers.api.errors import ConfigurationError, Undeclared
from informers.api.resources import Resource
from informers.cache.listers import Lister
from informers.cache.pair import ListerPair
from informers.client.addresses import Scope
from informers.client.client import Client
from informers.client.records import Write
from informers.client.server import Server
from informers.clock import Clock

T = TypeVar("T")

_CLUSTERED = (Scope.ALL, Scope.CACHE)


Declared: TypeAlias = tuple[str, str, type[Any] | None]
"""A server's name, a collection, and the model that its objects decode to."""


def declared(server: str, resource: Resource[Any]) -> Declared:
    """Return what a declaration of the resource is found by: of two models each has a lister of its own."""
    return server, str(resource), resource.model


@dataclass(frozen=True)
class World:
    """What one controller declared and may therefore read, and the servers that it may write to.

    Listers are found by (server name, collection, model).
    """

    controller: str
    home: str
    """The name of the controller's own server."""
    servers: Mapping[str, Server]
    listers: Mapping[Declared, Lister[Any]]
    clock: Clock
    pairs: dict[Declared, ListerPair[Any]] = field(default_factory=dict)
    """Made when first asked for; shared, so that an exchange of halves reaches every later visit."""

    def server(self, name: str) -> tuple[str, Server]:
        """Return the name in full and the server; raises `ConfigurationError` for an unknown name."""
        name = name or self.home
        found = self.servers.get(name)
        if found is None:
            known = ", ".join(map(repr, self.servers))
            raise ConfigurationError(f"controller {self.controller!r}: expected a server of {known}, found {name!r}")
        return name, found

    def lister(self, resource: Resource[T], server: str) -> Lister[T]:
        """Return the lister over all clusters; raises `Undeclared`."""
        name, _ = self.server(server)
        found = self.listers.get(declared(name, resource))
        if found is None:
            what = resource.qualified + (f" as {resource.model.__name__}" if resource.model is not None else "")
            other = "" if name == self.home else f", server={name!r}"
            raise Undeclared(
                f"controller {self.controller!r}: expected {what} to be declared before it is read; add "
                f"reads=[Read({resource.plural.upper()}{other})] to @controller, or owns or watches if its changes "
                "should wake the controller"
            )
        return cast("Lister[T]", found)

    def pair(self, resource: Resource[T], cache: str) -> ListerPair[T]:
        """Return the pair of the own server's lister and that server's; raises `Undeclared`."""
        key = declared(cache, resource)
        found = self.pairs.get(key)
        if found is None:
            local, remote = self.lister(resource, ""), self.lister(resource, cache)
            found = self.pairs[key] = ListerPair(local, remote)
        return cast("ListerPair[T]", found)


class Cluster:
    """The world scoped to one logical cluster: what is known of it, and a client to change it."""

    __slots__ = ("_note", "_world", "name")

    def __init__(self, name: str, world: World, note: Callable[[Write], None] | None = None) -> None:
        """Scope a world; `note` is told of every write made through this value."""
        self.name = name
        """The logical cluster's name; "" on servers without them."""
        self._world = world
        self._note = note

    @property
    def client(self) -> Client:
        """The client of the controller's own server, scoped to this cluster; its writes are noted."""
        return self.client_of("")

    def client_of(self, server: str) -> Client:
        """Return the client of another server by its name in the Manager, scoped to this cluster where it has them.

        On a cache server name the shard too: `cluster.client_of("cache").shard(name)`.
        """
        _, found = self._world.server(server)
        client = found.client(self.name if found.scope in _CLUSTERED else "")
        return client.noting(self._note) if self._note is not None else client

    def lister(self, resource: Resource[T], server: str = "") -> Lister[T]:
        """Return what is known of a declared resource in this cluster; `.cluster("*")` of it sees all clusters.

        Raises `Undeclared` for a resource that the controller did not declare.
        """
        found = self._world.lister(resource, server)
        _, home = self._world.server(server)
        return found.cluster(self.name) if self.name and home.scope in _CLUSTERED else found

    def pair(self, resource: Resource[T], cache: str = "cache") -> ListerPair[T]:
        """Return the pair of the own server's view and the named server's, of this cluster.

        Both halves must be declared, such as by `reads=[EXPORTS, Read(EXPORTS, server="cache")]`; else `Undeclared`.
        """
        found = self._world.pair(resource, cache)
        return found.cluster(self.name) if self.name else found

    def now(self) -> datetime:
        """Return the wall time, aware, in UTC."""
        return self._world.clock.now()

    def __repr__(self) -> str:
        return f"<Cluster {self.name!r} of {self._world.controller}>"
