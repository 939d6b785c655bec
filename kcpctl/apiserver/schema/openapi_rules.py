"""What OpenAPI schemas of CRDs may contain, structural or not: extensions that fit, nothing that is not supported."""

from collections.abc import Iterator

import msgspec

from kcpctl.apiserver.field_errors import forbidden, invalid, required, unsupported
from kcpctl.apiserver.schema.nodes import JSON
from kcpctl.apiserver.schema.structure import junctors
from kcpctl.apiserver.served import FieldError

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_META = frozenset(("metadata", "kind", "apiVersion"))
_LIST_TYPE = "x-kubernetes-list-type"
_LIST_KEYS = "x-kubernetes-list-map-keys"
_MAP_TYPE = "x-kubernetes-map-type"
_EMBEDDED = "x-kubernetes-embedded-resource"
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")


class _Surroundings(msgspec.Struct, frozen=True):
    """What a schema must know of where it stands."""

    is_root: bool = False
    in_metadata: bool = False
    no_defaults: str | None = None
    """Why defaults are forbidden ("" when that is clear); None where they are allowed."""


def openapi_errors(schema: JSON, path: str) -> list[FieldError]:
    """Return what the schema of whole objects contains that it may not."""
    return list(_schema(schema, path, _Surroundings(is_root=True)))


def has_unsupported(schema: JSON) -> bool:
    """Say whether the schema uses what cannot be made structural at all."""
    if any(schema.get(key) for key in _UNSUPPORTED) or isinstance(schema.get("items"), list):
        return True
    return any(has_unsupported(below) for below, _, _ in _children(schema, "", _Surroundings()))


def _schema(schema: JSON, path: str, here: _Surroundings) -> Iterator[FieldError]:
    yield from _keywords(schema, path, here)
    if schema.get("additionalProperties", True) is not True and schema.get("properties"):
        yield forbidden(f"{path}.additionalProperties", "additionalProperties and properties are mutual exclusive")
    for below, place, there in _children(schema, path, here):
        yield from _schema(below, place, there)
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        yield invalid(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined")
    yield from _map_type(schema, path)
    yield from _list_type(schema, path)
    yield from _unique_items(schema, path)


def _children(schema: JSON, path: str, here: _Surroundings) -> Iterator[tuple[JSON, str, _Surroundings]]:
    inside = msgspec.structs.replace(here, is_root=False)
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        reason = "inside additionalProperties applying to object metadata"
        there = msgspec.structs.replace(inside, no_defaults=reason) if here.in_metadata else inside
        yield additional, f"{path}.additionalProperties", there
    for name, below in (schema.get("properties") or {}).items():
        there = inside
        if name in _META and (here.is_root or schema.get(_EMBEDDED)):
            reason_or_none = f"in top-level {name}" if here.is_root else here.no_defaults
            there = _Surroundings(in_metadata=True, no_defaults=reason_or_none)
        yield below, f"{path}.properties[{name}]", there
    for branch, place in junctors(schema, path):
        yield branch, place, inside
    if isinstance(schema.get("items"), dict):
        yield schema["items"], f"{path}.items", inside


def _keywords(schema: JSON, path: str, here: _Surroundings) -> Iterator[FieldError]:
    kind = schema.get("type", "")
    if kind and kind not in _TYPES:
        yield unsupported(f"{path}.type", kind, _TYPES)
    if schema.get("default") is not None and here.no_defaults is not None:
        yield forbidden(f"{path}.default", f"must not be set {here.no_defaults}".rstrip())
    for key in _UNSUPPORTED:
        if schema.get(key):
            yield forbidden(f"{path}.{key}", f"{key} is not supported")
    if kind == "null":
        yield forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
    if isinstance(schema.get("items"), list):
        yield forbidden(f"{path}.items", "items must be a schema object and not an array")
    if here.in_metadata and schema.get(_EMBEDDED):
        yield forbidden(f"{path}.{_EMBEDDED}", "must not be used inside of resource meta")
    if schema.get("uniqueItems"):
        rule = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(f"{path}.uniqueItems", rule)


def _map_type(schema: JSON, path: str) -> Iterator[FieldError]:
    found = schema.get(_MAP_TYPE)
    if found is None:
        return
    yield from _needs_type(schema, "object", _MAP_TYPE, path)
    if found not in ("atomic", "granular"):
        yield unsupported(f"{path}.{_MAP_TYPE}", found, ("atomic", "granular"))


def _needs_type(schema: JSON, kind: str, extension: str, path: str) -> Iterator[FieldError]:
    found = schema.get("type", "")
    if found != kind:
        rule = f"must be {kind} if {extension} is specified"
        yield invalid(f"{path}.type", found, rule) if found else required(f"{path}.type", rule)


def _list_type(schema: JSON, path: str) -> Iterator[FieldError]:
    found = schema.get(_LIST_TYPE)
    if found is not None:
        yield from _needs_type(schema, "array", _LIST_TYPE, path)
        if found not in ("atomic", "set", "map"):
            yield unsupported(f"{path}.{_LIST_TYPE}", found, ("atomic", "set", "map"))
    if schema.get(_LIST_KEYS) and found != "map":
        rule = f"must be map if {_LIST_KEYS} is non-empty"
        field = f"{path}.{_LIST_TYPE}"
        yield required(field, rule) if found is None else invalid(field, found, rule)
    if found == "map":
        yield from _map_list(schema, path)


def _map_list(schema: JSON, path: str) -> Iterator[FieldError]:
    keys, items = schema.get(_LIST_KEYS) or [], schema.get("items")
    if not keys:
        yield required(f"{path}.{_LIST_KEYS}", f"must not be empty if {_LIST_TYPE} is map")
    if items is None:
        yield required(f"{path}.items", f"must have a schema if {_LIST_TYPE} is map")
    elif isinstance(items, list):
        yield invalid(f"{path}.items", items, f"must only have a single schema if {_LIST_TYPE} is map")
    elif items.get("type") != "object":
        rule = f"must be object if parent array's {_LIST_TYPE} is map"
        yield invalid(f"{path}.items.type", items.get("type", ""), rule)
    else:
        yield from _map_keys(keys, items, path)


def _map_keys(keys: list[str], items: JSON, path: str) -> Iterator[FieldError]:
    properties = items.get("properties") or {}
    for index, key in enumerate(keys):
        if key not in properties:
            yield invalid(f"{path}.{_LIST_KEYS}", keys, "entries must all be names of item properties")
        elif properties[key].get("type") in ("array", "object"):
            rule = f"must be a scalar type if parent array's {_LIST_TYPE} is map"
            yield invalid(f"{path}.items.properties[{key}].type", items["type"], rule)
        if key in keys[:index]:
            yield invalid(f"{path}.{_LIST_KEYS}", keys, "must not contain duplicate entries")


def _unique_items(schema: JSON, path: str) -> Iterator[FieldError]:
    """Check that items of sets and maps can be told apart."""
    kind, items = schema.get(_LIST_TYPE), schema.get("items")
    if kind not in ("set", "map") or not isinstance(items, dict):
        return
    if schema.get("type") == "array" and kind == "set":
        yield from _atomic_items(items, path)
    if items.get("nullable"):
        yield forbidden(f"{path}.items.nullable", f"cannot be nullable when {_LIST_TYPE} is {kind}")
    for key in (schema.get(_LIST_KEYS) or ()) if kind == "map" else ():
        known = (items.get("properties") or {}).get(key)
        field = f"{path}.items.properties[{key}]"
        if known is None:
            continue
        if key not in (items.get("required") or ()) and known.get("default") is None:
            rule = f"this property is in {_LIST_KEYS}, so it must have a default or be a required property"
            yield required(f"{field}.default", rule)
        if known.get("nullable"):
            yield forbidden(f"{field}.nullable", f"this property is in {_LIST_KEYS}, so it cannot be nullable")


def _atomic_items(items: JSON, path: str) -> Iterator[FieldError]:
    rule = f"must be atomic as item of a list with {_LIST_TYPE}=set"
    if items.get("type") == "array" and items.get(_LIST_TYPE) not in (None, "atomic"):
        yield invalid(f"{path}.items.{_LIST_TYPE}", items[_LIST_TYPE], rule)
    if items.get("type") == "object" and items.get(_MAP_TYPE) != "atomic":
        yield invalid(f"{path}.items.{_MAP_TYPE}", items.get(_MAP_TYPE), rule)
