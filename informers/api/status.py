"""A server's verdict as a value, as Kubernetes servers write it."""

import msgspec


class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry of a Status' details.causes."""

    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A Status' details."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: list[Cause] = []
    retry_after_seconds: int = 0


class _StatusMetadata(msgspec.Struct, frozen=True, omit_defaults=True):
    resource_version: str = msgspec.field(name="resourceVersion", default="")
    continue_: str = msgspec.field(name="continue", default="")


class Status(msgspec.Struct, frozen=True, rename="camel"):
    """A server's verdict, as Kubernetes servers put it into failed answers and ERROR events."""

    status: str = "Failure"
    message: str = ""
    reason: str = ""
    code: int = 0
    details: StatusDetails | None = None
    metadata: _StatusMetadata = _StatusMetadata()
