"""The API server of a test: what `apply` does, and what it was asked for."""

import asyncio
from contextlib import aclosing

import pytest
import yaml

from informers import Client, NotFound, Resource
from informers.api.errors import ApiError, ConfigurationError, TransportError
from kcpctl.testing import InProcessServer, serving
from tests.kcpctl.testing.worlds import CRDS, EXAMPLES, TEAMS, member, team

CONFIGMAPS = Resource("", "v1", "configmaps", kind="ConfigMap")
NAMESPACES = Resource("", "v1", "namespaces", kind="Namespace")


async def test_definitions_and_namespaces_are_made_first_and_results_keep_the_order(apiserver: InProcessServer) -> None:
    theirs = team("theirs", namespace="elsewhere")
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "elsewhere"}}

    made = await apiserver.apply([theirs, team("ours"), namespace, *yaml.safe_load_all(CRDS.read_text())])

    assert [(obj.namespace, obj.name) for obj in made[:3]] == [
        ("elsewhere", "theirs"),
        ("default", "ours"),
        ("", "elsewhere"),
    ]
    assert all(obj.is_true("Established") for obj in made[3:])


async def test_a_folder_of_manifests_is_applied_whole(apiserver: InProcessServer, client: Client) -> None:
    await apiserver.apply(EXAMPLES / "team")

    assert [obj.name for obj in await client.list(TEAMS)] == ["blue"]


async def test_applying_the_same_again_changes_nothing(apiserver: InProcessServer) -> None:
    await apiserver.apply(CRDS)
    wanted = [team(labels={"a": "1"}), member("ann", ready=True)]

    first, again = await apiserver.apply(wanted), await apiserver.apply(wanted)

    assert [obj.rv for obj in again] == [obj.rv for obj in first]


async def test_what_others_have_added_stays(apiserver: InProcessServer, client: Client) -> None:
    await apiserver.apply(CRDS)
    await apiserver.apply(team())
    held = {"metadata": {"finalizers": ["example.com/held"], "labels": {"theirs": "1"}}}
    await client.patch(TEAMS, "blue", held, namespace="default")

    [made] = await apiserver.apply(team(labels={"ours": "1"}))

    assert made.labels == {"ours": "1", "theirs": "1"}
    assert made.metadata.finalizers == ["example.com/held"]


async def test_a_manifests_status_is_written_too_though_not_a_definitions(apiserver: InProcessServer) -> None:
    crds = list(yaml.safe_load_all(CRDS.read_text()))
    crds[0]["status"] = {"acceptedNames": {"kind": "", "plural": ""}, "conditions": [], "storedVersions": []}

    [definition, *_] = await apiserver.apply(crds)
    [ann] = await apiserver.apply(member("ann", ready=True))

    assert definition.at("status", "acceptedNames", "plural") == "teams"
    assert ann.is_true("Ready")


async def test_a_definition_that_cannot_be_served_is_an_error_that_says_why(apiserver: InProcessServer) -> None:
    [first, _] = yaml.safe_load_all(CRDS.read_text())
    second = yaml.safe_load(yaml.safe_dump(first).replace("teams", "squads"))
    await apiserver.apply(first)

    with pytest.raises(ConfigurationError, match=r"expected squads\.example\.com to be established.*already in use"):
        await apiserver.apply(second)


async def test_a_kind_that_is_not_served_is_named(apiserver: InProcessServer) -> None:
    for api_version in ("example.com/v1", "v1"):
        with pytest.raises(
            ConfigurationError, match=f"found Team of {api_version}; apply its CustomResourceDefinition"
        ):
            await apiserver.apply({**team(), "apiVersion": api_version})


async def test_what_the_server_refuses_comes_out_as_its_own_error(apiserver: InProcessServer) -> None:
    await apiserver.apply(CRDS)

    with pytest.raises(NotFound, match='namespaces "nowhere" not found'):
        await apiserver.apply(team(namespace="nowhere"))
    with pytest.raises(ApiError, match=r"status\.members"):
        await apiserver.apply({**team(), "status": {"members": -1}})


async def test_what_the_code_under_test_asks_for_is_noted_and_the_test_itself_is_not(
    apiserver: InProcessServer, client: Client
) -> None:
    await apiserver.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"a": "b"}})
    await client.list(CONFIGMAPS)

    theirs = apiserver.server.client()
    await theirs.list(CONFIGMAPS, namespace="default")
    await theirs.delete(CONFIGMAPS, "one", namespace="default")

    assert [(seen.method, seen.path, seen.status) for seen in apiserver.requests] == [
        ("GET", "/api/v1/namespaces/default/configmaps", 200),
        ("DELETE", "/api/v1/namespaces/default/configmaps/one", 200),
    ]
    assert [seen.method for seen in apiserver.writes] == ["DELETE"]


async def test_its_end_ends_watches_and_refuses_what_comes_later() -> None:
    async with serving() as served:
        client = served.client
        events = client.watch(NAMESPACES, fields="metadata.name=default")
        assert (await anext(events)).type == "ADDED"

    async with aclosing(events), asyncio.timeout(10):
        assert [event.type async for event in events if event.object] == []
    with pytest.raises(TransportError, match="the transport is closed"):
        await client.get(NAMESPACES, "default")


async def test_servers_are_strangers_to_each_other(apiserver: InProcessServer, client: Client) -> None:
    await apiserver.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}})

    async with serving() as other:
        assert await other.client.list(CONFIGMAPS) == []
        assert not other.is_home_of(apiserver.server)
    assert [obj.name for obj in await client.list(CONFIGMAPS)] == ["one"]
