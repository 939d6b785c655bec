"""Schemas as they are published: what the server knows of a field besides what its definition says."""

from typing import Any

from kcpctl.apiserver.served import JSON

_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_METADATA = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def published(schema: JSON) -> JSON:
    """Return a definition's schema for OpenAPI documents; the definition's own stays as it is."""
    out: JSON = {key: _below(key, value) for key, value in schema.items()}
    if schema.get("x-kubernetes-int-or-string") and "anyOf" not in schema and "allOf" not in schema:
        out["anyOf"] = _INT_OR_STRING
    if schema.get("x-kubernetes-embedded-resource"):
        out["properties"] = _of_every_object() | out.get("properties", {})
        out["required"] = list(dict.fromkeys([*out.get("required", ()), "kind", "apiVersion"]))
    return out


def _below(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: published(inner) for name, inner in value.items()}
    return published(value) if key in ("items", "additionalProperties") and isinstance(value, dict) else value


def _of_every_object() -> JSON:
    return {
        "apiVersion": {"type": "string", "description": "The group and version that the object is of."},
        "kind": {"type": "string", "description": "What the object is, in CamelCase."},
        "metadata": {"allOf": [{"$ref": _METADATA}], "description": "The object's own metadata."},
    }
