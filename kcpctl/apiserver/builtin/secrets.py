"""Secret."""

from base64 import b64decode, b64encode

from kcpctl.apiserver.builtin.configmaps import frozen_errors
from kcpctl.apiserver.builtin.keys import LARGEST, base64_size, key_errors
from kcpctl.apiserver.builtin.strategy import AGE, BuiltIn
from kcpctl.apiserver.field_errors import invalid, required, too_long
from kcpctl.apiserver.served import JSON, Column, Context, FieldError, Served
from kcpctl.apiserver.shapes.core import SECRET
from kcpctl.apiserver.shapes.openapi import merge_table, schema
from kcpctl.apiserver.shapes.reader import json_name, printed
from kcpctl.apiserver.writing.jsontext import JsonError, read

OPAQUE = "Opaque"
_SERVICE_ACCOUNT = "kubernetes.io/service-account.name"

_WANTED = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
"""Keys that secrets of a type must have."""
_EITHER = ("username", "password")
"""Of these a kubernetes.io/basic-auth must have one."""


def _fill(obj: JSON) -> None:
    """Move stringData into data, and give the type a value."""
    texts = obj.pop("stringData", None) or {}
    encoded = {key: b64encode(text.encode()).decode() for key, text in texts.items()}
    values = obj | {"data": {**(obj.get("data") or {}), **encoded}, "type": obj.get("type") or OPAQUE}
    obj.clear()
    obj.update(printed(SECRET, values))


def _check(obj: JSON, old: JSON | None, context: Context) -> list[FieldError]:
    data = obj.get("data") or {}
    errors = []
    if old is not None and obj["type"] != old.get("type"):
        errors.append(invalid("type", obj["type"], "field is immutable"))
    errors += frozen_errors(obj, old, ("data",))
    errors += key_errors("data", data)
    if base64_size(data) > LARGEST:
        errors.append(too_long("data", LARGEST))
    return errors + _type_errors(obj, data)


def _type_errors(obj: JSON, data: JSON) -> list[FieldError]:
    """Return what secrets of the object's type must hold and this one does not."""
    kind = obj["type"]
    if kind == "kubernetes.io/service-account-token":
        named = (obj["metadata"].get("annotations") or {}).get(_SERVICE_ACCOUNT)
        return [] if named else [required(f"metadata.annotations[{_SERVICE_ACCOUNT}]")]
    if kind == "kubernetes.io/basic-auth":
        return [] if any(key in data for key in _EITHER) else [required(f"data[{key}]") for key in _EITHER]
    wanted = _WANTED.get(kind, ())
    missing = [key for key in wanted if not data.get(key) and (key not in data or kind == "kubernetes.io/ssh-auth")]
    if missing or not kind.startswith("kubernetes.io/docker"):
        return [required(f"data[{key}]") for key in missing]
    return _docker_errors(wanted[0], b64decode(data[wanted[0]]))


def _docker_errors(key: str, content: bytes) -> list[FieldError]:
    try:
        value = read(content).value
    except JsonError as error:
        why = str(error)
    else:
        if isinstance(value, dict | None):
            return []
        why = f"json: cannot unmarshal {json_name(value)} into Go value of type map[string]interface {{}}"
    return [invalid(f"data[{key}]", "<secret contents redacted>", why)]


SECRETS = Served(
    "",
    "v1",
    "secrets",
    "Secret",
    BuiltIn(SECRET, "v1", fill=_fill, check=_check),
    singular="secret",
    columns=(
        Column("Type", "string", lambda obj: obj.get("type", ""), description="What the data is for"),
        Column("Data", "string", lambda obj: len(obj.get("data") or ()), description="How many values there are"),
        AGE,
    ),
    schema=schema(SECRET),
    merge_keys=merge_table(SECRET),
    field_selectors=("type",),
    list_kind="SecretList",
)
