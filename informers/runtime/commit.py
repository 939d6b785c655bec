"""The commit: from a reconciler's wish to the fewest writes that make it true."""

from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import Any, Generic, TypeVar

import msgspec

from informers.api.errors import ConfigurationError, NotFound
from informers.api.objects import Object
from informers.api.resources import Resource
from informers.client.client import Client
from informers.runtime.contests import Contests
from informers.runtime.ownership import is_applied
from informers.runtime.result import Result
from informers.runtime.wishes import patches, plain, plain_status

T = TypeVar("T")
JSON = dict[str, Any]


class Committed(Enum):
    """What became of a wish."""

    TRUE = "true"
    """The object is as wished, after a write or without one."""
    OUTDATED = "outdated"
    """The wish was made from an object that has changed where it matters; nothing was written."""
    GONE = "gone"
    """The object was deleted meanwhile."""
    PAUSED = "paused"
    """Somebody undoes the wish each time, so that nothing was written yet."""


async def commit(seen: Object[T], newest: Object[T], result: Result, *, to: "Target[T]") -> Committed:
    """Make the wish true: one patch to the object's own fields, one to its status, each only if there is a difference.

    `seen` is the object that the reconciler was given, `newest` the one known now. Raises `Conflict` when the server's
    object is newer still, and whatever else the client raises.
    """
    if newest.uid != seen.uid:
        return Committed.OUTDATED
    try:
        if result.apply:
            return await _apply(newest, result, to)
        return await _patch(seen, newest, result, to)
    except NotFound as error:
        return await _explain(newest, result, to, error)


class Target(msgspec.Struct, Generic[T], frozen=True):
    """Where to write, and in whose name."""

    resource: Resource[T]
    client: Client
    manager: str
    """The field manager of server-side applies."""
    now: datetime
    """The time that conditions get whose status changes."""
    contests: Contests
    """Who undoes what is written here."""
    wrote: Callable[[Object[T], Object[T]], None] | None = None
    """Told of each patch what it held for, and what became of that."""


async def _patch(seen: Object[T], newest: Object[T], result: Result, to: Target[T]) -> Committed:
    """Send merge patches that hold only if nobody has written since `newest`."""
    fields, status = patches(newest, result, now=to.now)
    if not fields and not status:
        return Committed.TRUE
    if newest is not seen and (fields, status) != patches(seen, result, now=to.now):
        return Committed.OUTDATED
    if to.contests.pause(newest, result) > 0:
        return Committed.PAUSED
    patched = await _send(newest, fields, "", to) if fields else newest
    if status:
        await _send(patched, {"status": status}, "status", to)
    to.contests.written(newest, result, {**fields, "status": status} if status else fields)
    return Committed.TRUE


async def _send(obj: Object[T], change: JSON, subresource: str, to: Target[T]) -> Object[T]:
    metadata = {**change.get("metadata", {}), "uid": obj.uid, "resourceVersion": obj.rv}
    written = await to.client.patch(
        to.resource, obj.name, {**change, "metadata": metadata}, namespace=obj.namespace, subresource=subresource
    )
    if to.wrote is not None:
        to.wrote(obj, written)
    return written


async def _apply(newest: Object[T], result: Result, to: Target[T]) -> Committed:
    """Apply what the controller owns, taking it over from other managers; the uid keeps a deleted object deleted."""
    body, missing = newest.body, {}
    if result.fields is not None:
        fields = plain(result.fields)
        if not is_applied(body, fields, manager=to.manager):
            missing[""] = fields
    if result.status is not None:
        status = {"status": plain_status(newest, result.status, now=to.now)}
        if not is_applied(body, status, manager=to.manager, subresource="status"):
            missing["status"] = status
    if not missing:
        return Committed.TRUE
    if to.contests.pause(newest, result) > 0:
        return Committed.PAUSED
    for subresource, change in missing.items():
        await _send_applied(newest, change, subresource, to)
    to.contests.written(newest, result, {**missing.get("", {}), **missing.get("status", {})})
    return Committed.TRUE


async def _send_applied(obj: Object[T], fields: JSON, subresource: str, to: Target[T]) -> None:
    metadata: JSON = {**fields.get("metadata", {}), "name": obj.name, "uid": obj.uid}
    if obj.namespace:
        metadata["namespace"] = obj.namespace
    kind = to.resource.kind or obj.kind
    body = {"apiVersion": to.resource.api_version, "kind": kind, **fields, "metadata": metadata}
    await to.client.apply(to.resource, body, manager=to.manager, force=True, subresource=subresource)


async def _explain(newest: Object[T], result: Result, to: Target[T], error: NotFound) -> Committed:
    """Find out what is not found: the object, or (servers use the same words) its status subresource."""
    try:
        found = await to.client.get(to.resource, newest.name, namespace=newest.namespace)
    except NotFound:
        return Committed.GONE
    if found.uid != newest.uid:
        return Committed.OUTDATED
    if result.status is None:
        raise error
    raise ConfigurationError(
        f"expected {to.resource.qualified} to have a status subresource, found none; "
        "add `subresources: {status: {}}` to the version in its CustomResourceDefinition"
    ) from error
