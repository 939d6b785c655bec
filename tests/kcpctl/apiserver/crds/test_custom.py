"""Custom resources, as clients see them."""

from typing import Any

import pytest

from tests.kcpctl.apiserver.crds.conftest import CRDS, TEXT, Server, crd, widget

WIDGETS = "/apis/example.com/v1/widgets"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
WITH_STATUS: dict[str, Any] = {"subresources": {"status": {}}}


async def test_status_is_dropped_on_the_main_path_where_it_has_its_own(server: Server) -> None:
    await server.establish(crd(version=WITH_STATUS))

    created = await server.post(WIDGETS, widget(spec={"size": 1}, status={"phase": "x"}))
    changed = await server.patch(f"{WIDGETS}/w", {"status": {"phase": "y"}})

    assert "status" not in created.body
    assert changed.body == created.body


async def test_the_status_path_changes_nothing_but_status(server: Server) -> None:
    await server.establish(crd(version=WITH_STATUS))
    created = (await server.post(WIDGETS, widget(spec={"size": 1}))).body

    body = created | {"spec": {"size": 2}, "status": {"phase": "x"}}
    body["metadata"] = created["metadata"] | {"labels": {"a": "b"}}
    changed = await server.put(f"{WIDGETS}/w/status", body)

    assert changed.status == 200
    assert changed.body["spec"] == {"size": 1}
    assert changed.body["status"] == {"phase": "x"}
    assert "labels" not in changed.body["metadata"]
    assert changed.body["metadata"]["generation"] == 1


@pytest.mark.parametrize(
    ("method", "media", "body"),
    [
        ("PUT", "application/json", widget(status={"fase": "x", "phase": "y"})),
        ("PATCH", "application/merge-patch+json", {"status": {"fase": "x", "phase": "y"}}),
        (
            "PATCH",
            "application/json-patch+json",
            [{"op": "add", "path": "/status", "value": {"fase": 1, "phase": "y"}}],
        ),
    ],
)
async def test_a_misspelt_field_of_the_status_is_dropped_and_told_in_a_warning(
    server: Server, method: str, media: str, body: Any
) -> None:
    await server.establish(crd(version=WITH_STATUS))
    created = (await server.post(WIDGETS, widget(spec={"size": 1}))).body
    if method == "PUT":
        body = body | {"metadata": created["metadata"]}

    changed = await server.ask(method, f"{WIDGETS}/w/status", body, content_type=media)
    strict = await server.ask(method, f"{WIDGETS}/w/status?fieldValidation=Strict", body, content_type=media)

    assert changed.body["status"] == {"phase": "y"}
    assert changed.warnings == ['299 - "unknown field \\"status.fase\\""']
    assert strict.status in (400, 422)
    assert 'strict decoding error: unknown field "status.fase"' in strict.message


async def test_without_a_status_subresource_status_is_a_field_like_others(server: Server) -> None:
    await server.establish(crd())

    created = await server.post(WIDGETS, widget(status={"phase": "x"}))
    changed = await server.patch(f"{WIDGETS}/w", {"status": {"phase": "y"}})

    assert created.body["status"] == {"phase": "x"}
    assert changed.body["metadata"]["generation"] == 2
    assert (await server.get(f"{WIDGETS}/w/status")).status == 404


async def test_the_generation_counts_changes_outside_of_metadata_and_status(server: Server) -> None:
    await server.establish(crd(version=WITH_STATUS))
    first = widget(spec={"size": 1})
    first["metadata"]["generation"] = 7
    await server.post(WIDGETS, first)

    patches = [{"metadata": {"labels": {"a": "b"}}}, {"spec": {"size": 2}}, {"spec": {"size": 2}}]
    changed = [await server.patch(f"{WIDGETS}/w", patch) for patch in patches]
    status = await server.patch(f"{WIDGETS}/w/status", {"status": {"phase": "x"}})

    assert [answer.body["metadata"]["generation"] for answer in (*changed, status)] == [1, 2, 2, 2]


async def test_an_object_that_does_not_fit_is_refused_field_by_field(server: Server) -> None:
    await server.establish(crd())

    refused = await server.post(WIDGETS, widget(spec={"size": 11, "color": 1}))

    assert refused.status == 422
    assert refused.causes == {
        ("spec.size", "Invalid value: 11: spec.size in body should be less than or equal to 10"),
        ("spec.color", 'Invalid value: "integer": spec.color in body must be of type string: "integer"'),
    }


async def test_repeated_items_are_refused_unless_they_were_there_before(server: Server) -> None:
    found = await server.establish(crd())
    spec = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    spec["list"] = {"type": "array", "items": TEXT}
    found = (await server.put(f"{CRDS}/widgets.example.com", found)).body
    await server.post(WIDGETS, widget(spec={"list": ["a", "a"]}))
    spec = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    spec["list"]["x-kubernetes-list-type"] = "set"
    await server.put(f"{CRDS}/widgets.example.com", found)

    new = await server.post(WIDGETS, widget("new", spec={"list": ["a", "a"]}))
    old = await server.patch(f"{WIDGETS}/w", {"spec": {"size": 1}})

    assert (new.status, new.causes) == (422, {("spec.list[1]", 'Duplicate value: "a"')})
    assert old.status == 200


async def test_unknown_fields_are_dropped_with_a_warning(server: Server) -> None:
    await server.establish(crd())

    created = await server.post(WIDGETS, widget(spec={"size": 1, "shape": "round"}, more=1))

    assert created.warnings == ['299 - "unknown field \\"more\\""', '299 - "unknown field \\"spec.shape\\""']
    assert created.body["spec"] == {"size": 1}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("spec.color=red", ["a"]),
        ("spec.size=2", ["b"]),
        ("spec.color!=red,spec.size=2", ["b"]),
    ],
)
async def test_declared_fields_can_be_selected(server: Server, path: str, expected: list[str]) -> None:
    await server.establish(crd(version={"selectableFields": [{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}]}))
    await server.post(WIDGETS, widget("a", spec={"color": "red", "size": 1}))
    await server.post(WIDGETS, widget("b", spec={"color": "blue", "size": 2}))

    found = (await server.get(f"{WIDGETS}?fieldSelector={path}")).body["items"]

    assert [item["metadata"]["name"] for item in found] == expected


async def test_columns_show_what_their_paths_lead_to(server: Server) -> None:
    columns = [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "description": "How big"},
        {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
        {"name": "Since", "type": "date", "jsonPath": ".spec.color"},
        {"name": "Odd", "type": "boolean", "jsonPath": ".spec.size"},
        {"name": "All", "type": "string", "jsonPath": ".spec", "priority": 1},
    ]
    status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    definition = crd(version={"additionalPrinterColumns": columns})
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"] = status
    await server.establish(definition)
    await server.post(WIDGETS, widget(spec={"size": 3}, status={"conditions": [{"type": "Ready", "status": "True"}]}))
    await server.post(WIDGETS, widget("x", spec={"color": "never"}))

    table = (await server.get(WIDGETS, accept=TABLE)).body

    shown = [(c["name"], c["type"], c["priority"]) for c in table["columnDefinitions"]]
    assert shown[1:] == [(c["name"], c["type"], c.get("priority", 0)) for c in columns]
    assert table["columnDefinitions"][1]["description"] == "How big"
    assert table["columnDefinitions"][3]["description"] == (
        "Custom resource definition column (in JSONPath format): .spec.color"
    )
    assert [row["cells"] for row in table["rows"]] == [
        ["w", 3, "True", None, None, '{"size":3}'],
        ["x", None, None, "<invalid>", None, '{"color":"never"}'],
    ]


async def two_versions(server: Server) -> None:
    v1, old = crd()["spec"]["versions"][0], crd()["spec"]["versions"][0]
    defaulted = {"type": "object", "properties": {"size": {"type": "integer"}, "old": TEXT | {"default": "yes"}}}
    old |= {"name": "v1beta1", "storage": False, "deprecated": True}
    old["schema"]["openAPIV3Schema"]["properties"]["spec"] = defaulted
    await server.establish(crd(versions=[v1, old]))


async def test_an_object_is_the_same_in_all_versions_but_for_each_ones_schema(server: Server) -> None:
    await two_versions(server)
    created = (await server.post(WIDGETS, widget(spec={"size": 1, "color": "red"}))).body

    shown = await server.get("/apis/example.com/v1beta1/widgets/w")

    assert shown.body["apiVersion"] == "example.com/v1beta1"
    assert shown.body["spec"] == {"size": 1, "old": "yes"}
    assert shown.body["metadata"] == created["metadata"]
    assert shown.warnings == ['299 - "example.com/v1beta1 Widget is deprecated"']


async def test_an_object_is_stored_in_the_storage_version(server: Server) -> None:
    await two_versions(server)

    old = widget(spec={"size": 1}) | {"apiVersion": "example.com/v1beta1"}
    created = await server.post("/apis/example.com/v1beta1/widgets", old)

    assert created.body["apiVersion"] == "example.com/v1beta1"
    [record] = (await server.storage.range("/registry/example.com/widgets/")).records
    assert b'"apiVersion":"example.com/v1"' in record.value
    assert (await server.get(f"{WIDGETS}/w")).body["spec"] == {"size": 1}


async def test_discovery_tells_names_categories_and_subresources(server: Server) -> None:
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    names = {"shortNames": ["wd"], "categories": ["all"]}
    await server.establish(crd(names=names, version={"subresources": {"status": {}, "scale": scale}}))

    found = (await server.get("/apis/example.com/v1")).body["resources"]

    assert [(entry["name"], entry["kind"]) for entry in found] == [
        ("widgets", "Widget"),
        ("widgets/status", "Widget"),
        ("widgets/scale", "Scale"),
    ]
    assert (found[0]["shortNames"], found[0]["categories"], found[0]["singularName"]) == (["wd"], ["all"], "widget")


async def test_a_dry_run_is_not_taken_for_what_is_stored(server: Server) -> None:
    await two_versions(server)
    await server.post(WIDGETS, widget(spec={"size": 1}))
    path = "/apis/example.com/v1beta1/widgets/w"

    tried = await server.patch(f"{path}?dryRun=All", {"spec": {"size": 2}})

    assert tried.body["spec"]["size"] == 2
    assert (await server.get(path)).body["spec"]["size"] == 1
