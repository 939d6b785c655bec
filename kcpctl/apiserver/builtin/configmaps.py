"""ConfigMap."""

from kcpctl.apiserver.builtin.keys import LARGEST, base64_size, key_errors, text_size
from kcpctl.apiserver.builtin.strategy import AGE, BuiltIn
from kcpctl.apiserver.field_errors import forbidden, invalid, too_long
from kcpctl.apiserver.served import JSON, Column, Context, FieldError, Served
from kcpctl.apiserver.shapes.core import CONFIG_MAP
from kcpctl.apiserver.shapes.openapi import merge_table, schema

FROZEN = "field is immutable when `immutable` is set"


def frozen_errors(obj: JSON, old: JSON | None, fields: tuple[str, ...]) -> list[FieldError]:
    """Return which fields of an object that calls itself immutable have changed."""
    if old is None or not old.get("immutable"):
        return []
    errors = [] if obj.get("immutable") else [forbidden("immutable", FROZEN)]
    return errors + [forbidden(field, FROZEN) for field in fields if (obj.get(field) or {}) != (old.get(field) or {})]


def _check(obj: JSON, old: JSON | None, context: Context) -> list[FieldError]:
    texts, binaries = obj.get("data") or {}, obj.get("binaryData") or {}
    errors = frozen_errors(obj, old, ("data", "binaryData"))
    errors += key_errors("data", texts)
    errors += [
        invalid(f"data[{key}]", key, "duplicate of key present in binaryData") for key in texts if key in binaries
    ]
    errors += key_errors("binaryData", binaries)
    if text_size(texts) + base64_size(binaries) > LARGEST:
        errors.append(too_long("[]", LARGEST))
    return errors


CONFIG_MAPS = Served(
    "",
    "v1",
    "configmaps",
    "ConfigMap",
    BuiltIn(CONFIG_MAP, "v1", check=_check),
    singular="configmap",
    short_names=("cm",),
    columns=(
        Column("Data", "string", lambda obj: len(obj.get("data") or ()) + len(obj.get("binaryData") or ())),
        AGE,
    ),
    schema=schema(CONFIG_MAP),
    merge_keys=merge_table(CONFIG_MAP),
    list_kind="ConfigMapList",
)
