"""Removals at the cache server: found by what they are about, never changed, and acknowledged side by side."""

from typing import Any

import pytest

from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.assembly import ShardServer
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.storage.memory import MemoryStorage
from tests.kcpctl.apiserver.asking import Client

GROUP = "/apis/cache.kcpctl.dev/v1alpha1"
REMOVALS = f"{GROUP}/removals"
ALL = "/services/cache/shards/*/clusters/*"
ROOT = "/services/cache/shards/amber/clusters/root"
NOW = "2026-01-02T03:04:05Z"


def removal(named: str = "shards.amber", **spec: Any) -> dict[str, Any]:
    """Return a removal of a Shard."""
    said = {"kind": "shards", "name": "amber", "uid": "u1", "time": NOW} | spec
    return {
        "apiVersion": "cache.kcpctl.dev/v1alpha1",
        "kind": "Removal",
        "metadata": {"name": named},
        "spec": {key: value for key, value in said.items() if value is not None},
    }


async def test_only_a_cache_server_says_that_it_has_them(cache: Client) -> None:
    storage = MemoryStorage()
    shard = ShardServer(storage, name="amber", url="https://127.0.0.1:6443")
    await shard.load()
    client = Client(ApiServer(shard.mounts, Authentication()))

    found = (await cache.get(ALL + GROUP)).body["resources"]
    assert [entry["name"] for entry in found] == ["removals", "removals/status"]
    assert (await client.get(f"/clusters/root{GROUP}")).status == 404
    await storage.aclose()


async def test_one_of_what_was_there_before_is_kept_beside_that_of_what_has_its_place(cache: Client) -> None:
    assert (await cache.post(ROOT + REMOVALS, removal())).status == 201
    assert (await cache.post(ROOT + REMOVALS, removal("shards.amber.u0", uid="u0"))).status == 201
    assert (await cache.post(ROOT + REMOVALS, removal("shards.amber.u0", uid="u2"))).status == 422


async def test_a_removal_is_shown_with_what_it_is_about_where_that_was_and_who_has_acted_upon_it(cache: Client) -> None:
    assert (await cache.post(ROOT + REMOVALS, removal())).status == 201

    async def cells() -> dict[str, Any]:
        shown = await cache.get(ALL + REMOVALS, accept="application/json;as=Table;v=v1;g=meta.k8s.io")
        (row,) = shown.body["rows"]
        columns = [column["name"] for column in shown.body["columnDefinitions"]]
        assert columns == ["Shard", "Cluster", "Name", "Kind", "Acknowledged", "Age"]
        return dict(zip(columns, row["cells"][:-1], strict=False))

    about = {"Shard": "amber", "Cluster": "root", "Name": "shards.amber", "Kind": "shards"}
    assert await cells() == about | {"Acknowledged": "<none>"}

    for shard in ("violet", "azure"):
        await cache.patch(f"{ROOT}{REMOVALS}/shards.amber/status", {"status": {"acknowledged": {shard: NOW}}})
    assert await cells() == about | {"Acknowledged": "azure,violet"}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            removal("amber"),
            'metadata.name: Invalid value: "amber": must be "shards.amber", the kind and the name in its spec',
        ),
        (removal("slices.amber", kind="slices"), 'spec.kind: Unsupported value: "slices"'),
        (removal("shards.", name=""), "spec.name: Invalid value"),
        (removal(time=None), "spec.time: Required value"),
        (removal(time="yesterday"), "spec.time: Invalid value"),
    ],
)
async def test_what_nobody_could_act_upon_is_refused_in_one_line(
    cache: Client, body: dict[str, Any], told: str
) -> None:
    answer = await cache.post(ROOT + REMOVALS, body)

    assert answer.status == 422
    assert told in answer.body["message"]
    assert "\n" not in answer.body["message"]


async def test_what_it_is_about_cannot_be_changed(cache: Client) -> None:
    await cache.post(ROOT + REMOVALS, removal())

    answer = await cache.patch(f"{ROOT}{REMOVALS}/shards.amber", {"spec": {"uid": "u2"}})

    assert answer.status == 422
    assert "a removal cannot be changed: delete it, and make another one" in answer.body["message"]


async def test_processes_acknowledge_it_side_by_side_and_only_in_its_status(cache: Client) -> None:
    made = await cache.post(ROOT + REMOVALS, removal() | {"status": {"acknowledged": {"amber": NOW}}})
    assert "status" not in made.body

    await cache.patch(f"{ROOT}{REMOVALS}/shards.amber", {"status": {"acknowledged": {"violet": NOW}}})
    for shard in ("amber", "root"):
        await cache.patch(f"{ROOT}{REMOVALS}/shards.amber/status", {"status": {"acknowledged": {shard: NOW}}})

    found = await cache.get(f"{ROOT}{REMOVALS}/shards.amber")
    assert found.body["status"] == {"acknowledged": {"amber": NOW, "root": NOW}}
    assert found.body["metadata"]["generation"] == 1
