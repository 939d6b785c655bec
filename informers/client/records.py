"""What the client tells those who watch it: frozen records of writes and retries."""

from typing import Any

import msgspec

from informers.api.objects import Key
from informers.api.resources import Resource


class Write(msgspec.Struct, frozen=True):
    """One write that the server accepted."""

    resource: Resource[Any]
    key: Key
    rv: str
    """The object's resourceVersion since; "" where the answer tells none (a deletion that is done)."""
    uid: str
    verb: str
    """create, update, patch, apply or delete."""


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
