"""What one version of a CustomResourceDefinition may say besides its schema."""

import re
from collections.abc import Iterator

from informers.api.names import dns1035_errors
from kcpctl.apiserver.field_errors import duplicate, invalid, required, too_many
from kcpctl.apiserver.served import JSON, FieldError

_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_MOST_SELECTABLE = 8
_LONGEST_WARNING = 256
_SELECTABLE = re.compile(r"(?:\.[^.\[\]]+|\['(?:[^'\\]|\\.)+'\])+")
_SELECTABLE_STEP = re.compile(r"\.([^.\[\]]+)|\['((?:[^'\\]|\\.)+)'\]")
_AT_ROOT = (
    *("Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum"),
    *("MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items"),
    *("Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations"),
)
"""What may stand at the root of a schema whose status is validated on its own, in Go's names."""
_ROOT_KEYWORDS = {name[0].lower() + name[1:] for name in _AT_ROOT} | {
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
}


def version_errors(version: JSON, path: str) -> Iterator[FieldError]:
    """Yield what is wrong with a version; the inside of its schema is looked at elsewhere."""
    if errors := dns1035_errors(version["name"]):
        yield invalid(f"{path}.name", version["name"], ",".join(errors))
    for problem in _warning_problems(version):
        yield invalid(f"{path}.deprecationWarning", version["deprecationWarning"], problem)
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if schema is None:
        yield required(f"{path}.schema.openAPIV3Schema")
    else:
        yield from _root(version, schema, f"{path}.schema.openAPIV3Schema")
    yield from _scale((version.get("subresources") or {}).get("scale"), f"{path}.subresources.scale")
    for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
        yield from _column(column, f"{path}.additionalPrinterColumns[{index}]")
    yield from _selectable(version.get("selectableFields") or [], schema, f"{path}.selectableFields")


def selectable_path(text: str) -> str:
    """Return a selectable field's JSON path as selectors name it: `spec.color`."""
    return ".".join(name or quoted for name, quoted in _SELECTABLE_STEP.findall(text))


def _warning_problems(version: JSON) -> Iterator[str]:
    warning: str | None = version.get("deprecationWarning")
    if warning is None:
        return
    if not version.get("deprecated"):
        yield "can only be set for deprecated versions"
        return
    if len(warning.encode()) > _LONGEST_WARNING:
        yield f"must be <= {_LONGEST_WARNING} characters long"
    if not warning:
        yield "must not be an empty string"
    odd = next((at for at, char in enumerate(warning) if not char.isprintable()), None)
    if odd is not None:
        yield f"must only contain printable UTF-8 characters; non-printable character found at index {odd}"


def _root(version: JSON, schema: JSON, path: str) -> Iterator[FieldError]:
    if schema.get("nullable"):
        yield FieldError(f"{path}.nullable", "FieldValueForbidden", "Forbidden: nullable cannot be true at the root")
    if "status" not in (version.get("subresources") or {}):
        return
    if schema.get("type", "object") != "object":
        rule = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        yield invalid(f"{path}.type", schema["type"], rule)
    if others := sorted(set(schema) - _ROOT_KEYWORDS):
        allowed = f"[{' '.join(_AT_ROOT)}]"
        rule = f"only {allowed} fields are allowed at the root of the schema if the status subresource is enabled"
        yield invalid(path, others, rule)


def _scale(scale: JSON | None, path: str) -> Iterator[FieldError]:
    if scale is None:
        return
    for name, root in (("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")):
        if not scale.get(name):
            yield required(f"{path}.{name}")
        else:
            yield from _simple_path(scale[name], (root,), f"should be a json path under {root}", f"{path}.{name}")
    if scale.get("labelSelectorPath"):
        rule = "should be a json path under either .spec or .status"
        yield from _simple_path(scale["labelSelectorPath"], (".spec", ".status"), rule, f"{path}.labelSelectorPath")


def _simple_path(text: str, roots: tuple[str, ...], rule: str, field: str) -> Iterator[FieldError]:
    if not text.startswith("."):
        yield invalid(field, text, "must be a simple json path starting with .")
    elif not text.startswith(tuple(f"{root}." for root in roots)):
        yield invalid(field, text, rule)


def _column(column: JSON, path: str) -> Iterator[FieldError]:
    types = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not column["name"]:
        yield required(f"{path}.name")
    if not column["type"]:
        yield required(f"{path}.type", types)
    elif column["type"] not in _COLUMN_TYPES:
        yield invalid(f"{path}.type", column["type"], types)
    if column.get("format") and column["format"] not in _COLUMN_FORMATS:
        yield invalid(f"{path}.format", column["format"], f"must be one of {','.join(_COLUMN_FORMATS)}")
    if not column["jsonPath"]:
        yield required(f"{path}.JSONPath")
    elif not column["jsonPath"].startswith("."):
        yield invalid(f"{path}.JSONPath", column["jsonPath"], "must be a simple json path starting with .")


def _selectable(fields: list[JSON], schema: JSON | None, path: str) -> Iterator[FieldError]:
    if fields and schema is None:
        yield invalid(path, "", "may only be set when `version.schema.openAPIV3Schema` is not included")
        return
    seen: set[str] = set()
    for index, field in enumerate(fields):
        text, place = field["jsonPath"], f"{path}[{index}].jsonPath"
        if not text:
            yield required(place)
            continue
        found = _descend(text, schema or {})
        if found is None:
            yield invalid(place, text, "is an invalid path: does not refer to a valid field")
            continue
        name = selectable_path(text)
        if name.partition(".")[0] == "metadata":
            yield invalid(place, text, "must not point to fields in metadata")
        if found.get("type") not in ("string", "boolean", "integer"):
            yield invalid(
                place,
                text,
                "must point to a field of type string, boolean or integer. Enum string fields and strings with formats"
                " are allowed.",
            )
        if name in seen:
            yield duplicate(place, text)
        seen.add(name)
    if len(seen) > _MOST_SELECTABLE:
        yield too_many(path, len(seen), _MOST_SELECTABLE)


def _descend(text: str, schema: JSON) -> JSON | None:
    if not _SELECTABLE.fullmatch(text):
        return None
    for name, quoted in _SELECTABLE_STEP.findall(text):
        found = (schema.get("properties") or {}).get(name or quoted, schema.get("additionalProperties"))
        if not isinstance(found, dict):
            return None
        schema = found
    return schema
