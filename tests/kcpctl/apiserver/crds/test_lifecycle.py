"""From a definition that is made to one that is gone, as clients see it."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from informers.tasks import background
from kcpctl.apiserver.admission import AdmissionRequest
from kcpctl.apiserver.crds.lifecycle import Lifecycle
from kcpctl.apiserver.failures import bad_request
from kcpctl.apiserver.http.streams import close
from kcpctl.apiserver.storage.base import Storage
from tests.kcpctl.apiserver.crds.conftest import CRDS, TEXT, Server, crd, widget

WIDGETS = "/apis/example.com/v1/widgets"


async def opened(server: Server, path: str) -> AsyncIterator[bytes]:
    answer = await server.open("GET", path)
    assert not isinstance(answer.body, bytes)
    return answer.body


async def read_events(server: Server, path: str, count: int) -> list[dict[str, Any]]:
    stream = await opened(server, path)
    text = ""
    async for chunk in stream:
        text += chunk.decode()
        if text.count("\n") >= count:
            break
    await close(stream)
    return [json.loads(line) for line in text.splitlines()]


async def test_a_new_definition_is_completed_named_and_established(server: Server) -> None:
    created = await server.post(CRDS, crd(names={"shortNames": ["wd"]}))

    assert created.status == 201
    assert created.body["spec"]["names"] == {
        "plural": "widgets",
        "singular": "widget",
        "shortNames": ["wd"],
        "kind": "Widget",
        "listKind": "WidgetList",
    }
    assert created.body["spec"]["conversion"] == {"strategy": "None"}
    assert created.body["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v1"],
    }
    found = await server.rested("widgets.example.com")
    assert found["status"]["acceptedNames"] == created.body["spec"]["names"]
    assert [(c["type"], c["status"], c["reason"], c["message"]) for c in found["status"]["conditions"]] == [
        ("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
        ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
    ]
    assert found["metadata"]["generation"] == 1


async def test_a_watch_sees_a_definition_being_named_and_then_established(server: Server) -> None:
    start = server.storage.revision
    await server.establish(crd())

    events = await read_events(server, f"{CRDS}?watch=1&resourceVersion={start}", 3)

    seen = [(event["type"], server.conditions(event["object"]).get("Established", ("",))[:2]) for event in events]
    assert seen == [
        ("ADDED", ("",)),
        ("MODIFIED", ("False", "Installing")),
        ("MODIFIED", ("True", "InitialNamesAccepted")),
    ]


async def test_whoever_sees_a_definition_established_can_use_it_at_once(server: Server) -> None:
    await server.post(CRDS, crd())
    stream = await opened(server, f"{CRDS}?watch=1")
    async for chunk in stream:
        if b'"type":"Established","status":"True"' in chunk:
            break

    assert (await server.post(WIDGETS, widget())).status == 201
    assert (await server.get("/apis/example.com/v1")).status == 200
    await close(stream)


async def test_the_second_to_ask_for_a_name_waits_until_it_is_free(server: Server) -> None:
    await server.establish(crd(names={"shortNames": ["wd"]}))
    second = await server.establish(crd("Gizmo", names={"shortNames": ["wd"], "singular": "widget"}))

    assert server.conditions(second) == {
        "NamesAccepted": ("False", "ShortNamesConflict", '"wd" is already in use'),
        "Established": ("False", "NotAccepted", "not all names are accepted"),
    }
    assert second["status"]["acceptedNames"] == {"plural": "gizmos", "kind": "Gizmo", "listKind": "GizmoList"}
    assert (await server.get("/apis/example.com/v1/gizmos")).status == 404

    await server.delete(f"{CRDS}/widgets.example.com")

    second = await server.rested("gizmos.example.com")
    assert second["status"]["acceptedNames"]["shortNames"] == ["wd"]
    assert (await server.get("/apis/example.com/v1/gizmos")).status == 200


async def test_a_definition_goes_with_its_instances(server: Server) -> None:
    await server.establish(crd())
    await server.post(WIDGETS, widget())

    gone = await server.delete(f"{CRDS}/widgets.example.com")

    assert gone.status == 200
    assert gone.body["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert "deletionGracePeriodSeconds" not in gone.body["metadata"]
    assert server.conditions(gone.body)["Terminating"] == (
        "True",
        "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    )
    await server.lifecycle.wait_at_rest()
    assert (await server.get(f"{CRDS}/widgets.example.com")).status == 404
    assert (await server.get(WIDGETS)).message == "404 page not found\n"
    assert (await server.get("/apis/example.com/v1")).status == 404
    assert not (await server.storage.range("/registry/example.com/")).records


@pytest.mark.parametrize("established", [False, True])
async def test_a_definition_named_like_a_built_in_kind_takes_none_of_its_objects_along(
    server: Server, established: bool
) -> None:
    await server.establish(crd())
    names = {"plural": "customresourcedefinitions", "kind": "CustomResourceDefinition"}
    impostor = crd(group="apiextensions.k8s.io", names=names)
    impostor["metadata"] = {
        "name": "customresourcedefinitions.apiextensions.k8s.io",
        "annotations": {"api-approved.kubernetes.io": "unapproved"},
    }
    found = await server.establish(impostor)
    assert server.conditions(found)["NamesAccepted"][0] == "False"
    if established:  # somebody says so who may write the status
        found["status"]["acceptedNames"] = found["spec"]["names"]
        await server.put(f"{CRDS}/{impostor['metadata']['name']}/status", found)
        await server.lifecycle.wait_at_rest()

    await server.delete(f"{CRDS}/{impostor['metadata']['name']}")
    await server.lifecycle.wait_at_rest()

    assert [item["metadata"]["name"] for item in (await server.get(CRDS)).body["items"]] == ["widgets.example.com"]


async def test_an_instance_with_finalizers_holds_its_definition(server: Server) -> None:
    await server.establish(crd())
    held = widget()
    held["metadata"]["finalizers"] = ["example.com/held"]
    await server.post(WIDGETS, held)
    await server.post(WIDGETS, widget("free"))

    await server.delete(f"{CRDS}/widgets.example.com")
    found = await server.rested("widgets.example.com")

    assert server.conditions(found)["Terminating"] == (
        "True",
        "InstanceDeletionInProgress",
        "CustomResource deletion is in progress",
    )
    left = (await server.get(WIDGETS)).body["items"]
    assert [item["metadata"]["name"] for item in left] == ["w"]
    assert left[0]["metadata"]["deletionTimestamp"]
    late = await server.post(WIDGETS, widget("late"))
    assert late.status == 403
    assert late.message == (
        'widgets.example.com "late" is forbidden: create not allowed while custom resource definition is terminating'
    )
    assert (await server.delete(f"{CRDS}/widgets.example.com")).body == found

    await server.patch(f"{WIDGETS}/w", {"metadata": {"finalizers": None}})

    await server.lifecycle.wait_at_rest()
    assert (await server.get(f"{CRDS}/widgets.example.com")).status == 404


async def test_instances_that_could_not_be_deleted_are_deleted_when_they_can_be(server: Server) -> None:
    refused = True

    async def rule(request: AdmissionRequest) -> None:
        if refused and request.verb == "delete" and request.served.plural == "widgets":
            raise bad_request("not yet")

    server.world.admission = (rule,)
    await server.establish(crd())
    await server.post(WIDGETS, widget())
    await server.delete(f"{CRDS}/widgets.example.com")
    while server.lifecycle.trouble != "not yet":
        await asyncio.sleep(0)

    refused = False
    await server.patch(f"{CRDS}/widgets.example.com", {"metadata": {"labels": {"any": "news"}}})
    await server.lifecycle.wait_at_rest()

    assert (await server.get(f"{CRDS}/widgets.example.com")).status == 404


async def test_watches_of_a_kind_end_with_its_definition(server: Server) -> None:
    await server.establish(crd())
    stream = await opened(server, f"{WIDGETS}?watch=1")

    await server.delete(f"{CRDS}/widgets.example.com")

    assert [chunk async for chunk in stream] == []


async def test_a_kind_that_is_defined_again_starts_clean(server: Server) -> None:
    first = await server.establish(crd())
    await server.post(WIDGETS, widget())
    await server.delete(f"{CRDS}/widgets.example.com")
    await server.lifecycle.wait_at_rest()

    second = await server.establish(crd())

    assert second["metadata"]["uid"] != first["metadata"]["uid"]
    assert (await server.get(WIDGETS)).body["items"] == []


async def test_a_server_that_starts_goes_on_where_the_last_one_stopped(storage: Storage) -> None:
    before = Server(storage)
    await before.lifecycle.load()
    await before.post(CRDS, crd())  # its lifecycle does not run: it stopped too early

    after = Server(storage)
    await after.lifecycle.load()
    async with background(after.lifecycle.run()):
        found = await after.rested("widgets.example.com")

    assert after.conditions(found)["Established"][0] == "True"
    again = Server(storage)
    await again.lifecycle.load()
    assert (await again.get(WIDGETS)).status == 200


async def test_a_changed_schema_is_in_force_at_once_and_ends_watches(server: Server) -> None:
    found = await server.establish(crd())
    await server.post(WIDGETS, widget("old", spec={"size": 9, "color": "red"}))
    stream = await opened(server, f"{WIDGETS}?watch=1&resourceVersion={server.storage.revision}")
    schema = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    schema["properties"] = {"size": {"type": "integer", "maximum": 5}, "shape": TEXT | {"default": "round"}}

    changed = await server.put(f"{CRDS}/widgets.example.com", found)

    assert (changed.status, changed.body["metadata"]["generation"]) == (200, 2)
    refused = await server.post(WIDGETS, widget(spec={"size": 9}))
    assert refused.status == 422
    stored = await server.get(f"{WIDGETS}/old")
    assert stored.body["spec"] == {"size": 9, "shape": "round"}
    assert stored.body["metadata"]["generation"] == 1
    assert [chunk async for chunk in stream] == []


async def test_a_changed_label_of_a_definition_ends_no_watch(server: Server) -> None:
    await server.establish(crd())
    kind = server.catalog.find("", "example.com", "v1", "widgets")

    await server.patch(f"{CRDS}/widgets.example.com", {"metadata": {"labels": {"a": "b"}}})

    assert server.catalog.find("", "example.com", "v1", "widgets") is kind


async def test_versions_that_are_not_served_are_not_there(server: Server) -> None:
    versions = [
        {"name": name, "served": served, "storage": name == "v1", "schema": {"openAPIV3Schema": {"type": "object"}}}
        for name, served in (("v1", True), ("v1beta1", False), ("v1alpha1", True))
    ]

    await server.establish(crd(versions=versions))

    found = (await server.get("/apis/example.com")).body["versions"]
    assert [version["version"] for version in found] == ["v1", "v1alpha1"]
    assert (await server.get("/apis/example.com/v1beta1/widgets")).status == 404


async def test_a_storage_that_takes_no_writes_is_tried_again(storage: Storage) -> None:
    server = Server(storage)
    await server.lifecycle.load()
    await server.post(CRDS, crd())
    await storage.aclose()

    lifecycle = Lifecycle(server.world, server.catalog)
    await lifecycle.load()
    async with background(lifecycle.run()):
        while not lifecycle.trouble:
            await server.world.clock.sleep(0)

    assert lifecycle.trouble == "the store is closed"
