"""What `kubectl get` prints of the built-in kinds: one object, all of them, and a watch say the same."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from informers.clock import VirtualClock
from informers.tasks import background
from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.assembly import PlainServer
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.http.streams import close
from kcpctl.apiserver.storage.memory import MemoryStorage
from tests.kcpctl.apiserver.asking import Client

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
ABOUT = {"kind": "ConfigMap", "name": "c", "namespace": "default"}
OLD_EVENT = {"involvedObject": ABOUT, "reason": "Because", "message": "hello", "type": "Normal"}
NEW_EVENT = {
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "regarding": ABOUT,
    "reason": "Because",
    "action": "Doing",
    "reportingController": "example.com/c",
    "reportingInstance": "c-1",
    "note": "hello",
    "type": "Normal",
}


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    server = PlainServer(MemoryStorage(), clock=VirtualClock())
    await server.load()
    async with background(server.run()):
        yield Client(ApiServer(server.mounts, Authentication()))


@pytest.mark.parametrize(
    ("version", "plural", "body"),
    [
        ("v1", "configmaps", {"data": {"a": "b"}}),
        ("v1", "secrets", {"stringData": {"a": "b"}}),
        ("v1", "serviceaccounts", {}),
        ("v1", "events", OLD_EVENT),
        ("events.k8s.io/v1", "events", NEW_EVENT),
        ("coordination.k8s.io/v1", "leases", {"spec": {"holderIdentity": "me"}}),
    ],
)
async def test_one_object_a_list_and_a_watch_have_the_same_cells(
    client: Client, version: str, plural: str, body: Any
) -> None:
    path = f"/{'apis' if '/' in version else 'api'}/{version}/namespaces/default/{plural}"
    kind = {"serviceaccounts": "ServiceAccount", "configmaps": "ConfigMap"}.get(plural, plural[:-1].capitalize())
    made = await client.post(path, {"apiVersion": version, "kind": kind, "metadata": {"name": "one"}, **body})
    assert made.status == 201

    alone = await client.get(f"{path}/one", accept=TABLE)
    listed = await client.get(path, accept=TABLE)
    watched = await client.open("GET", f"{path}?watch=true", accept=TABLE)
    assert not isinstance(watched.body, bytes)
    event = json.loads(await anext(aiter(watched.body)))
    await close(watched.body)

    assert cells(alone.body) == cells(listed.body) == cells(event["object"])
    assert "one" in cells(alone.body)


async def test_both_groups_print_an_event_alike(client: Client) -> None:
    path = "/apis/events.k8s.io/v1/namespaces/default/events"
    await client.post(
        path, {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "one"}, **NEW_EVENT}
    )

    old = await client.get("/api/v1/namespaces/default/events", accept=TABLE)
    new = await client.get(path, accept=TABLE)

    assert cells(old.body) == cells(new.body)
    assert cells(new.body)[1:4] == ["Normal", "Because", "configmap/c"]


def cells(table: Any) -> list[Any]:
    [row] = table["rows"]
    found: list[Any] = row["cells"]
    return found
