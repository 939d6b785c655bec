"""Namespace."""

from informers.api.names import qualified_name_errors
from kcpctl.apiserver.builtin.strategy import AGE, BuiltIn
from kcpctl.apiserver.field_errors import invalid
from kcpctl.apiserver.served import JSON, Column, Context, FieldError, Served
from kcpctl.apiserver.shapes.core import NAMESPACE
from kcpctl.apiserver.shapes.openapi import merge_table, schema
from kcpctl.apiserver.writing.metadata import UNQUALIFIED, is_unqualified

ACTIVE = "Active"
TERMINATING = "Terminating"
FINALIZER = "kubernetes"
"""In `spec.finalizers` of every namespace, until it is empty."""

_NAME_LABEL = "kubernetes.io/metadata.name"


class NamespaceDeletion:
    """A namespace that goes stays until somebody has emptied it and says so through `/finalize`."""

    def begin(self, obj: JSON, context: Context) -> None:
        """Show that the namespace is going away."""
        obj["status"]["phase"] = TERMINATING

    def held(self, obj: JSON) -> bool:
        """Say whether the namespace has not been emptied yet."""
        return bool(obj["spec"].get("finalizers"))


def _label(obj: JSON) -> None:
    """Give the namespace the label with its name, once it has one."""
    if name := obj["metadata"].get("name"):
        obj["metadata"]["labels"] = {**(obj["metadata"].get("labels") or {}), _NAME_LABEL: name}


def _on_create(obj: JSON, context: Context) -> None:
    _label(obj)
    finalizers = obj["spec"].get("finalizers") or []
    if FINALIZER not in finalizers:
        obj["spec"]["finalizers"] = [*finalizers, FINALIZER]
    obj["status"] = {"phase": ACTIVE}


def _on_update(obj: JSON, old: JSON, context: Context) -> None:
    """Leave the phase to `/status`, and what holds the namespace to `/finalize`."""
    _label(obj)
    if context.subresource == "status":
        obj["spec"] = old["spec"]
        return
    obj["status"] = old["status"]
    if context.subresource != "finalize":
        obj["spec"] = old["spec"]


def _check(obj: JSON, old: JSON | None, context: Context) -> list[FieldError]:
    finalizers = obj["spec"].get("finalizers") or []
    if context.subresource == "status":
        return _phase_errors(obj)
    if context.subresource == "finalize":
        return [e for at, name in enumerate(finalizers) for e in _finalizer_errors(name, f"spec.finalizers[{at}]")]
    return [e for name in finalizers for e in _finalizer_errors(name, "spec.finalizers")]


def _phase_errors(obj: JSON) -> list[FieldError]:
    phase = obj["status"].get("phase", "")
    if obj["metadata"].get("deletionTimestamp"):
        wanted, when = TERMINATING, "not empty"
    else:
        wanted, when = ACTIVE, "empty"
    if phase == wanted:
        return []
    return [invalid("status.Phase", phase, f"may only be '{wanted}' if `deletionTimestamp` is {when}")]


def _finalizer_errors(name: str, field: str) -> list[FieldError]:
    errors = [invalid(field, name, why) for why in qualified_name_errors(name)]
    return errors + ([invalid(field, name, UNQUALIFIED)] if is_unqualified(name) else [])


NAMESPACES = Served(
    "",
    "v1",
    "namespaces",
    "Namespace",
    BuiltIn(NAMESPACE, "v1", fill=_label, on_create=_on_create, on_update=_on_update, check=_check),
    namespaced=False,
    singular="namespace",
    short_names=("ns",),
    verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
    subresources=("finalize", "status"),
    columns=(
        Column(
            "Status", "string", lambda obj: obj["status"].get("phase", ""), description="The status of the namespace"
        ),
        AGE,
    ),
    schema=schema(NAMESPACE),
    merge_keys=merge_table(NAMESPACE),
    field_selectors=("status.phase", "name"),
    list_kind="NamespaceList",
    name_rule="label",
    deletion=NamespaceDeletion(),
)
