"""Where worlds are found: a path prefix leads to a world, and what follows it names the logical cluster."""

from typing import Protocol

import msgspec

from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.world import World


class Scoped(msgspec.Struct, frozen=True):
    """A path whose prefixes have been read."""

    scope: Scope
    path: str
    """What is left, still percent-encoded: `/`, `/api/v1/…`, `/openapi/v3`."""
    prefix: str = ""
    """What was read, such as `/clusters/root`; links in answers put it in front again."""


class Scoping(Protocol):
    """Reads prefixes such as `/clusters/x` off a path."""

    async def __call__(self, path: str) -> Scoped:
        """Return the scope and the rest; may wait for a look-up. Raises `Failure` for clusters that cannot be."""


class Mount(msgspec.Struct, frozen=True):
    """One world, and how paths below its prefix say which part of it they mean."""

    world: World
    scoping: Scoping


class Single:
    """The scoping of a server without logical clusters: no prefix means anything."""

    def __init__(self, scope: Scope | None = None) -> None:
        """Give every request this scope."""
        self._scope = scope or Scope("")

    async def __call__(self, path: str) -> Scoped:
        """Return the path as it is."""
        return Scoped(self._scope, path)
