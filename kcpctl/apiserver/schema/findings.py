"""What jsonschema-rs finds wrong, located: where in the OpenAPI schema, where in the object, which of them count."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from jsonschema_rs import ValidationError, ValidationErrorKind

from kcpctl.apiserver.schema.nodes import JSON

Steps = tuple[str | int, ...]

_STRING_ORDER = ("maxLength", "minLength", "pattern")
_SIZES = ("minProperties", "maxProperties")
_INSIDE_OBJECTS = frozenset(("properties", "additionalProperties", "required"))
_ADDED = frozenset(("if", "else"))
"""What the translation to JSON Schema put around parts of the OpenAPI schema."""


class Finding(msgspec.Struct, frozen=True):
    """One thing wrong."""

    keyword: str
    kind: ValidationErrorKind
    place: Steps
    """Path of the failing schema inside the OpenAPI schema."""
    steps: Steps
    """Path of the failing value inside the validated one."""
    schema: JSON
    value: Any

    @property
    def name(self) -> str:
        """The value's path as sentences name it: `spec.list[0].x`; "" for the validated value itself."""
        return name_of(self.steps)


class Junction(msgspec.Struct, frozen=True):
    """An `allOf` with failing branches."""

    steps: Steps
    failed: int
    of: int


def name_of(steps: Sequence[str | int]) -> str:
    """Return steps as a dotted path."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")


def locate(errors: Iterable[ValidationError], schema: JSON, value: Any) -> list[Finding]:
    """Locate errors, without those that kube-openapi does not get to: it stops at the first error of some kinds."""
    findings = [_finding(error, schema, value) for error in errors]
    strings = {(f.place, f.steps, f.keyword) for f in findings if f.keyword in _STRING_ORDER}
    sizes = {(f.place, f.steps) for f in findings if f.keyword in _SIZES}
    return [f for f in findings if not (_is_shadowed(f, strings) or (sizes and _is_inside(f, sizes)))]


def _finding(error: ValidationError, schema: JSON, value: Any) -> Finding:
    place = tuple(step for step, is_added in _marked(error.schema_path[:-1]) if not is_added)
    steps = tuple(error.instance_path)
    return Finding(error.kind.name, error.kind, place, steps, _at(schema, place), _at(value, steps))


def _marked(path: Sequence[str | int]) -> Iterator[tuple[str | int, bool]]:
    is_name = False
    for step in path:
        yield step, not is_name and step in _ADDED
        is_name = not is_name and step == "properties"


def _at(root: Any, steps: Steps) -> Any:
    for step in steps:
        root = root[step]
    return root


def _is_shadowed(finding: Finding, strings: set[tuple[Steps, Steps, str]]) -> bool:
    if finding.keyword not in _STRING_ORDER:
        return False
    earlier = _STRING_ORDER[: _STRING_ORDER.index(finding.keyword)]
    return any((finding.place, finding.steps, keyword) in strings for keyword in earlier)


def _is_inside(finding: Finding, sizes: set[tuple[Steps, Steps]]) -> bool:
    """Say whether an object around the finding has too few or too many members, which alone is reported then."""
    place, steps = finding.place, finding.steps
    return any(
        step in _INSIDE_OBJECTS and any((place[:at], steps[:depth]) in sizes for depth in range(len(steps) + 1))
        for at, step in enumerate((*place, finding.keyword))
    )


def junctions(findings: Iterable[Finding], schema: JSON, depth: int) -> list[Junction]:
    """Return each `allOf` that the findings are in, not counting those that the first `depth` steps of places enter."""
    failed: dict[tuple[Steps, Steps], set[str | int]] = {}
    for finding in findings:
        for at, consumed in _all_ofs(finding.place):
            if at >= depth:
                key = (finding.place[:at], finding.steps[:consumed])
                failed.setdefault(key, set()).add(finding.place[at + 1])
    return [Junction(steps, len(which), len(_at(schema, place)["allOf"])) for (place, steps), which in failed.items()]


def _all_ofs(place: Steps) -> Iterator[tuple[int, int]]:
    """Yield where in the place an `allOf` stands, and how many steps into the value have been made by then."""
    consumed, is_name = 0, False
    for at, step in enumerate(place):
        if is_name:
            is_name = False
            continue
        if step == "allOf":
            yield at, consumed
        elif step in ("properties", "items", "additionalProperties"):
            consumed += 1
            is_name = step == "properties"


def weight(schema: JSON, value: Any) -> int:
    """Return how much of the schema applies to the value: of several failing alternatives the heaviest is described."""
    total = 1 + sum(weight(branch, value) for branch in schema.get("allOf") or ())
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        total += sum(weight(below, value[name]) for name, below in properties.items() if name in value)
        additional = schema.get("additionalProperties")
        if isinstance(additional, dict):
            total += sum(weight(additional, inner) for name, inner in value.items() if name not in properties)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        total += sum(weight(schema["items"], item) for item in value)
    return total
