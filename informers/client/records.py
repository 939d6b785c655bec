"""What the client tells those who watch it: frozen records of writes, retries and warnings."""

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from informers.api.objects import Key
from informers.api.resources import Resource


class Write(msgspec.Struct, frozen=True, gc=False):
    """One write that the server accepted; thousands of them are kept, and hold nothing that could lead back to them."""

    resource: Resource[Any]
    key: Key
    rv: str
    """The object's resourceVersion since; "" where the answer tells none (a deletion that is done)."""
    uid: str
    verb: str
    """create, update, patch, apply or delete."""
    warnings: tuple[str, ...] = ()
    """What the server warned of while accepting it, such as `unknown field "status.reday"`: that was not stored."""


class Retried(msgspec.Struct, frozen=True):
    """One request that the server turned away and that is sent again after a while."""

    server: str
    method: str
    target: str
    attempt: int
    """Of the attempt that failed, from 1."""
    delay: float
    """Seconds until the next."""
    error: str


class WarningReceived(msgspec.Struct, frozen=True):
    """A server has something to say about a request besides its answer."""

    server: str
    method: str
    target: str
    text: str
    """Such as `unknown field "spec.replcas"`, or that a version is deprecated."""


Noticed: TypeAlias = Callable[[Retried | WarningReceived], None]
"""Who is told of what happens on the way to a server."""
