"""OpenAPI v3 schemas of CRDs as JSON Schemas that jsonschema-rs takes."""

from typing import Any

import msgspec

from kcpctl.apiserver.schema.formats import enforced
from kcpctl.apiserver.schema.nodes import JSON
from kcpctl.apiserver.schema.patterns import translate

_AS_THEY_ARE = ("maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties", "multipleOf")
_INT_OR_STRING = ["integer", "string"]
_sorted = msgspec.json.Encoder(order="sorted").encode


def to_json_schema(schema: JSON) -> JSON:
    """Return the schema in draft 7.

    Differences that this bridges: nulls are let through by `nullable`, exclusive limits are flags, `int-or-string` is
    a type, formats and patterns are read Go's way, and whatever does not constrain values is left out.
    """
    out = _constraints(schema)
    junctors = _junctors(schema)
    if schema.get("nullable") is True and junctors:
        # A null is checked for its type and as a member of the enum, for nothing else.
        out["if"], out["else"] = {"type": "null"}, junctors
    else:
        out.update(junctors)
    return out


def types(schema: JSON) -> list[str]:
    """Return the types that the schema allows besides null; empty for any."""
    if schema.get("x-kubernetes-int-or-string") is True:
        return _INT_OR_STRING
    return [schema["type"]] if schema.get("type") else []


def _constraints(schema: JSON) -> JSON:
    out: JSON = {key: schema[key] for key in _AS_THEY_ARE if schema.get(key) is not None}
    allowed = types(schema)
    if allowed:
        out["type"] = [*allowed, "null"] if schema.get("nullable") is True else list(allowed)
    if schema.get("enum"):
        out["enum"] = _unique(schema["enum"])
    if schema.get("required"):
        out["required"] = _unique(schema["required"])
    if schema.get("pattern"):
        out["pattern"] = translate(schema["pattern"])
    if schema.get("format") and enforced(schema["format"]):
        out["format"] = enforced(schema["format"])
    _limit(out, schema, "minimum", "exclusiveMinimum")
    _limit(out, schema, "maximum", "exclusiveMaximum")
    if schema.get("properties"):
        out["properties"] = {name: to_json_schema(below) for name, below in schema["properties"].items()}
    if isinstance(schema.get("items"), dict):
        out["items"] = to_json_schema(schema["items"])
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        out["additionalProperties"] = to_json_schema(additional)
    elif additional is False:
        out["additionalProperties"] = False
    return out


def _limit(out: JSON, schema: JSON, inclusive: str, exclusive: str) -> None:
    if schema.get(inclusive) is not None:
        out[exclusive if schema.get(exclusive) is True else inclusive] = schema[inclusive]


def _junctors(schema: JSON) -> JSON:
    out: JSON = {}
    for key in ("allOf", "anyOf", "oneOf"):
        if schema.get(key):
            out[key] = [to_json_schema(branch) for branch in schema[key]]
    if isinstance(schema.get("not"), dict):
        out["not"] = to_json_schema(schema["not"])
    return out


def _unique(values: list[Any]) -> list[Any]:
    return list({_sorted(value): value for value in values}.values())
