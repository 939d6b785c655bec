"""Everything that a schema must fulfil before a CRD may have it."""

from collections.abc import Iterator

from msgspec.json import decode, encode

from kcpctl.apiserver.field_errors import forbidden, invalid
from kcpctl.apiserver.schema.embedded import EmbeddedError, coerce, problems
from kcpctl.apiserver.schema.formats import recognized
from kcpctl.apiserver.schema.nodes import JSON, compile_node
from kcpctl.apiserver.schema.openapi_rules import has_unsupported, openapi_errors
from kcpctl.apiserver.schema.pruning import prune
from kcpctl.apiserver.schema.structural import ValueSchema
from kcpctl.apiserver.schema.structure import junctors, structural_errors
from kcpctl.apiserver.served import FieldError

_RULES = "x-kubernetes-validations"


def schema_errors(schema: JSON, path: str) -> list[FieldError]:
    """Return what is wrong with the schema of whole objects, which has been read as JSONSchemaProps.

    Also wrong is what this server does not have: the error names the feature, so that nothing is half enforced.
    """
    errors = [] if has_unsupported(schema) else structural_errors(schema, path)
    if not errors and not has_unsupported(schema):
        errors = list(_defaults(schema, path, in_metadata=False))
    errors += openapi_errors(schema, path)
    errors += _not_built(schema, path)
    return errors or _unbuildable(schema, path)


def unrecognized_formats(schema: JSON) -> list[str]:
    """Return the formats in the schema that mean nothing."""
    return [s["format"] for s in _all(schema) if s.get("format") and not recognized(s["format"])]


def _all(schema: JSON) -> Iterator[JSON]:
    yield schema
    for below in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(below, dict):
            yield from _all(below)
    for below in (schema.get("properties") or {}).values():
        yield from _all(below)
    for branch, _ in junctors(schema, ""):
        yield from _all(branch)


def _not_built(schema: JSON, path: str) -> Iterator[FieldError]:
    """Yield an error for each place with validation rules; they are the one feature of schemas that is missing."""
    if schema.get(_RULES):
        yield forbidden(
            f"{path}.{_RULES}",
            "validation rules (CEL) are not built into this server; remove them, or install the CRD on another one",
        )
    for below, where in _places(schema, path):
        yield from _not_built(below, where)


def _places(schema: JSON, path: str) -> Iterator[tuple[JSON, str]]:
    for name, below in (schema.get("properties") or {}).items():
        yield below, f"{path}.properties[{name}]"
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield schema[key], f"{path}.{key}"
    yield from junctors(schema, path)


def _defaults(schema: JSON, path: str, *, in_metadata: bool) -> Iterator[FieldError]:
    """Check that defaults are pruned and valid; those below additionalProperties are not looked at."""
    is_object = schema.get("x-kubernetes-embedded-resource") is True
    if schema.get("default") is not None:
        yield from _default(schema, f"{path}.default", in_metadata=in_metadata and not is_object)
    if isinstance(schema.get("items"), dict):
        yield from _defaults(schema["items"], f"{path}.items", in_metadata=in_metadata)
    for name, below in (schema.get("properties") or {}).items():
        is_meta = is_object and name in ("metadata", "apiVersion", "kind")
        inside = is_meta or (in_metadata and not is_object)
        yield from _defaults(below, f"{path}.properties[{name}]", in_metadata=inside)


def _default(schema: JSON, path: str, *, in_metadata: bool) -> Iterator[FieldError]:
    value = schema["default"]
    if not in_metadata:
        whole, node = {"default": value}, compile_node({"properties": {"default": schema}})
        if prune(_copy(whole), node):
            yield invalid(path, value, "must not have unknown fields")
        try:
            coerce(_copy(whole), node)
            wrong = list(problems(whole, node))
        except EmbeddedError as error:
            wrong = [error.error]
        if wrong:
            yield from (FieldError(path + e.field.removeprefix("default"), e.reason, e.message) for e in wrong)
            return
    yield from ValueSchema(schema).errors(value, path)


def _copy(value: JSON) -> JSON:
    copied: JSON = decode(encode(value))
    return copied


def _unbuildable(schema: JSON, path: str) -> list[FieldError]:
    try:
        ValueSchema(schema).build()
    except ValueError as error:
        summary = str(error).partition("\n")[0]
        return [invalid(path.removesuffix(".openAPIV3Schema"), "", f"error building validator: {summary}")]
    return []
