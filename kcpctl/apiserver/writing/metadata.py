"""What is wrong with an object's metadata, in kube-apiserver's words."""

from collections.abc import Callable

from informers.api.names import label_errors, label_value_errors, qualified_name_errors, subdomain_errors
from kcpctl.apiserver.field_errors import forbidden, invalid, required, too_long
from kcpctl.apiserver.gotext import quote
from kcpctl.apiserver.served import JSON, FieldError, Served

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"
STANDARD_FINALIZERS = frozenset((ORPHAN, FOREGROUND, "kubernetes"))

_LARGEST_ANNOTATIONS = 256 * 1024
UNQUALIFIED = "name is neither a standard finalizer name nor is it fully qualified"
_ADVICE = "avoid accidental conflicts with other finalizer writers"

NameRule = Callable[[str], list[str]]


def errors_on_create(served: Served, metadata: JSON) -> list[FieldError]:
    """Return everything wrong with the metadata of a new object, whose name has been generated already."""
    rule = _RULES[served.name_rule]
    errors = []
    if prefix := metadata.get("generateName"):
        errors += [invalid("metadata.generateName", prefix, e) for e in rule(_without_dash(prefix))]
    if name := metadata.get("name"):
        errors += [invalid("metadata.name", name, e) for e in rule(name)]
        errors += [invalid("metadata.name", name, e) for e in _path_errors(name)] if not errors else []
    else:
        errors.append(required("metadata.name", "name or generateName is required"))
    if served.namespaced:
        errors += _namespace_errors(metadata.get("namespace", ""))
    return errors + _common_errors(metadata) + _finalizer_errors(served, metadata.get("finalizers") or [])


def errors_on_update(served: Served, metadata: JSON, old: JSON) -> list[FieldError]:
    """Return everything wrong with the metadata of a changed object."""
    errors = []
    if old.get("deletionTimestamp"):
        errors += _new_finalizer_errors(metadata, old)
    generation = metadata.get("generation", 0)
    if generation < old.get("generation", 0):
        errors.append(invalid("metadata.generation", generation, "must not be decremented"))
    for field in ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"):
        if metadata.get(field) != old.get(field):
            errors.append(invalid(f"metadata.{field}", metadata.get(field), "field is immutable"))
    return errors + _common_errors(metadata) + _finalizer_errors(served, metadata.get("finalizers") or [])


def finalizer_warnings(served: Served, metadata: JSON) -> list[str]:
    """Return advice about finalizers that custom resources may have, but should not."""
    warnings = []
    for finalizer in metadata.get("finalizers") or () if served.is_custom else ():
        place = f"metadata.finalizers: {quote(finalizer)}: "
        warnings += [place + error for error in qualified_name_errors(finalizer)]
        if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
            path = " including a path (/)" if "." in finalizer else ""
            warnings.append(f"{place}prefer a domain-qualified finalizer name{path} to {_ADVICE}")
    return warnings


def is_unqualified(finalizer: str) -> bool:
    """Whether a finalizer of a built-in names neither a domain nor is one of Kubernetes' own."""
    return "/" not in finalizer and finalizer not in STANDARD_FINALIZERS


def _common_errors(metadata: JSON) -> list[FieldError]:
    errors = []
    if metadata.get("generation", 0) < 0:
        errors.append(invalid("metadata.generation", metadata["generation"], "must be greater than or equal to 0"))
    for key, value in (metadata.get("labels") or {}).items():
        errors += [invalid("metadata.labels", key, e) for e in qualified_name_errors(key)]
        errors += [invalid("metadata.labels", value, e) for e in label_value_errors(value)]
    annotations = metadata.get("annotations") or {}
    for key in annotations:
        errors += [invalid("metadata.annotations", key, e) for e in qualified_name_errors(key.lower())]
    if sum(_size(key) + _size(value) for key, value in annotations.items()) > _LARGEST_ANNOTATIONS:
        errors.append(too_long("metadata.annotations", _LARGEST_ANNOTATIONS))
    return errors + _owner_errors(metadata.get("ownerReferences") or [])


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _owner_errors(owners: list[JSON]) -> list[FieldError]:
    errors = []
    controller = ""
    for index, owner in enumerate(owners):
        errors += _one_owner_errors(owner, f"metadata.ownerReferences[{index}]")
        if owner.get("controller"):
            shown = f"{owner['kind']}/{owner['name']}"
            if controller:
                why = "Only one reference can have Controller set to true. "
                why += f'Found "true" in references for {controller} and {shown}'
                errors.append(invalid("metadata.ownerReferences", owners, why))
            controller = controller or shown
    return errors


def _one_owner_errors(owner: JSON, path: str) -> list[FieldError]:
    errors = []
    api_version = owner["apiVersion"]
    if not api_version:
        errors.append(required(f"{path}.apiVersion", "must not be empty"))
    elif api_version.count("/") > 1 or api_version.endswith("/"):
        errors.append(invalid(f"{path}.apiVersion", api_version, "must be <group>/<version> or <version>"))
    errors += [required(f"{path}.{f}", "must not be empty") for f in ("kind", "name", "uid") if not owner[f]]
    if (api_version, owner["kind"]) == ("v1", "Event"):
        errors.append(invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner"))
    return errors


def _finalizer_errors(served: Served, finalizers: list[str]) -> list[FieldError]:
    errors = []
    for finalizer in finalizers:
        errors += [invalid("metadata.finalizers", finalizer, e) for e in qualified_name_errors(finalizer)]
    if ORPHAN in finalizers and FOREGROUND in finalizers:
        why = f"finalizer {ORPHAN} and {FOREGROUND} cannot be both set"
        errors.append(invalid("metadata.finalizers", finalizers, why))
    if not served.is_custom:
        for index, finalizer in enumerate(finalizers):
            if is_unqualified(finalizer):
                errors.append(invalid(f"metadata.finalizers[{index}]", finalizer, UNQUALIFIED))
    return errors


def _new_finalizer_errors(metadata: JSON, old: JSON) -> list[FieldError]:
    added = sorted(set(metadata.get("finalizers") or ()) - set(old.get("finalizers") or ()))
    if not added:
        return []
    shown = ", ".join(map(quote, added))
    why = f"no new finalizers can be added if the object is being deleted, found new finalizers []string{{{shown}}}"
    return [forbidden("metadata.finalizers", why)]


def _namespace_errors(namespace: str) -> list[FieldError]:
    if not namespace:
        return [required("metadata.namespace")]
    return [invalid("metadata.namespace", namespace, e) for e in label_errors(namespace)]


def _without_dash(prefix: str) -> str:
    """Make a prefix that ends in a dash look like the name it will begin; Go drops the letter before it, too."""
    return prefix[:-2] + "a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def _path_errors(name: str) -> list[str]:
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{char}'" for char in "/%" if char in name]


_RULES: dict[str, NameRule] = {"subdomain": subdomain_errors, "label": label_errors, "path-segment": _path_errors}
