"""An API server with nothing but definitions, in memory, whose lifecycle runs."""

import copy
from collections.abc import AsyncIterator
from typing import Any

import pytest

from informers.tasks import background
from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.crds.admission import refuse_while_terminating
from kcpctl.apiserver.crds.catalog import CrdCatalog
from kcpctl.apiserver.crds.definition import DEFINITIONS
from kcpctl.apiserver.crds.lifecycle import Lifecycle
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.mounts import Mount, Single
from kcpctl.apiserver.storage.base import Storage
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.world import World
from tests.kcpctl.apiserver.asking import Client

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TEXT = {"type": "string"}


def crd(kind: str = "Widget", plural: str = "", **spec: Any) -> dict[str, Any]:
    """Return a definition in the group `example.com`; `spec` replaces parts of its spec, `version` parts of v1."""
    plural = plural or f"{kind.lower()}s"
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer", "maximum": 10}, "color": TEXT}},
            "status": {"type": "object", "properties": {"phase": TEXT}},
        },
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    version |= spec.pop("version", {})
    names = {"plural": plural, "kind": kind} | spec.pop("names", {})
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]} | spec,
    }


def widget(name: str = "w", **fields: Any) -> dict[str, Any]:
    """Return a Widget."""
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}} | copy.deepcopy(fields)


class Server(Client):
    """A client of a server, which it can look into."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.catalog = CrdCatalog([DEFINITIONS])
        self.world = World(storage, self.catalog, admission=[refuse_while_terminating(self.catalog)])
        self.lifecycle = Lifecycle(self.world, self.catalog)
        super().__init__(ApiServer({"": Mount(self.world, Single())}, Authentication()))

    async def establish(self, body: dict[str, Any]) -> dict[str, Any]:
        """Create a definition and return it when nothing more happens to it."""
        created = await self.post(CRDS, body)
        assert created.status == 201, created.body
        return await self.rested(body["metadata"]["name"])

    async def rested(self, name: str) -> dict[str, Any]:
        """Return a definition when nothing more happens to it."""
        await self.lifecycle.wait_at_rest()
        found = await self.get(f"{CRDS}/{name}")
        return found.body

    def conditions(self, definition: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
        """Return a definition's conditions by type."""
        found = definition["status"]["conditions"] or []
        return {c["type"]: (c["status"], c["reason"], c["message"]) for c in found}


@pytest.fixture
async def storage() -> AsyncIterator[Storage]:
    """Return a store in memory."""
    store = MemoryStorage()
    yield store
    await store.aclose()


@pytest.fixture
async def server(storage: Storage) -> AsyncIterator[Server]:
    """Return a server that runs."""
    found = Server(storage)
    await found.lifecycle.load()
    async with background(found.lifecycle.run()):
        yield found
