"""Selectors on lists: labels, fields, and both with wildcards."""

from typing import Any

import pytest

from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.reading.fields import field_text
from kcpctl.apiserver.served import JSON, Served
from tests.kcpctl.apiserver.kinds import CONFIGMAPS, PLANETS, AnythingGoes, kind
from tests.kcpctl.apiserver.reading.conftest import Asking

NAMESPACES = kind("", "v1", "namespaces", "Namespace", namespaced=False, field_selectors=("status.phase",))
EVENTS = kind("", "v1", "events", "Event", field_selectors=("source", "reason"))
PAINTED = kind(
    "g.example.com", "v1", "painted", "Painted", is_custom=True, field_selectors=("spec.color", "spec.size", "spec.on")
)


@pytest.fixture
async def full(asking: Asking) -> Asking:
    await asking.put("a", labels={"app": "x", "tier": "front"})
    await asking.put("b", labels={"app": "y"})
    await asking.put("c")
    await asking.put("a", namespace="other", labels={"app": "x"})
    return asking


@pytest.mark.parametrize(
    ("labels", "fields", "names"),
    [
        ("app=x", "", "aa"),
        ("app!=x", "", "bc"),
        ("!app", "", "c"),
        ("app in (x,y),tier notin (front)", "", "ba"),
        ("", "metadata.name=a", "aa"),
        ("", "metadata.name!=a", "bc"),
        ("", "metadata.namespace=other", "a"),
        ("", "metadata.namespace!=other", "abc"),
        ("", "metadata.name=a,metadata.namespace=ns", "a"),
        ("", "metadata.name=a,metadata.name=b", ""),
        ("", "metadata.name=", ""),
        ("tier", "metadata.name=a", "a"),
        ("none", "", ""),
    ],
)
async def test_selectors_pick_objects_in_key_order(full: Asking, labels: str, fields: str, names: str):
    found = await full.list(namespace="", labelSelector=labels, fieldSelector=fields)

    assert "".join(found.names) == names


@pytest.mark.parametrize("fields", ["metadata.name=a", "metadata.name==a,metadata.namespace=ns"])
async def test_the_name_of_one_object_finds_it_and_no_longer_name(full: Asking, fields: str):
    await full.put("a-longer")

    assert (await full.list(fieldSelector=fields)).names == ["a"]


async def test_a_namespace_selector_that_contradicts_the_path_finds_nothing(full: Asking):
    assert (await full.list(fieldSelector="metadata.namespace=other")).names == []


@pytest.mark.parametrize(
    "scope",
    [Scope("*", "*", is_cache=True), Scope("*", "amber", is_cache=True), Scope("one", "*", is_cache=True)],
)
async def test_a_name_is_found_through_wildcards(asking: Asking, scope: Scope):
    for name in ("p", "p2"):
        await asking.put(name, served=PLANETS, scope=Scope("one", "amber", is_cache=True))

    assert (await asking.list(served=PLANETS, scope=scope, fieldSelector="metadata.name=p")).names == ["p"]


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ("spec.color=red", "r"),
        ("spec.color!=red", "bn"),
        ("spec.color=", "n"),
        ("spec.size=3", "r"),
        ("spec.on=true", "b"),
        ("spec.on=false", "r"),
    ],
)
async def test_declared_fields_of_custom_resources_are_compared_as_text(asking: Asking, fields: str, names: str):
    await asking.put("r", served=PAINTED, spec={"color": "red", "size": 3, "on": False})
    await asking.put("b", served=PAINTED, spec={"color": "blue", "on": True})
    await asking.put("n", served=PAINTED, spec="no object")

    found = await asking.list(served=PAINTED, fieldSelector=fields)

    assert sorted(found.names) == sorted(names)


class Painting(AnythingGoes):
    """Serves `spec.old` as `spec.color`."""

    serves_stored_bytes = False

    def from_storage(self, obj: JSON) -> JSON:
        return {**obj, "spec": {"color": obj["spec"]["old"]}}


async def test_fields_are_those_of_the_served_version(asking: Asking):
    later = Served(
        "g.example.com", "v2", "painted", "Painted", Painting(), is_custom=True, field_selectors=("spec.color",)
    )
    await asking.put("r", served=PAINTED, spec={"old": "red"})

    assert (await asking.list(served=later, fieldSelector="spec.color=red")).names == ["r"]


@pytest.mark.parametrize(
    ("served", "path", "message"),
    [
        (CONFIGMAPS, "x", '"x" is not a known field selector: only "metadata.name", "metadata.namespace"'),
        (PAINTED, "spec.name", "field label not supported: spec.name"),
        (PLANETS, "metadata.namespace", "field label not supported: metadata.namespace"),
        (NAMESPACES, "metadata.namespace", "field label not supported: metadata.namespace"),
        (EVENTS, "x", "field label not supported: x"),
    ],
)
async def test_unknown_fields_are_refused_in_the_words_of_the_kind(
    asking: Asking, served: Served, path: str, message: str
):
    with pytest.raises(Failure) as caught:
        await asking.list(served=served, fieldSelector=f"{path}=1")

    assert (caught.value.status.code, caught.value.status.message) == (400, message)


@pytest.mark.parametrize(
    ("event", "source"),
    [
        ({"source": {"component": "kubelet"}, "reportingComponent": "other"}, "kubelet"),
        ({"source": {}, "reportingComponent": "other"}, "other"),
        ({}, ""),
    ],
)
def test_who_reported_an_event_is_found_in_its_old_and_its_new_place(event: Any, source: str):
    assert field_text(EVENTS, event, "source") == source
