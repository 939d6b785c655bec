"""The real API server in this process, with the kinds of the examples, for whole journeys."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from informers.api.resources import Resource
from informers.client.client import Client
from informers.client.server import Server
from informers.tasks import background
from kcpctl.apiserver.app import ApiServer, Seen
from kcpctl.apiserver.builtin import BUILT_IN
from kcpctl.apiserver.builtin.bootstrap import ensure_default_namespace
from kcpctl.apiserver.crds.catalog import CrdCatalog
from kcpctl.apiserver.crds.definition import DEFINITIONS
from kcpctl.apiserver.crds.lifecycle import Lifecycle
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.http.inprocess import InProcess
from kcpctl.apiserver.mounts import Mount, Single
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.world import World

CRDS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", kind="CustomResourceDefinition")
TEAMS = Resource("example.com", "v1", "teams", kind="Team")
MEMBERS = Resource("example.com", "v1", "members", kind="Member")
EXAMPLES = Path(__file__).parents[3] / "examples"

_READS = ("GET", "HEAD")


class Serving:
    """A running API server, and every write that it was asked for."""

    def __init__(self, app: ApiServer, seen: list[Seen]) -> None:
        self._app = app
        self._seen = seen

    def server(self, name: str = "main") -> Server:
        """Return a Server with a transport of its own."""
        return Server(name, InProcess(self._app))

    @property
    def client(self) -> Client:
        """A client that is not watched by anybody."""
        return self.server("test").client()

    @property
    def writes(self) -> list[tuple[str, str, int]]:
        """(method, path, status) of all requests that are no reads."""
        return [(seen.method, seen.path, seen.status) for seen in self._seen if seen.method not in _READS]


@asynccontextmanager
async def serving(*crds: dict[str, Any]) -> AsyncIterator[Serving]:
    """Run an API server in memory with these definitions, by default those of examples/team."""
    catalog = CrdCatalog((*BUILT_IN, DEFINITIONS))
    world = World(MemoryStorage(), catalog)
    lifecycle = Lifecycle(world, catalog)
    await lifecycle.load()
    await ensure_default_namespace(world, "")
    seen: list[Seen] = []
    served = Serving(ApiServer({"": Mount(world, Single())}, Authentication({}), observe=seen.append), seen)
    async with background(lifecycle.run()):
        for crd in crds or manifests("team/crds.yaml"):
            await served.client.create(CRDS, crd)
        await lifecycle.wait_at_rest()
        try:
            yield served
        finally:
            world.end_watches()


def manifests(path: str, **replaced: str) -> list[dict[str, Any]]:
    """Return the objects of an example's file, with words replaced."""
    text = (EXAMPLES / path).read_text(encoding="utf-8")
    for word, by in replaced.items():
        text = text.replace(word, by)
    return list(yaml.safe_load_all(text))
