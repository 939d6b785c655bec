"""Admission: rules that see every write before it is stored, and where the cache server differs."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec

from kcpctl.apiserver.served import JSON, Context, Served


class AdmissionRequest(msgspec.Struct, frozen=True):
    """One write that is about to happen."""

    verb: str
    """create, update or delete; a patch is an update, a PUT that creates is a create."""
    served: Served
    obj: JSON
    """What will be stored, decoded and defaulted but not validated yet; a deletion shows what will go.

    Rules may change it and its metadata in place on create and update, and exchange what is below: that may be part of
    `old` as well. Its metadata has the right types already, its other fields maybe not.
    """
    old: JSON | None
    """What is stored now; None on create."""
    context: Context
    dry_run: bool = False


Admission: TypeAlias = Callable[[AdmissionRequest], Awaitable[None]]
"""A rule: waits for whatever it looks up, changes `obj`, or raises `Failure`."""


class Rules(msgspec.Struct, frozen=True):
    """Where the write verbs may differ from kube-apiserver's."""

    namespace_lifecycle: bool = True
    """Whether an object's namespace must exist and not be going away."""
    finalizers_hold: bool = True
    """Whether finalizers delay deletion."""
    client_owns_identity: bool = False
    """Whether an object with the annotation `kcp.io/shard` keeps the uid, generation and timestamps it comes with."""
    client_owns_generation: bool = False
    """Whether updates store the generation that the client sends, which must not go down."""


SHARD = Rules()
CACHE = Rules(namespace_lifecycle=False, finalizers_hold=False, client_owns_identity=True, client_owns_generation=True)
"""The cache server's: it stores what replicators bring, as it was elsewhere."""
