"""Field errors in kube-apiserver's words."""

from collections.abc import Iterable
from typing import Any

from kcpctl.apiserver.gotext import as_json, shown
from kcpctl.apiserver.served import FieldError

MOST_TOLD = 1000
"""Errors that one answer tells; kube-apiserver tells them all, in tens of megabytes if need be."""


def required(field: str, detail: str = "") -> FieldError:
    """Say that the field must be there."""
    return FieldError(field, "FieldValueRequired", "Required value" + (f": {detail}" if detail else ""))


def invalid(field: str, value: Any, detail: str) -> FieldError:
    """Say what is wrong with the field's value."""
    return FieldError(field, "FieldValueInvalid", f"Invalid value: {shown(value)}: {detail}")


def wrong_type(field: str, value: Any, detail: str) -> FieldError:
    """Say that the field's value is of another type; `value` is what is shown, often just the type found."""
    return FieldError(field, "FieldValueTypeInvalid", f"Invalid value: {shown(value)}: {detail}")


def unsupported(field: str, value: Any, allowed: Iterable[Any]) -> FieldError:
    """Say which values the field may have."""
    listed = ", ".join(shown(v) if isinstance(v, str) else shown(as_json(v)) for v in allowed)
    return FieldError(field, "FieldValueNotSupported", f"Unsupported value: {shown(value)}: supported values: {listed}")


def duplicate(field: str, value: Any) -> FieldError:
    """Say that the value was there before."""
    return FieldError(field, "FieldValueDuplicate", f"Duplicate value: {shown(value)}")


def forbidden(field: str, detail: str) -> FieldError:
    """Say that the field may not be set (so)."""
    return FieldError(field, "FieldValueForbidden", f"Forbidden: {detail}")


def too_long(field: str, limit: int) -> FieldError:
    """Say how long a text may be."""
    return FieldError(field, "FieldValueTooLong", f"Too long: may not be more than {limit} bytes")


def too_many(field: str, found: int, limit: int) -> FieldError:
    """Say how many items a list or map may have."""
    noun = "item" if limit == 1 else "items"
    return FieldError(field, "FieldValueTooMany", f"Too many: {found}: must have at most {limit} {noun}")
