"""Lease: created by PUT as well, and never changed without its resourceVersion."""

from kcpctl.apiserver.builtin.strategy import AGE, BuiltIn
from kcpctl.apiserver.field_errors import invalid
from kcpctl.apiserver.served import JSON, Column, Context, FieldError, Served
from kcpctl.apiserver.shapes.core import LEASE
from kcpctl.apiserver.shapes.openapi import merge_table, schema

_COORDINATED = ("strategy", "preferredHolder")
"""Fields of coordinated leader election, which is off by default."""


def _on_create(obj: JSON, context: Context) -> None:
    for field in _COORDINATED:
        obj["spec"].pop(field, None)


def _on_update(obj: JSON, old: JSON, context: Context) -> None:
    for field in _COORDINATED:
        if field not in old["spec"]:
            obj["spec"].pop(field, None)


def _check(obj: JSON, old: JSON | None, context: Context) -> list[FieldError]:
    errors = []
    if (duration := obj["spec"].get("leaseDurationSeconds")) is not None and duration <= 0:
        errors.append(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    if (transitions := obj["spec"].get("leaseTransitions")) is not None and transitions < 0:
        errors.append(invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
    return errors


LEASES = Served(
    "coordination.k8s.io",
    "v1",
    "leases",
    "Lease",
    BuiltIn(LEASE, "coordination.k8s.io/v1", on_create=_on_create, on_update=_on_update, check=_check),
    singular="lease",
    columns=(
        Column(
            "Holder", "string", lambda obj: obj["spec"].get("holderIdentity", ""), description="Who holds the lease"
        ),
        AGE,
    ),
    schema=schema(LEASE),
    merge_keys=merge_table(LEASE),
    unconditional_update=False,
    create_on_update=True,
    list_kind="LeaseList",
)
