"""ServiceAccount."""

from kcpctl.apiserver.builtin.strategy import AGE, BuiltIn
from kcpctl.apiserver.served import JSON, Context, Served
from kcpctl.apiserver.shapes.core import SERVICE_ACCOUNT
from kcpctl.apiserver.shapes.openapi import merge_table, schema

_MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"
_ADVICE = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"


def _bare_secrets(obj: JSON) -> None:
    """Keep nothing of secret references but their names."""
    if obj.get("secrets"):
        obj["secrets"] = [{"name": found["name"]} if found.get("name") else {} for found in obj["secrets"]]


def _warn(obj: JSON, old: JSON | None, context: Context) -> None:
    before, after = (((one or {}).get("metadata") or {}).get("annotations") or {} for one in (old, obj))
    if _MOUNTABLE in after and _MOUNTABLE not in before:
        context.warnings.append(f"metadata.annotations[{_MOUNTABLE}]: {_ADVICE}")


def _on_create(obj: JSON, context: Context) -> None:
    _bare_secrets(obj)
    _warn(obj, None, context)


def _on_update(obj: JSON, old: JSON, context: Context) -> None:
    _bare_secrets(obj)
    _warn(obj, old, context)


SERVICE_ACCOUNTS = Served(
    "",
    "v1",
    "serviceaccounts",
    "ServiceAccount",
    BuiltIn(SERVICE_ACCOUNT, "v1", on_create=_on_create, on_update=_on_update),
    singular="serviceaccount",
    short_names=("sa",),
    columns=(AGE,),
    schema=schema(SERVICE_ACCOUNT),
    merge_keys=merge_table(SERVICE_ACCOUNT),
    list_kind="ServiceAccountList",
)
