"""Owner references: to say in an object whom it belongs to."""

from typing import Any

import msgspec

from informers.api.errors import ConfigurationError, OwnershipError
from informers.api.objects import Object
from informers.api.resources import Resource
from informers.client.bodies import Body, metadata

JSON = dict[str, Any]


def owned_by(
    owner: Object[Any], body: Body, *, controller: bool = True, resource: Resource[Any] | None = None
) -> dict[str, Any]:
    """Return the body with a reference to its owner, for `create`, `update` and `apply`.

    The controller of an object is the one owner that wakes by `owns`; deleting it takes the object along, and waits for
    it where asked to (`Foreground`). A body without a namespace gets the owner's. A reference to the same owner, by
    group, kind and name, is brought up to date. `resource` says what the owner is where it does not say so itself, as
    items of built-in lists.

    Raises `OwnershipError` when the object is in another namespace than its owner, or has another controller: the rules
    of controller-runtime's SetControllerReference.
    """
    reference = _reference(owner, resource, controller=controller)
    found = body.body if isinstance(body, Object) else msgspec.to_builtins(body)
    if not isinstance(found, dict):
        raise ConfigurationError(f"expected an object to belong to {owner.key}, found {type(body).__name__}")
    meta: JSON = dict(metadata(found))
    if owner.namespace:
        _check_namespace(owner, meta)
        meta["namespace"] = owner.namespace
    kept = [other for other in meta.get("ownerReferences") or () if _of(other) != _of(reference)]
    if controller and (rival := next((other for other in kept if other.get("controller")), None)):
        raise OwnershipError(
            f"expected {_named(meta)} to be free for {_told(reference)} to control, found that {_told(rival)} does; "
            "controller=False makes it one owner among others"
        )
    return {**found, "metadata": {**meta, "ownerReferences": [*kept, reference]}}


def _reference(owner: Object[Any], resource: Resource[Any] | None, *, controller: bool) -> JSON:
    api_version, kind = owner.api_version, owner.kind
    if resource is not None:
        api_version, kind = resource.api_version, resource.kind or kind
    if not (api_version and kind):
        raise ConfigurationError(
            f"expected to know the kind of the owner {owner.key}, found none in it; "
            'pass resource=Resource(…, kind="…") for what it is'
        )
    reference: JSON = {"apiVersion": api_version, "kind": kind, "name": owner.name, "uid": owner.uid}
    return {**reference, "controller": True, "blockOwnerDeletion": True} if controller else reference


def _check_namespace(owner: Object[Any], meta: JSON) -> None:
    namespace = meta.get("namespace") or owner.namespace
    if namespace != owner.namespace:
        raise OwnershipError(
            f"expected {_named(meta)} in the namespace of its owner {owner.key}, found it in {namespace!r}; "
            "owners in namespaces own only what is beside them"
        )


def _of(reference: JSON) -> tuple[str, str, str]:
    """Return what tells owners apart: the version does not, nor does a new object of the same name."""
    group = str(reference.get("apiVersion", "")).rpartition("/")[0]
    return group, str(reference.get("kind")), str(reference.get("name"))


def _named(meta: JSON) -> str:
    return repr(meta.get("name") or meta.get("generateName") or "the object")


def _told(reference: JSON) -> str:
    return f"{reference.get('kind')} {reference.get('name')!r}"
