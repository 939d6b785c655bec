"""Failures as bodies: Status objects, field by field in kube-apiserver's order."""

from typing import Any

import msgspec

from informers.api.status import Status
from kcpctl.apiserver.failures import Failure

_encode = msgspec.json.Encoder().encode


def encode(status: Status) -> bytes:
    """Return the JSON of a Status; empty fields are left out, empty details are kept."""
    body: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": status.metadata, "status": status.status}
    if status.message:
        body["message"] = status.message
    if status.reason:
        body["reason"] = status.reason
    if status.details is not None:
        body["details"] = status.details
    if status.code:
        body["code"] = status.code
    return _encode(body)


def retry_after(failure: Failure) -> int:
    """Return the seconds after which the client should try again, 0 for none."""
    details = failure.status.details
    return details.retry_after_seconds if details is not None else 0
