"""Request bodies: what a caller gives, made whole and encoded."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, cast

import msgspec

from informers.api.errors import ConfigurationError
from informers.api.objects import Object
from informers.api.resources import Resource

Body = Mapping[str, Any] | msgspec.Struct
"""An object to send: a dict, a model, or an `Object` as read."""

JSON = "application/json"
APPLY = "application/apply-patch+yaml"
encode = msgspec.json.Encoder().encode


class PatchKind(StrEnum):
    """How a patch is meant; the value is its media type."""

    MERGE = "application/merge-patch+json"
    JSON = "application/json-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"


Patch = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""A document for MERGE and STRATEGIC, a list of operations for JSON."""


def completed(resource: Resource[Any], body: Body) -> dict[str, Any]:
    """Return the body as a dict with apiVersion, and kind where body or Resource say it."""
    found = body.body if isinstance(body, Object) else body
    if type(found) is not dict or type(found.get("metadata")) is not dict:
        found = msgspec.to_builtins(found)
    if not isinstance(found, dict):
        raise ConfigurationError(f"expected an object of {resource.qualified} to send, found {type(body).__name__}")
    head = {"apiVersion": resource.api_version}
    if resource.kind:
        head["kind"] = resource.kind
    return {**head, **found}


def applicable(resource: Resource[Any], body: Body) -> dict[str, Any]:
    """Return the body to apply; unlike others it must say its kind, and must not hold managedFields."""
    whole = completed(resource, body)
    if not whole.get("kind"):
        raise ConfigurationError(
            f"expected the kind of {resource.qualified} to apply one, found none; set it in the body or the Resource"
        )
    whole["metadata"] = {k: v for k, v in metadata(whole).items() if k != "managedFields"}
    return whole


def metadata(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body's metadata; empty where there is none."""
    found = body.get("metadata")
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def named(resource: Resource[Any], body: Mapping[str, Any]) -> str:
    """Return the object's name; raises `ConfigurationError` where it has none."""
    name = metadata(body).get("name")
    if isinstance(name, str) and name:
        return name
    raise ConfigurationError(f"expected metadata.name in an object of {resource.qualified}, found none")


def delete_options(*, uid: str = "", rv: str = "", propagation: str = "") -> bytes:
    """Return the body of a deletion: only this uid, only at this resourceVersion, dependents by this policy."""
    options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1"}
    conditions = {name: value for name, value in (("uid", uid), ("resourceVersion", rv)) if value}
    if conditions:
        options["preconditions"] = conditions
    if propagation:
        options["propagationPolicy"] = propagation
    return encode(options)
