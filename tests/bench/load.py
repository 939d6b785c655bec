"""Filling a running server with objects, through its API, with the credentials of its admin kubeconfig."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from informers.tasks import together
from tests.bench.api import Api, connected

_CLIENTS = 16

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
SLICES = "/apis/apis.kcp.io/v1alpha1/apiexportendpointslices"
EXPORTS = "/apis/apis.kcp.io/v1alpha1/apiexports"
SHARDS = "/apis/core.kcp.io/v1alpha1/shards"
_KCP = "apis.kcp.io/v1alpha1"

Creation = tuple[str, dict[str, Any]]
"""A path below the current context's server, and what to create there."""


def fill(data_dir: Path, objects: Iterator[Creation]) -> None:
    """Create every object, as fast as the server takes them."""
    asyncio.run(_fill(data_dir / "admin.kubeconfig", objects))


async def _fill(kubeconfig: Path, objects: Iterator[Creation]) -> None:
    async with connected(kubeconfig, limit=_CLIENTS) as api:
        await create_all(api, objects)


async def create_all(api: Api, objects: Iterator[Creation]) -> None:
    """Create every object, with a few clients at once; raises `Refused`."""
    await together(*(_create(api, objects) for _ in range(_CLIENTS)))


async def _create(api: Api, objects: Iterator[Creation]) -> None:
    for path, body in objects:  # shared by all clients: each takes the next one
        await api.send("POST", path, body)


def workspace(objects: int, slices: int) -> Iterator[Creation]:
    """Yield so many objects in all: one APIExport, that many APIExportEndpointSlices of it, and ConfigMaps."""
    yield _export("widgets")
    yield from (_slice(f"widgets-{number:04d}", "widgets") for number in range(slices))
    yield from _configmaps(objects - slices - 1)


def many_exports(count: int) -> Iterator[Creation]:
    """Yield APIExports."""
    return (_export(f"export-{number:04d}") for number in range(count))


def many_slices(count: int) -> Iterator[Creation]:
    """Yield an APIExportEndpointSlice of each of these APIExports."""
    return (_slice(f"slice-{number:04d}", f"export-{number:04d}") for number in range(count))


def shard(name: str, url: str) -> Creation:
    """Return a Shard that publishes this URL."""
    spec = {"baseURL": url, "externalURL": url, "virtualWorkspaceURL": url}
    return SHARDS, {"apiVersion": "core.kcp.io/v1alpha1", "kind": "Shard", "metadata": {"name": name}, "spec": spec}


def _export(name: str) -> Creation:
    return EXPORTS, {"apiVersion": _KCP, "kind": "APIExport", "metadata": {"name": name}, "spec": {}}


def _slice(name: str, export: str) -> Creation:
    spec = {"export": {"name": export}}
    return SLICES, {"apiVersion": _KCP, "kind": "APIExportEndpointSlice", "metadata": {"name": name}, "spec": spec}


def _configmaps(count: int) -> Iterator[Creation]:
    """Yield ConfigMaps of a kilobyte each."""
    text = "key = value # what a program wants to know at its start\n" * 14
    for number in range(count):
        name = f"settings-{number:05d}"
        labels = {"app": f"app-{number % 100}"}
        metadata = {"name": name, "labels": labels}
        yield CONFIGMAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"settings": text}}
