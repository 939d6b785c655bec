"""Making the world of a test: objects are created, or merged into those that are there."""

from typing import Any

import msgspec

from informers.api.errors import AlreadyExists, ConfigurationError, NotFound
from informers.api.objects import Object
from informers.api.resources import Resource
from informers.client.client import Client

CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_NAMESPACE = ("v1", "Namespace")
_FIRST = (CRD, _NAMESPACE)


class Kind(msgspec.Struct, frozen=True):
    """What discovery says of a kind."""

    resource: Resource
    namespaced: bool
    has_status: bool


def kind_of(manifest: dict[str, Any]) -> tuple[str, str]:
    """Return the apiVersion and kind of an object."""
    return str(manifest["apiVersion"]), str(manifest["kind"])


def rank(manifest: dict[str, Any]) -> int:
    """Say how early an object must be made: definitions first, then namespaces, then all others."""
    kind = kind_of(manifest)
    return _FIRST.index(kind) if kind in _FIRST else len(_FIRST)


async def apply_one(client: Client, manifest: dict[str, Any]) -> Object:
    """Create the object, or merge it into the one that is there; its status too, where the kind has one.

    Nothing that the manifest does not name is taken away. A definition's status is left to the server.
    """
    kind = await _discover(client, *kind_of(manifest))
    metadata = manifest["metadata"]
    namespace = (metadata.get("namespace") or "default") if kind.namespaced else ""
    try:
        made = await client.create(kind.resource, manifest, namespace=namespace)
    except AlreadyExists:
        body = {name: value for name, value in manifest.items() if name != "status"}
        made = await client.patch(kind.resource, metadata["name"], body, namespace=namespace)
    if kind.has_status and "status" in manifest and kind_of(manifest) != CRD:
        status = {"status": manifest["status"]}
        made = await client.patch(kind.resource, made.name, status, namespace=namespace, subresource="status")
    return made


async def _discover(client: Client, api_version: str, kind: str) -> Kind:
    """Ask the server for the collection that holds the kind."""
    group, _, version = api_version.rpartition("/")
    try:
        found = msgspec.json.decode(await client.raw("GET", f"/apis/{api_version}" if group else f"/api/{version}"))
    except NotFound:
        found = {"resources": []}
    plurals = {entry["name"]: entry for entry in found["resources"]}
    for name, entry in plurals.items():
        if entry["kind"] == kind and "/" not in name:
            resource = Resource(group, version, name, kind=kind)
            return Kind(resource, entry["namespaced"], f"{name}/status" in plurals)
    raise ConfigurationError(
        f"expected a kind that the server serves, found {kind} of {api_version}; apply its CustomResourceDefinition too"
    )
