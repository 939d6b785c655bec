"""Big and hostile requests: they are answered like all others, and nobody else waits for them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from informers.tasks import background
from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.assembly import PlainServer
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.storage.memory import MemoryStorage
from tests.kcpctl.apiserver.asking import Asked, Client
from tests.kcpctl.apiserver.turns import turns

CONFIGS = "/api/v1/namespaces/default/configmaps"
TEAMS = "/apis/example.com/v1/namespaces/default/teams"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
YAML = "application/yaml"
MEDIA = {"merge": "application/merge-patch+json", "strategic": "application/strategic-merge-patch+json"}
TEAM = b'{"apiVersion":"example.com/v1","kind":"Team","metadata":{"name":"t"},"spec":%b}'
MAP = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":%b}'
MANY = 20_000

FLOW = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: flow}\ndata: {%b}\n"
PAIRS = b",".join(b'"k%d":"v"' % at for at in range(MANY))
NUMBERS = b",".join([b"1"] * MANY)


@pytest.mark.parametrize(
    ("method", "path", "body", "media", "status"),
    [
        pytest.param("POST", CONFIGS, FLOW % b",".join([b"k: v"] * MANY), YAML, 201, id="flow YAML"),
        pytest.param("POST", CONFIGS, FLOW % (b"k: [" + NUMBERS + b"]"), YAML, 400, id="flow YAML of another type"),
        pytest.param("POST", CONFIGS, MAP % b"{%b}" % PAIRS, "", 201, id="many keys"),
        pytest.param("POST", CONFIGS, MAP % b'{%b,"k1":"v"}' % PAIRS, "", 201, id="a repeated key"),
        pytest.param("POST", CONFIGS, b"[" + NUMBERS, "", 400, id="broken JSON"),
        pytest.param("POST", CONFIGS, MAP % b'{"a/b":"c",%b}' % PAIRS.replace(b"k", b"k/"), "", 422, id="wrong keys"),
        pytest.param("POST", TEAMS, TEAM % b'{"items":[%b]}' % NUMBERS, "", 422, id="wrong items"),
        pytest.param("POST", TEAMS, TEAM % b"{%b}" % PAIRS, "", 201, id="unknown fields"),
        pytest.param("PUT", CONFIGS + "/p", MAP.replace(b'"m"', b'"p"') % b"{%b}" % PAIRS, "", 200, id="an update"),
        pytest.param("PATCH", CONFIGS + "/p", b'{"data":{%b}}' % PAIRS, MEDIA["merge"], 200, id="a merge patch"),
        pytest.param("PATCH", CONFIGS + "/p", b'{"data":{%b}}' % PAIRS, MEDIA["strategic"], 200, id="strategic"),
        pytest.param("DELETE", CONFIGS + "/p", b"a: [%b]" % NUMBERS, YAML, 200, id="options of a deletion"),
    ],
)
async def test_the_loop_is_free_while_a_big_body_is_worked_on(
    method: str, path: str, body: bytes, media: str, status: int
):
    async with serving() as client:
        await client.post(CONFIGS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "p"}})

        async with turns() as counted:
            answer = await client.ask(method, path, body, content_type=media or "application/json")

        assert answer.status == status
        # Nothing else of a write into memory waits: all turns of the loop are those that a thread left it.
        assert counted.turns > 0


async def test_a_patch_of_a_big_object_leaves_the_loop_free_however_small_it_is():
    async with serving() as client:
        await client.ask("POST", CONFIGS, MAP % b"{%b}" % PAIRS)

        async with turns() as counted:
            answer = await client.patch(CONFIGS + "/m", {"data": {"one": "more"}})

        assert answer.status == 200
        assert counted.turns > 0


async def test_an_answer_tells_a_thousand_errors_and_that_there_are_more():
    async with serving() as client:
        answer = await client.ask("POST", TEAMS, TEAM % b'{"items":[%b]}' % NUMBERS)

    assert len(answer.body["details"]["causes"]) == 1000
    assert answer.message.endswith(", and more]")


async def test_a_strict_decoder_tells_a_hundred_unknown_fields():
    async with serving() as client:
        answer = await client.ask("POST", f"{TEAMS}?fieldValidation=Strict", TEAM % b"{%b}" % PAIRS)

    assert answer.status == 400
    assert answer.message.count("unknown field") == 100


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (f"{CONFIGS}?labelSelector=" + ",".join(f"k{at}" for at in range(50_000)), 414),
        (f"{CONFIGS}?" + "&".join(f"p{at}=v" for at in range(2_000)), 400),
        ("/api/v1/namespaces/" + "n" * 100_000, 414),
    ],
)
async def test_targets_that_nobody_writes_are_refused(target: str, status: int):
    async with serving() as client:
        answer = await client.get(target)

    assert (answer.status, answer.body["kind"], answer.body["code"]) == (status, "Status", status)
    assert "expected" in answer.message


async def test_long_selectors_are_read_on_a_thread():
    selector = ",".join(f"k{at}!=v" for at in range(5_000))
    async with serving() as client:
        async with turns() as counted:
            answer = await client.get(f"{CONFIGS}?labelSelector={selector}")

        assert answer.status == 200
        assert counted.turns > 0


@pytest.mark.parametrize("levels", [255, 900, 5_000, 200_000])
@pytest.mark.parametrize("path", [CONFIGS, TEAMS])
@pytest.mark.parametrize("media", [YAML, "application/json"])
async def test_an_object_that_is_too_deep_is_refused_in_one_line(media: str, path: str, levels: int):
    wrapped = MAP if path == CONFIGS else TEAM.replace(b'"spec":', b'"spec":{"free":').replace(b"%b}", b"%b}}")
    opening, closing = (b"{a: ", b"}") if media == YAML else (b'{"a":', b"}")
    body = wrapped % (opening * levels + b"1" + closing * levels)
    async with serving() as client:
        answer = await client.ask("POST", path, body, content_type=media)

    assert answer.status == 400
    assert "\n" not in answer.message


@pytest.mark.parametrize("media", MEDIA.values())
@pytest.mark.parametrize("levels", [900, 200_000])
async def test_a_patch_that_is_too_deep_is_refused_in_one_line(media: str, levels: int):
    async with serving() as client:
        await client.post(CONFIGS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "p"}})

        answer = await client.ask(
            "PATCH", CONFIGS + "/p", b'{"data":' + b'{"a":' * levels + b"1" + b"}" * levels + b"}", content_type=media
        )

    assert answer.status in (400, 422)
    assert "\n" not in answer.message


@asynccontextmanager
async def serving() -> AsyncIterator[Client]:
    """Run a server with one definition."""
    server = PlainServer(MemoryStorage())
    await server.load()
    client = Client(ApiServer(server.mounts, Authentication()))
    async with background(server.run()):
        made: Asked = await client.post(DEFINITIONS, definition())
        assert made.status == 201
        await server.wait_at_rest()
        yield client


def definition() -> dict[str, Any]:
    items = {"type": "array", "items": {"type": "string"}}
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    spec = {"type": "object", "properties": {"items": items, "free": free}}
    version = {"name": "v1", "served": True, "storage": True}
    version["schema"] = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    names = {"plural": "teams", "kind": "Team"}
    return json.loads(
        json.dumps(
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": "teams.example.com"},
                "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
            }
        )
    )
