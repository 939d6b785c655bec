"""What a write answers with."""

import msgspec

from informers.api.status import StatusDetails
from kcpctl.apiserver.reading import ListResult
from kcpctl.apiserver.served import JSON, Served


class Written(msgspec.Struct, frozen=True):
    """A finished write."""

    body: bytes
    """The object as served, or a Status of success; JSON."""
    code: int = 200
    warnings: tuple[str, ...] = ()


class Deleted(msgspec.Struct, frozen=True):
    """A finished deletion of a collection."""

    found: ListResult
    """What was deleted, as it was."""
    warnings: tuple[str, ...] = ()


def gone(served: Served, metadata: JSON, warnings: list[str]) -> Written:
    """Return the Status that says that an object is no more."""
    details = StatusDetails(name=metadata["name"], group=served.group, kind=served.plural, uid=metadata.get("uid", ""))
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
    return Written(msgspec.json.encode(body), 200, tuple(warnings))
