"""Whole servers: what they have from the start, and that they go on where the last one stopped."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from informers.tasks import background
from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.assembly import PlainServer, ShardServer
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.storage.base import Storage
from kcpctl.apiserver.storage.memory import MemoryStorage
from tests.kcpctl.apiserver.asking import Client
from tests.kcpctl.apiserver.crds.conftest import CRDS, crd, widget

NAMESPACES = "/api/v1/namespaces"
WIDGETS = "/apis/example.com/v1/widgets"


@asynccontextmanager
async def plain(storage: Storage) -> AsyncIterator[tuple[PlainServer, Client]]:
    """Run a plain server on this storage."""
    server = PlainServer(storage)
    await server.load()
    async with background(server.run()):
        yield server, Client(ApiServer(server.mounts, Authentication()))


async def test_a_plain_server_begins_with_the_namespaces_that_every_cluster_has() -> None:
    async with plain(MemoryStorage()) as (_, client):
        found = (await client.get(NAMESPACES)).body["items"]

    assert [item["metadata"]["name"] for item in found] == ["default", "kube-node-lease", "kube-public", "kube-system"]
    assert not any("kcp.io/cluster" in (item["metadata"].get("annotations") or {}) for item in found)


async def test_a_plain_server_knows_no_clusters() -> None:
    async with plain(MemoryStorage()) as (_, client):
        assert (await client.get(f"/clusters/root{NAMESPACES}")).status == 404
        assert (await client.get("/apis/core.kcp.io/v1alpha1/shards")).status == 404


async def test_a_server_goes_on_where_the_last_one_stopped() -> None:
    storage = MemoryStorage()
    async with plain(storage) as (server, client):
        await client.post(CRDS, crd())
        await server.wait_at_rest()
        await client.post(WIDGETS, widget(spec={"size": 1}))
    async with plain(storage) as (server, client):
        assert (await client.get(f"{WIDGETS}/w")).body["spec"] == {"size": 1}


async def test_definitions_and_namespaces_that_go_away_are_emptied() -> None:
    async with plain(MemoryStorage()) as (server, client):
        await client.post(CRDS, crd(scope="Namespaced"))
        await server.wait_at_rest()
        await client.post(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
        made = await client.post("/apis/example.com/v1/namespaces/n/widgets", widget())

        await client.delete(f"{NAMESPACES}/n")
        await server.wait_at_rest()
        left = (await client.get(WIDGETS)).body["items"]
        await client.delete(f"{CRDS}/widgets.example.com")
        await server.wait_at_rest()

        assert made.status == 201
        assert left == []
        assert (await client.get(f"{NAMESPACES}/n")).status == 404
        assert (await client.get(WIDGETS)).status == 404
        assert server.at_rest
        assert server.trouble == ""


@pytest.mark.parametrize("path", [NAMESPACES, CRDS, "/apis/core.kcp.io/v1alpha1/shards"])
async def test_a_shard_serves_the_same_kinds_in_every_cluster(path: str) -> None:
    server = ShardServer(MemoryStorage(), name="amber", url="https://127.0.0.1:6443")
    await server.load()
    cluster = await server.create_workspace("root:example")
    client = Client(ApiServer(server.mounts, Authentication()))

    answers = [await client.get(f"/clusters/{where}{path}") for where in ("root", "root:example", cluster, "*")]

    assert {answer.status for answer in answers} == {200}
