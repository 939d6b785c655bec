"""Owner references are what the field's other frameworks would write, and refuse what they refuse."""

from typing import Any

import pytest

from informers.api.decoding import Reader
from informers.api.errors import ConfigurationError, OwnershipError
from informers.api.objects import Object
from informers.api.resources import Resource
from informers.runtime.owners import owned_by
from tests.informers.runtime.objects import MEMBERS, made

BLUE = {
    "apiVersion": "example.com/v1",
    "kind": "Team",
    "name": "blue",
    "uid": "uid-blue",
    "controller": True,
    "blockOwnerDeletion": True,
}


def member(**metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "ann", **metadata}, "spec": {"email": "a@b"}}


def references(found: dict[str, Any]) -> Any:
    return found["metadata"]["ownerReferences"]


def test_an_owned_body_names_its_controller_and_is_beside_it() -> None:
    given = member()

    found = owned_by(made(), given)

    assert found == member(namespace="default", ownerReferences=[BLUE])
    assert given == member()


def test_one_owner_among_others_controls_nothing() -> None:
    others = {**BLUE, "name": "red", "uid": "uid-red"}

    found = owned_by(made(), member(ownerReferences=[others]), controller=False)

    assert references(found) == [others, {name: BLUE[name] for name in ("apiVersion", "kind", "name", "uid")}]


def test_another_controller_is_not_pushed_aside() -> None:
    rival = {**BLUE, "name": "red", "uid": "uid-red"}

    with pytest.raises(OwnershipError, match=r"'ann' to be free for Team 'blue'.*found that Team 'red' does"):
        owned_by(made(), member(ownerReferences=[rival]))


@pytest.mark.parametrize("old", [{"apiVersion": "example.com/v1alpha1"}, {"uid": "uid-before"}, {"controller": False}])
def test_a_reference_to_the_same_owner_is_brought_up_to_date(old: dict[str, Any]) -> None:
    assert references(owned_by(made(), member(ownerReferences=[{**BLUE, **old}]))) == [BLUE]


def test_an_owner_in_a_namespace_owns_nothing_elsewhere() -> None:
    with pytest.raises(OwnershipError, match=r"in the namespace of its owner default/blue, found it in 'other'"):
        owned_by(made(), member(namespace="other"))


@pytest.mark.parametrize("metadata", [{}, {"namespace": "other"}])
def test_an_owner_without_a_namespace_owns_anywhere(metadata: dict[str, Any]) -> None:
    found = owned_by(made(namespace=""), member(**metadata))

    assert found == member(**metadata, ownerReferences=[BLUE])


def test_an_owner_that_does_not_say_what_it_is_needs_a_resource_that_does() -> None:
    """Lists of built-in kinds leave kind and apiVersion out of their items."""
    maps = Resource("", "v1", "configmaps", kind="ConfigMap")
    item: Object[Any] = Reader(maps).object(b'{"metadata":{"name":"c","namespace":"default","uid":"u"}}')

    with pytest.raises(ConfigurationError, match=r"pass resource=Resource\(…, kind="):
        owned_by(item, member())
    [reference] = references(owned_by(item, member(), resource=maps))

    assert (reference["apiVersion"], reference["kind"]) == ("v1", "ConfigMap")


def test_an_object_as_read_can_be_owned() -> None:
    seen = made("ann", kind="Member", resource=MEMBERS)

    found = owned_by(made(), seen)

    assert references(found) == [BLUE]
    assert found["metadata"]["resourceVersion"] == "1"


def test_what_is_no_object_cannot_be_owned() -> None:
    with pytest.raises(ConfigurationError, match="expected an object to belong to default/blue, found list"):
        owned_by(made(), [])  # type: ignore[arg-type]
