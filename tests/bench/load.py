"""Filling a running server with objects, through its API, with the credentials of its admin kubeconfig."""

import asyncio
import base64
import ssl
import tempfile
from asyncio import TaskGroup
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import yaml

_CLIENTS = 16


CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
SLICES = "/apis/apis.kcp.io/v1alpha1/apiexportendpointslices"
_EXPORTS = "/apis/apis.kcp.io/v1alpha1/apiexports"
_KCP = "apis.kcp.io/v1alpha1"

Creation = tuple[str, dict[str, Any]]
"""A path below the current context's server, and what to create there."""


def fill(data_dir: Path, objects: Iterator[Creation]) -> None:
    """Create every object, as fast as the server takes them."""
    asyncio.run(_fill(data_dir / "admin.kubeconfig", objects))


async def _fill(kubeconfig: Path, objects: Iterator[Creation]) -> None:
    server, headers, trust = access(kubeconfig)
    connector = aiohttp.TCPConnector(ssl=trust, limit=_CLIENTS)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session, TaskGroup() as group:
        for _ in range(_CLIENTS):
            group.create_task(_create_all(session, server, objects))


async def _create_all(session: aiohttp.ClientSession, server: str, objects: Iterator[Creation]) -> None:
    for path, body in objects:  # shared by all clients: each takes the next one
        async with session.post(server + path, json=body) as answer:
            if answer.status != 201:
                raise RuntimeError(f"POST {path}: expected 201, found {answer.status}: {await answer.text()}")


def access(kubeconfig: Path) -> tuple[str, dict[str, str], ssl.SSLContext]:
    """Return server, headers and TLS settings of a kubeconfig's current context."""
    config = yaml.safe_load(kubeconfig.read_text())
    context = _named(config["contexts"], config["current-context"])["context"]
    cluster = _named(config["clusters"], context["cluster"])["cluster"]
    user = _named(config["users"], context["user"])["user"]
    trust = ssl.create_default_context(cadata=_decoded(cluster["certificate-authority-data"]))
    if "client-certificate-data" in user:
        with tempfile.NamedTemporaryFile("w") as pair:
            pair.write(_decoded(user["client-certificate-data"]) + _decoded(user["client-key-data"]))
            pair.flush()
            trust.load_cert_chain(pair.name)
    headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
    return cluster["server"], headers, trust


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry["name"] == name)


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode()


def workspace(objects: int, slices: int) -> Iterator[Creation]:
    """Yield so many objects in all: one APIExport, that many APIExportEndpointSlices of it, and ConfigMaps."""
    yield _EXPORTS, {"apiVersion": _KCP, "kind": "APIExport", "metadata": {"name": "widgets"}, "spec": {}}
    for number in range(slices):
        metadata = {"name": f"widgets-{number:04d}"}
        spec = {"export": {"name": "widgets"}}
        yield SLICES, {"apiVersion": _KCP, "kind": "APIExportEndpointSlice", "metadata": metadata, "spec": spec}
    yield from _configmaps(objects - slices - 1)


def _configmaps(count: int) -> Iterator[Creation]:
    """Yield ConfigMaps of a kilobyte each."""
    text = "key = value # what a program wants to know at its start\n" * 14
    for number in range(count):
        name = f"settings-{number:05d}"
        labels = {"app": f"app-{number % 100}"}
        metadata = {"name": name, "labels": labels}
        yield CONFIGMAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"settings": text}}
