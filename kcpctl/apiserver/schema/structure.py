"""The rules that make a schema structural: types and extensions stand outside of allOf, anyOf, oneOf and not.

The schemas here have been read as JSONSchemaProps: every field has the type that it should have.
"""

from collections.abc import Iterator
from typing import Any

from kcpctl.apiserver.field_errors import forbidden, invalid, required
from kcpctl.apiserver.schema.characters import PatternError
from kcpctl.apiserver.schema.nodes import JSON
from kcpctl.apiserver.schema.patterns import check
from kcpctl.apiserver.served import FieldError

_ROOT, _ITEM, _FIELD = "at the root", "for specified array items", "for specified object fields"
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_EMBEDDED = "x-kubernetes-embedded-resource"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING_FLAG = "x-kubernetes-int-or-string"
_ONLY_OUTSIDE = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    _PRESERVE: "must be false to be structural",
    _EMBEDDED: "must be false to be structural",
    _INT_OR_STRING_FLAG: "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
}
"""What may not stand inside of allOf, anyOf, oneOf and not."""


def structural_errors(schema: JSON, path: str) -> list[FieldError]:
    """Return what keeps the schema of whole objects from being structural, sorted as kube-apiserver sorts it."""
    errors = [*_invariants(schema, _ROOT, path), *_incomplete(schema, schema, path, path)]
    return sorted(errors, key=lambda error: f"{error.field}: {error.message}")


def junctors(schema: JSON, path: str) -> Iterator[tuple[JSON, str]]:
    """Yield the schemas inside of allOf, anyOf, oneOf and not, with their paths."""
    for key in ("anyOf", "allOf", "oneOf"):
        for index, branch in enumerate(schema.get(key) or ()):
            yield branch, f"{path}.{key}[{index}]"
    if schema.get("not") is not None:
        yield schema["not"], f"{path}.not"


def _invariants(schema: JSON, level: str, path: str) -> Iterator[FieldError]:
    yield from _below(schema, path)
    additional = schema.get("additionalProperties")
    if additional is not None:
        if level is _ROOT:
            yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
        if isinstance(additional, dict):
            yield from _invariants(additional, _FIELD, f"{path}.additionalProperties")
    if schema.get(_INT_OR_STRING_FLAG):
        for other in (_PRESERVE, _EMBEDDED):
            if schema.get(other):
                yield invalid(f"{path}.{other}", True, "must be false if x-kubernetes-int-or-string is true")
    yield from _values(schema, path)
    yield from _type(schema, level, path)
    if level is _ROOT or schema.get(_EMBEDDED):
        yield from _implied_fields(schema, path)
    if level is _ROOT and not _only_names(schema):
        yield forbidden(
            f"{path}.properties[metadata]",
            "must not specify anything other than name and generateName, but metadata is implicitly specified",
        )


def _below(schema: JSON, path: str) -> Iterator[FieldError]:
    items = schema.get("items")
    if schema.get("type") == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    if items is not None:
        yield from _invariants(items, _ITEM, f"{path}.items")
    for name, below in (schema.get("properties") or {}).items():
        yield from _invariants(below, _FIELD, f"{path}.properties[{name}]")


def _type(schema: JSON, level: str, path: str) -> Iterator[FieldError]:
    kind = schema.get("type", "")
    if schema.get(_EMBEDDED) and kind != "object":
        rule = "must be object if x-kubernetes-embedded-resource is true"
        yield invalid(f"{path}.type", kind, rule) if kind else required(f"{path}.type", rule)
    elif not kind and not schema.get(_INT_OR_STRING_FLAG) and not schema.get(_PRESERVE):
        yield required(f"{path}.type", f"must not be empty {level}")
    if schema.get(_EMBEDDED) and schema.get("additionalProperties") is not None:
        yield forbidden(f"{path}.additionalProperties", "must not be used if x-kubernetes-embedded-resource is set")
    if level is _ROOT and kind and kind != "object":
        yield invalid(f"{path}.type", kind, "must be object at the root")
    if schema.get(_EMBEDDED) and not schema.get(_PRESERVE) and not schema.get("properties"):
        yield required(
            f"{path}.properties",
            f"must not be empty if {_EMBEDDED} is true without {_PRESERVE}",
        )


def _implied_fields(schema: JSON, path: str) -> Iterator[FieldError]:
    properties = schema.get("properties") or {}
    for name, kind in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        found = properties[name].get("type", "") if name in properties else kind
        if found != kind:
            yield invalid(f"{path}.properties[{name}].type", found, f"must be {kind}")


def _only_names(schema: JSON) -> bool:
    """Say whether the root's metadata restricts nothing but name and generateName."""
    metadata: dict[str, Any] = (schema.get("properties") or {}).get("metadata", {})
    names = set(metadata.get("properties") or {})
    return names <= {"name", "generateName"} and set(metadata) <= {"type", "default", "properties"}


def _values(schema: JSON, path: str) -> Iterator[FieldError]:
    """Check what restricts values, at a place outside of junctors."""
    all_of = schema.get("allOf") or [{}]
    is_idiom = schema.get("anyOf") == _INT_OR_STRING
    is_nested_idiom = all_of[0].get("anyOf") == _INT_OR_STRING
    for branch, place in junctors(schema, path):
        if is_idiom and place.startswith(f"{path}.anyOf["):
            continue
        yield from _nested(branch, place, skip_any_of=is_nested_idiom and place == f"{path}.allOf[0]")
    yield from _pattern(schema, path)


def _nested(schema: JSON, path: str, *, skip_any_of: bool = False) -> Iterator[FieldError]:
    for branch, place in junctors(schema, path):
        if not (skip_any_of and place.startswith(f"{path}.anyOf[")):
            yield from _nested(branch, place)
    yield from _pattern(schema, path)
    if isinstance(schema.get("items"), dict):
        yield from _nested(schema["items"], f"{path}.items")
    for name, below in (schema.get("properties") or {}).items():
        yield from _nested(below, f"{path}.properties[{name}]")
        if name == "metadata":
            yield forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context")
    for key, rule in _ONLY_OUTSIDE.items():
        if schema.get(key) not in (None, "", False, []):
            yield forbidden(f"{path}.{key}", rule)


def _pattern(schema: JSON, path: str) -> Iterator[FieldError]:
    try:
        check(schema.get("pattern", ""))
    except PatternError as error:
        yield invalid(f"{path}.pattern", schema["pattern"], f"must be a valid regular expression, but isn't: {error}")


def _incomplete(values: JSON, schema: JSON, path: str, place: str) -> Iterator[FieldError]:
    """Yield what stands only inside the junctors of `values` at `place`, and not in `schema` at `path`.

    Like the real rule, this is asked of the root's junctors only.
    """
    for branch, where in junctors(values, place):
        yield from _inside(branch, schema, path, where)


def _inside(values: JSON, schema: JSON | None, path: str, place: str) -> Iterator[FieldError]:
    if schema is None:
        yield required(path, f"because it is defined in {place}")
        return
    yield from _incomplete(values, schema, path, place)
    if values.get("items") is not None:
        yield from _inside(values["items"], schema.get("items"), f"{path}.items", f"{place}.items")
    outside = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    for name, below in (values.get("properties") or {}).items():
        known = outside.get(name, additional if isinstance(additional, dict) else None)
        yield from _inside(below, known, f"{path}.properties[{name}]", f"{place}.properties[{name}]")
