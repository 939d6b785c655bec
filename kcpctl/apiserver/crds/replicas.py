"""Where a custom resource keeps its replicas, for the scale subresource."""

from typing import Any

import msgspec

from kcpctl.apiserver.field_errors import invalid
from kcpctl.apiserver.schema.verdicts import type_name
from kcpctl.apiserver.served import JSON, FieldError

_MOST = 2**31 - 1
_GO_TYPES = {"integer": "int64", "number": "float64", "boolean": "bool", "array": "[]interface {}"}


class ReplicaPaths(msgspec.Struct, frozen=True):
    """Simple JSON paths, such as `.spec.replicas`."""

    spec: str
    status: str
    selector: str = ""
    """`""` where there is none."""

    def problems(self, obj: JSON) -> list[FieldError]:
        """Return what is wrong with the values at the paths; values that are missing are fine."""
        found = [*_count_problems(self.spec, obj), *_count_problems(self.status, obj)]
        if self.selector:
            value = at(obj, self.selector)
            if value is not None and not isinstance(value, str):
                found.append(invalid(self.selector, "", _mistyped(self.selector, value, "string")))
        return found


def paths_of(scale: JSON | None) -> ReplicaPaths | None:
    """Return the paths of a CRD version's scale subresource."""
    if not scale:
        return None
    return ReplicaPaths(scale["specReplicasPath"], scale["statusReplicasPath"], scale.get("labelSelectorPath") or "")


def at(obj: JSON, path: str) -> Any:
    """Return what stands at a simple path, None where nothing does."""
    found: Any = obj
    for name in path.removeprefix(".").split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def put(obj: JSON, path: str, value: Any) -> None:
    """Set what stands at a simple path, making the maps on the way."""
    *parents, last = path.removeprefix(".").split(".")
    for name in parents:
        inner = obj.get(name)
        if not isinstance(inner, dict):
            inner = obj[name] = {}
        obj = inner
    obj[last] = value


def _count_problems(path: str, obj: JSON) -> list[FieldError]:
    value = at(obj, path)
    if value is None:
        return []
    if not isinstance(value, int) or isinstance(value, bool):
        return [invalid(path, 0, _mistyped(path, value, "int64"))]
    if value < 0:
        return [invalid(path, value, "should be a non-negative integer")]
    if value > _MOST:
        return [invalid(path, value, f"should be less than or equal to {_MOST}")]
    return []


def _mistyped(path: str, value: Any, wanted: str) -> str:
    found = type_name(value)
    return f"{path} accessor error: {value} is of the type {_GO_TYPES.get(found, found)}, expected {wanted}"
