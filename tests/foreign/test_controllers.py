"""Controllers against a real CRD server: statuses, server-side apply, and a steady state without a write."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from informers import Cluster, Controller, Manager, Object, Outcome, Reconciled, Resource, Result, Server, controller
from informers.api.errors import ApiError
from informers.client.kubeconfig import load
from kcpctl.modules import find_controllers
from tests.foreign.crdserver import crd_server
from tests.integration.visiting import JOURNEYS, Journey, name_of

EXAMPLES = Path(__file__).parents[2] / "examples"
CRDS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", kind="CustomResourceDefinition")
TEAMS = Resource("example.com", "v1", "teams", kind="Team")
MEMBERS = Resource("example.com", "v1", "members", kind="Member")


@asynccontextmanager
async def serving(data_dir: Path, *crds: dict[str, Any]) -> AsyncIterator[Server]:
    """Run the server with these definitions, and yield a Server once it serves them."""
    with crd_server(data_dir) as running:
        async with load(str(running.kubeconfig)).server() as server, asyncio.timeout(100):
            for crd in crds:
                await server.client().create(CRDS, crd)
                await served(server, Resource(crd["spec"]["group"], "v1", crd["spec"]["names"]["plural"]))
            yield server


async def served(server: Server, resource: Resource[Any]) -> None:
    """Wait until the server does not refuse a resource any more, which it says only when asked."""
    while True:
        try:
            await server.client().list(resource)
        except ApiError:
            await asyncio.sleep(0.05)
        else:
            return


def definitions() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((EXAMPLES / "team/crds.yaml").read_text(encoding="utf-8")))


def many_shapes() -> dict[str, Any]:
    """Return Teams whose status has every kind of list and map that server-side apply tells apart."""
    [crd, _] = definitions()
    text = {"type": "string"}
    item = {"type": "object", "required": ["type"], "properties": {"type": text, "status": text, "note": text}}
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"] = {
        "conditions": {
            "type": "array",
            "items": item,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
        },
        "urls": {"type": "array", "items": text, "x-kubernetes-list-type": "set"},
        "order": {"type": "array", "items": text, "x-kubernetes-list-type": "atomic"},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "whole": {"type": "object", "additionalProperties": text, "x-kubernetes-map-type": "atomic"},
        "message": text,
    }
    return crd


class Visits:
    """Keeps every visit."""

    def __init__(self) -> None:
        self.all: list[Reconciled] = []

    def notice(self, fact: Any) -> None:
        if isinstance(fact, Reconciled):
            self.all.append(fact)

    @property
    def writes(self) -> int:
        return sum(len(visit.writes) for visit in self.all)


async def visited(server: Server, *controllers: Controller[Any]) -> Visits:
    """Run the controllers until they rest."""
    visits = Visits()
    async with Manager(server, controllers, observers=[visits]) as manager:
        await manager.wait_synced()
        await manager.wait_idle()
    return visits


async def blue(server: Server) -> Object[Any]:
    return await server.client().get(TEAMS, "blue", namespace="default")


def applying(status: Mapping[str, Any], fields: Mapping[str, Any] | None = None) -> Controller[Any]:
    @controller(TEAMS, name="applying")
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        return Result(status=status, fields=fields, apply=True)

    return reconcile


async def test_the_team_example_counts_and_a_second_run_writes_nothing(tmp_path: Path) -> None:
    team = find_controllers([str(EXAMPLES / "team.py")])
    async with serving(tmp_path / "data", *definitions()) as server:
        made = await server.client().create(TEAMS, {"metadata": {"name": "blue", "namespace": "default"}})
        owner = {"apiVersion": "example.com/v1", "kind": "Team", "name": "blue", "uid": made.uid, "controller": True}
        meta = {"name": "ann", "namespace": "default", "ownerReferences": [owner]}
        await server.client().create(MEMBERS, {"metadata": meta})

        first = await visited(server, *team)
        after = await blue(server)
        second = await visited(server, *team)

        assert (after.at("status", "members"), after.at("status", "readyMembers")) == (1, 0)
        assert [(one.type, one.status) for one in after.conditions] == [("Ready", "False")]
        assert first.writes == 1
        assert [visit.outcome for visit in second.all] == [Outcome.SUCCESS]
        assert second.writes == 0
        assert (await blue(server)).rv == after.rv


async def test_what_was_applied_is_not_applied_again_and_what_is_not_wished_any_more_goes(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", many_shapes()) as server:
        client = server.client()
        await client.create(TEAMS, {"metadata": {"name": "blue", "namespace": "default", "labels": {"theirs": "1"}}})
        theirs = {"conditions": [{"type": "Theirs", "status": "True"}], "urls": ["their"], "counts": {"their": 1}}
        body = {"metadata": {"name": "blue", "namespace": "default"}, "status": theirs}
        await client.apply(TEAMS, body, manager="them", subresource="status")
        wish = {
            "conditions": [{"type": "Ready", "status": "False", "note": ""}, {"type": "Live", "status": "True"}],
            "urls": ["b", "a"],
            "order": ["b", "a"],
            "counts": {"our": 2},
            "whole": {"k": "v"},
            "message": "ours",
        }
        labels = {"metadata": {"labels": {"ours": "1"}}}

        first = await visited(server, applying(wish, labels))
        after = await blue(server)
        second = await visited(server, applying(wish, labels))

        assert first.writes >= 2, "the labels and the status; what the echo of the first one finds may be older"
        assert second.writes == 0
        assert (await blue(server)).rv == after.rv
        assert after.labels == {"theirs": "1", "ours": "1"}
        status = after.at("status")
        assert {c["type"] for c in status["conditions"]} == {"Theirs", "Ready", "Live"}
        assert sorted(status["urls"]) == ["a", "b", "their"]
        assert (status["order"], status["counts"]) == (["b", "a"], {"their": 1, "our": 2})

        less = {"conditions": [{"type": "Ready", "status": "True"}], "urls": ["a"], "order": ["a", "b"]}
        assert (await visited(server, applying(less, {}))).writes >= 2
        assert (await visited(server, applying(less, {}))).writes == 0
        after = await blue(server)
        assert after.labels == {"theirs": "1"}
        assert {c["type"]: c for c in after.at("status", "conditions")} == {
            "Theirs": {"type": "Theirs", "status": "True"},
            "Ready": {"type": "Ready", "status": "True"},
        }
        assert sorted(after.at("status", "urls")) == ["a", "their"]
        assert after.at("status", "order") == ["a", "b"]
        assert (after.at("status", "counts"), after.at("status", "message")) == ({"their": 1}, None)


async def test_a_field_that_somebody_takes_over_is_taken_back(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", many_shapes()) as server:
        await server.client().create(TEAMS, {"metadata": {"name": "blue", "namespace": "default"}})
        await visited(server, applying({"message": "ours"}))
        taken = {"metadata": {"name": "blue", "namespace": "default"}, "status": {"message": "theirs"}}
        await server.client().apply(TEAMS, taken, manager="them", subresource="status", force=True)

        await visited(server, applying({"message": "ours"}))

        assert (await blue(server)).at("status", "message") == "ours"


class Served:
    """The server, as journeys ask for it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.client = server.client()

    def server(self) -> Server:
        return self._server


@pytest.mark.parametrize("journey", JOURNEYS, ids=name_of)
async def test_controllers_go_through_the_same_as_at_ours(tmp_path: Path, journey: Journey) -> None:
    @asynccontextmanager
    async def served(*crds: dict[str, Any]) -> AsyncIterator[Served]:
        async with serving(tmp_path / "data", *crds) as server:
            yield Served(server)

    await journey(served)
