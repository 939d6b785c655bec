"""The status of an object for those who change some of its fields and leave the others as they are."""

from typing import Any

import msgspec

from informers.api.objects import Object


class _Status(msgspec.Struct, gc=False):
    status: dict[str, msgspec.Raw] | None = None


_decode = msgspec.json.Decoder(_Status).decode


def fields_of_status(obj: Object[Any]) -> dict[str, Any]:
    """Return the fields of the status, a fresh dict; their values are JSON texts, which nobody has to take apart."""
    found: dict[str, Any] = dict(_decode(obj.raw).status or {})
    return found
