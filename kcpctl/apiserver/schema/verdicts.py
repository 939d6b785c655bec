"""What is wrong with a value, as Kubernetes words it."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from jsonschema_rs import ValidationError

from kcpctl.apiserver.field_errors import MOST_TOLD, invalid, required, too_long, too_many, unsupported, wrong_type
from kcpctl.apiserver.gotext import number, quote
from kcpctl.apiserver.schema.findings import Finding, junctions, locate, name_of, weight
from kcpctl.apiserver.schema.formats import enforced
from kcpctl.apiserver.schema.nodes import JSON
from kcpctl.apiserver.schema.translation import types
from kcpctl.apiserver.served import FieldError

_NOWHERE = "<nil>"
"""The field that Go prints for errors about alternatives, which name their place only in the sentence."""
MOST = MOST_TOLD + 1
"""Errors of one validation that are described: enough to show that there are more than an answer tells."""
_GO_FORMATS = {"integer": "int64", "number": "float64"}


def field_errors(errors: Iterable[ValidationError], schema: JSON, value: Any, path: str = "") -> list[FieldError]:
    """Return the errors of one validation as field errors.

    `schema` is the OpenAPI schema, `path` where the validated value lives; as in kube-apiserver the path stands in
    the field, and not in the sentence.
    """
    return list(_Speaker(schema, value, path).describe(islice(errors, MOST), 0))


class _Speaker:
    def __init__(self, schema: JSON, value: Any, path: str) -> None:
        self.schema = schema
        self.value = value
        self.path = path

    def describe(self, errors: Iterable[ValidationError], depth: int) -> Iterator[FieldError]:
        """Describe errors whose schemas lie below the first `depth` steps of their places."""
        findings = locate(errors, self.schema, self.value)
        for finding in findings:
            if finding.keyword in _ALTERNATIVES:
                yield from self._alternatives(finding)
            else:
                yield from self._plain(finding)
        for junction in junctions(findings, self.schema, depth):
            none = ". None validated" if junction.failed == junction.of else ""
            yield _composite(name_of(junction.steps), f"must validate all the schemas (allOf){none}")

    def _field(self, name: str) -> str:
        if not self.path or not name:
            return self.path or name
        return self.path + name if name.startswith("[") else f"{self.path}.{name}"

    def _plain(self, finding: Finding) -> Iterator[FieldError]:
        name = finding.name
        if finding.keyword == "required":
            missing = finding.kind.as_dict()["property"]
            yield required(self._field(name_of((*finding.steps, missing))))
        elif finding.keyword in ("additionalProperties", "falseSchema"):
            for extra in finding.value.keys() - (finding.schema.get("properties") or {}).keys():
                yield invalid(self._field(name), extra, f"{name}.{extra} in body is a forbidden property")
        else:
            yield _WORDS[finding.keyword](self._field(name), finding)

    def _alternatives(self, finding: Finding) -> Iterator[FieldError]:
        branches: list[list[ValidationError]] = getattr(finding.kind, "context", [])
        valid = sum(not branch for branch in branches)
        found = f"Found {valid} valid alternatives" if valid else "Found none valid"
        yield _composite(finding.name, _ALTERNATIVES[finding.keyword].format(found))
        if branches and not valid:
            weights = [weight(branch, finding.value) for branch in finding.schema[finding.keyword]]
            best = weights.index(max(weights))
            yield from self.describe(branches[best], len(finding.place) + 2)


_ALTERNATIVES = {
    "anyOf": "must validate at least one schema (anyOf)",
    "oneOf": "must validate one and only one schema (oneOf). {}",
    "not": "must not validate the schema (not)",
}


def _composite(name: str, words: str) -> FieldError:
    return invalid(_NOWHERE, "", f"{quote(name)} {words}")


def type_name(value: Any) -> str:
    """Return what kube-openapi calls the type of a JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for kind, named in ((str, "string"), (int, "integer"), (float, "number"), (list, "array")):
        if isinstance(value, kind):
            return named
    return "object"


def _type(field: str, finding: Finding) -> FieldError:
    wanted, found = ",".join(types(finding.schema)), type_name(finding.value)
    named = finding.schema.get("format")
    if named and enforced(named) and found not in ("null", "string", "array"):
        wanted, found = named, _GO_FORMATS.get(found, "")
    return wrong_type(field, found, f"{finding.name} in body must be of type {wanted}: {quote(found)}")


def _format(field: str, finding: Finding) -> FieldError:
    wanted = finding.schema["format"]
    return wrong_type(field, finding.value, f"{finding.name} in body must be of type {wanted}: {quote(finding.value)}")


def _pattern(field: str, finding: Finding) -> FieldError:
    return invalid(field, finding.value, f"{finding.name} in body should match '{finding.schema['pattern']}'")


def _limit(keyword: str, words: str) -> Callable[[str, Finding], FieldError]:
    def describe(field: str, finding: Finding) -> FieldError:
        limit = finding.schema[keyword]
        limit = int(limit) if isinstance(finding.value, int) else float(limit)
        return invalid(field, finding.value, f"{finding.name} in body should be {words} {number(limit)}")

    return describe


def _least(keyword: str, words: str) -> Callable[[str, Finding], FieldError]:
    def describe(field: str, finding: Finding) -> FieldError:
        shown = finding.value if isinstance(finding.value, str) else len(finding.value)
        return invalid(field, shown, f"{finding.name} in body should {words.format(finding.schema[keyword])}")

    return describe


def _most(keyword: str) -> Callable[[str, Finding], FieldError]:
    return lambda field, finding: too_many(field, len(finding.value), finding.schema[keyword])


_WORDS: dict[str, Callable[[str, Finding], FieldError]] = {
    "type": _type,
    "format": _format,
    "enum": lambda field, finding: unsupported(field, finding.value, finding.schema["enum"]),
    "pattern": _pattern,
    "maxLength": lambda field, finding: too_long(field, finding.schema["maxLength"]),
    "maxItems": _most("maxItems"),
    "maxProperties": _most("maxProperties"),
    "minLength": _least("minLength", "be at least {} chars long"),
    "minItems": _least("minItems", "have at least {} items"),
    "minProperties": _least("minProperties", "have at least {} properties"),
    "minimum": _limit("minimum", "greater than or equal to"),
    "exclusiveMinimum": _limit("minimum", "greater than"),
    "maximum": _limit("maximum", "less than or equal to"),
    "exclusiveMaximum": _limit("maximum", "less than"),
    "multipleOf": _limit("multipleOf", "a multiple of"),
}
