"""Writes: what each verb sends, as values."""

from typing import Any

import msgspec

from informers.api.resources import Resource
from informers.client.addresses import object_path, path, query
from informers.client.bodies import (
    APPLY,
    JSON,
    Body,
    Patch,
    PatchKind,
    applicable,
    completed,
    delete_options,
    encode,
    metadata,
    named,
)


class Sending(msgspec.Struct, frozen=True):
    """One write, before it has a place: the verb as records name it, and what goes over the wire."""

    verb: str
    method: str
    target: str
    body: bytes
    media: str = JSON
    dry_run: bool = False


def creation(resource: Resource[Any], body: Body, *, namespace: str, subresource: str, dry_run: bool) -> Sending:
    """Create in the namespace given, or the body's; a subresource belongs to the object that the body names."""
    whole = completed(resource, body)
    name = named(resource, whole) if subresource else ""
    target = path(resource, namespace=namespace or _namespace(whole), name=name, subresource=subresource)
    return Sending("create", "POST", target + _dry(dry_run), encode(whole), dry_run=dry_run)


def replacement(resource: Resource[Any], body: Body, *, namespace: str, subresource: str, dry_run: bool) -> Sending:
    """Replace the object that the body names, if its resourceVersion (where it has one) is still the newest."""
    whole = completed(resource, body)
    target = _object(resource, whole, namespace, subresource) + _dry(dry_run)
    return Sending("update", "PUT", target, encode(whole), dry_run=dry_run)


def change(
    resource: Resource[Any],
    name: str,
    patch: Patch,
    *,
    kind: PatchKind,
    namespace: str,
    subresource: str,
    dry_run: bool,
) -> Sending:
    """Patch the object of that name."""
    target = object_path(resource, name, namespace=namespace, subresource=subresource) + _dry(dry_run)
    return Sending("patch", "PATCH", target, encode(patch), kind.value, dry_run)


def application(
    resource: Resource[Any], body: Body, *, manager: str, force: bool, namespace: str, subresource: str, dry_run: bool
) -> Sending:
    """Apply the fields that the body has; `force` is always written out, as other clients do."""
    whole = applicable(resource, body)
    options = query({"dryRun": "All" if dry_run else None, "fieldManager": manager, "force": force})
    target = _object(resource, whole, namespace, subresource) + options
    return Sending("apply", "PATCH", target, encode(whole), APPLY, dry_run)


def deletion(resource: Resource[Any], name: str, *, namespace: str, uid: str, rv: str, propagation: str) -> Sending:
    """Delete the object of that name, if it still has this uid and this resourceVersion."""
    options = delete_options(uid=uid, rv=rv, propagation=propagation)
    return Sending("delete", "DELETE", object_path(resource, name, namespace=namespace), options)


def clearance(resource: Resource[Any], *, namespace: str, selector: str, fields: str, propagation: str) -> Sending:
    """Delete every object that the selectors allow."""
    chosen = query({"labelSelector": selector, "fieldSelector": fields})
    options = delete_options(propagation=propagation)
    return Sending("delete", "DELETE", path(resource, namespace=namespace) + chosen, options)


def _object(resource: Resource[Any], whole: dict[str, Any], namespace: str, subresource: str) -> str:
    name = named(resource, whole)
    return path(resource, namespace=namespace or _namespace(whole), name=name, subresource=subresource)


def _namespace(whole: dict[str, Any]) -> str:
    found = metadata(whole).get("namespace")
    return found if isinstance(found, str) else ""


def _dry(dry_run: bool) -> str:
    return query({"dryRun": "All" if dry_run else None})
