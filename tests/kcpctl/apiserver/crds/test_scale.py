"""The scale subresource (what a real server answers to plain requests is in `test_golden`)."""

from typing import Any

import pytest

from tests.kcpctl.apiserver.crds.conftest import Server, crd, widget

SCALE = "/apis/example.com/v1/widgets/w/scale"
PATHS = {
    "specReplicasPath": ".spec.size",
    "statusReplicasPath": ".status.size",
    "labelSelectorPath": ".status.phase",
}


@pytest.fixture
async def scaled(server: Server) -> Server:
    await server.establish(crd(version={"subresources": {"status": {}, "scale": PATHS}}))
    await server.post("/apis/example.com/v1/widgets", widget(spec={"size": 3}))
    return server


def scale(replicas: Any, **metadata: str) -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "w", **metadata},
        "spec": {"replicas": replicas},
    }


async def test_setting_replicas_changes_the_object(scaled: Server) -> None:
    changed = await scaled.put(SCALE, scale(5))

    found = (await scaled.get("/apis/example.com/v1/widgets/w")).body
    assert (changed.status, changed.body["spec"]) == (200, {"replicas": 5})
    assert changed.body["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"]
    assert (found["spec"], found["metadata"]["generation"]) == ({"size": 5}, 2)


async def test_a_stale_scale_is_refused(scaled: Server) -> None:
    old = (await scaled.get(SCALE)).body["metadata"]["resourceVersion"]
    await scaled.put(SCALE, scale(5))

    refused = await scaled.put(SCALE, scale(6, resourceVersion=old))

    assert refused.status == 409


async def test_replicas_that_the_schema_does_not_allow_are_refused(scaled: Server) -> None:
    refused = await scaled.patch(SCALE, {"spec": {"replicas": 11}})

    assert refused.causes == {("spec.size", "Invalid value: 11: spec.size in body should be less than or equal to 10")}


@pytest.mark.parametrize(
    "body",
    [{"kind": "Widget"}, scale("many"), [], scale(1) | {"apiVersion": "autoscaling/v2"}],
)
async def test_what_is_no_scale_is_refused(scaled: Server, body: Any) -> None:
    assert (await scaled.put(SCALE, body)).status == 400


async def test_an_object_without_replicas_has_no_scale_until_it_is_set(scaled: Server) -> None:
    await scaled.post("/apis/example.com/v1/widgets", widget("none"))
    path = SCALE.replace("/w/", "/none/")

    missing = await scaled.get(path)
    await scaled.patch(path, {"spec": {"replicas": 2}})

    assert missing.status == 500
    assert missing.message == 'Internal error occurred: the spec replicas field ".spec.size" does not exist'
    assert (await scaled.get(path)).body["spec"] == {"replicas": 2}


async def test_replicas_that_are_no_number_are_refused_where_they_are_written(scaled: Server) -> None:
    refused = await scaled.patch("/apis/example.com/v1/widgets/w", {"spec": {"size": -1}})

    assert refused.causes == {(".spec.size", "Invalid value: -1: should be a non-negative integer")}
