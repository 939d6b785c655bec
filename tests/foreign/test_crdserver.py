"""The real CRD server does what tests of our runtime count on: pages, streamed lists, 410s and restarts."""

import asyncio
import json
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.foreign.crdserver import CrdServer, crd_server

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/widgets"
Obj = dict[str, Any]


def definition() -> Obj:
    names = {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": names,
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


class Api:
    """The server's API, as plain requests."""

    def __init__(self, server: CrdServer, session: aiohttp.ClientSession) -> None:
        self._server = server
        self._session = session

    async def get(self, path: str, **query: str) -> tuple[int, Obj]:
        async with self._session.get(self._server.url + path, params=query) as answer:
            return answer.status, await answer.json()

    async def post(self, path: str, body: Obj) -> tuple[int, Obj]:
        async with self._session.post(self._server.url + path, json=body) as answer:
            return answer.status, await answer.json()

    async def watch(self, **query: str) -> list[Obj]:
        """Return what a watch of one second brings."""
        query = {"watch": "true", "timeoutSeconds": "1", "allowWatchBookmarks": "true", **query}
        async with self._session.get(self._server.url + WIDGETS, params=query) as answer:
            return [json.loads(line) async for line in answer.content]

    async def define(self) -> None:
        code, _ = await self.post(CRDS, definition())
        assert code == 201
        await until(self.served)

    async def served(self) -> bool:
        """Say whether widgets are served, and no longer being made ready (404, then 429)."""
        async with self._session.get(self._server.url + WIDGETS) as answer:
            return answer.status == 200

    async def create(self, *names: str) -> None:
        for name in names:
            widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}}
            code, answer = await self.post(WIDGETS.replace("widgets", "namespaces/default/widgets"), widget)
            assert code == 201, answer


async def until(reached: Callable[[], Awaitable[bool]]) -> None:
    """Wait until the server has come so far; the test's own timeout ends it."""
    while not await reached():
        await asyncio.sleep(0.05)


@asynccontextmanager
async def api(server: CrdServer) -> AsyncIterator[Api]:
    headers = {"Authorization": f"Bearer {server.token}"}
    connector = aiohttp.TCPConnector(ssl=server.trust)
    async with aiohttp.ClientSession(headers=headers, connector=connector) as session:
        yield Api(server, session)


def names(objects: list[Obj]) -> list[str]:
    return [obj["metadata"]["name"] for obj in objects]


async def test_it_pages_and_streams_its_lists(tmp_path: Path) -> None:
    with crd_server(tmp_path) as server:
        async with api(server) as client:
            await client.define()
            await client.create("a", "b", "c")
            _, first = await client.get(WIDGETS, limit="2")
            _, second = await client.get(WIDGETS, **{"limit": "2", "continue": first["metadata"]["continue"]})
            *added, end = await client.watch(sendInitialEvents="true", resourceVersionMatch="NotOlderThan")

    assert names(first["items"]) == ["a", "b"]
    assert names(second["items"]) == ["c"]
    assert names([event["object"] for event in added]) == ["a", "b", "c"]
    assert end["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_a_restart_serves_the_same_objects_to_the_same_kubeconfig(tmp_path: Path) -> None:
    with crd_server(tmp_path) as server:
        async with api(server) as client:
            await client.define()
            await client.create("a")
            _, before = await client.get(WIDGETS)
    kubeconfig = server.kubeconfig.read_text()

    with crd_server(tmp_path, port=server.port) as again:
        async with api(again) as client:
            await until(client.served)
            _, after = await client.get(WIDGETS)

    assert after["items"] == before["items"]
    assert again.kubeconfig.read_text() == kubeconfig
    assert stat.S_IMODE(again.kubeconfig.stat().st_mode) == 0o600


async def test_after_a_compaction_old_pages_lists_and_watches_are_expired(tmp_path: Path) -> None:
    with crd_server(tmp_path, "-watch-cache=false", "-compact=1s") as server:
        async with api(server) as client:
            await client.define()
            await client.create("a", "b", "c")
            _, page = await client.get(WIDGETS, limit="1")
            revision = page["metadata"]["resourceVersion"]
            exact = {"resourceVersion": revision, "resourceVersionMatch": "Exact"}
            number = iter(range(1_000_000))

            async def compacted() -> bool:
                await client.create(f"later-{next(number)}")
                return (await client.get(WIDGETS, **exact))[0] == 410

            await until(compacted)
            continued, _ = await client.get(WIDGETS, **{"limit": "1", "continue": page["metadata"]["continue"]})
            watched = await client.watch(resourceVersion=revision)

    assert continued == 410
    assert [(event["type"], event["object"]["code"]) for event in watched] == [("ERROR", 410)]
