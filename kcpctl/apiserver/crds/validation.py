"""What a CustomResourceDefinition may say, in kube-apiserver's words.

The definitions here have been read as their type: every field has the type that it should have.
"""

from collections.abc import Iterator
from typing import Any

from informers.api.names import dns1035_errors, subdomain_errors
from kcpctl.apiserver.crds.approval import approval_errors
from kcpctl.apiserver.crds.versions import version_errors
from kcpctl.apiserver.field_errors import forbidden, invalid, required, unsupported
from kcpctl.apiserver.schema.rules import schema_errors, unrecognized_formats
from kcpctl.apiserver.served import JSON, FieldError

ESTABLISHED = "Established"
_KIND_RULE = "may have mixed case, but should otherwise match: "


def creation_errors(crd: JSON) -> list[FieldError]:
    """Return everything wrong with a new definition; its metadata is looked at elsewhere, but for the name."""
    return [*_name(crd), *_spec(crd["spec"]), *_stored(crd), *approval_errors(crd, None), *_no_unknowns(crd)]


def update_errors(crd: JSON, old: JSON) -> list[FieldError]:
    """Return everything wrong with a changed definition."""
    return [
        *_spec(crd["spec"], old["spec"]),
        *_immutable(crd["spec"], old["spec"], is_established=is_true(old, ESTABLISHED)),
        *status_errors(crd),
        *_stored(crd),
        *approval_errors(crd, old),
        *_no_unknowns(crd),
    ]


def status_errors(crd: JSON) -> list[FieldError]:
    """Return everything wrong with a changed status; versions may be struck off `storedVersions` freely."""
    return list(names_errors(crd["status"].get("acceptedNames") or {}, "status.acceptedNames"))


def warnings(crd: JSON, old: JSON | None) -> list[str]:
    """Return what the author should be told although it is allowed: formats that mean nothing and are new."""
    known = set(_odd_formats(old)) if old else set()
    return [f'unrecognized format "{name}"' for name in _odd_formats(crd) if name not in known]


def condition(crd: JSON, kind: str) -> JSON | None:
    """Return the condition of that type, or None."""
    found: list[JSON] = (crd.get("status") or {}).get("conditions") or []
    return next((one for one in found if one["type"] == kind), None)


def is_true(crd: JSON, kind: str) -> bool:
    """Say whether the condition of that type is there and True."""
    found = condition(crd, kind)
    return found is not None and found["status"] == "True"


def _odd_formats(crd: JSON) -> list[str]:
    schemas = [(version.get("schema") or {}).get("openAPIV3Schema") for version in crd["spec"]["versions"] or ()]
    return list(dict.fromkeys(name for schema in schemas if schema for name in unrecognized_formats(schema)))


def _name(crd: JSON) -> Iterator[FieldError]:
    spec, name = crd["spec"], crd["metadata"].get("name", "")
    if name and name != f"{spec['names']['plural']}.{spec['group']}":
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')


def _spec(spec: JSON, old: JSON | None = None) -> Iterator[FieldError]:
    yield from _group(spec["group"])
    yield from _one_of("spec.scope", spec["scope"], ("Cluster", "Namespaced"))
    yield from _preserving(spec)
    versions = spec["versions"] or []
    for index, version in enumerate(versions):
        path = f"spec.versions[{index}]"
        yield from version_errors(version, path)
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is not None and not _is_unchanged(schema, version["name"], old):
            yield from schema_errors(schema, f"{path}.schema.openAPIV3Schema")
    names = [version["name"] for version in versions]
    if len(set(names)) < len(names):
        yield invalid("spec.versions", names, "must contain unique version names")
    if sum(version["storage"] for version in versions) != 1:
        yield invalid("spec.versions", names, "must have exactly one version marked as storage version")
    yield from (required(f"spec.names.{name}") for name in _NAMES if not spec["names"].get(name))
    yield from names_errors(spec["names"], "spec.names")
    yield from _conversion(spec.get("conversion"))


_NAMES = ("plural", "singular", "kind", "listKind")


def _is_unchanged(schema: JSON, version: str, old: JSON | None) -> bool:
    """Say whether the version had this schema before: what was accepted once is not looked at again."""
    known = (one for one in (old or {}).get("versions") or () if one["name"] == version)
    return any((one.get("schema") or {}).get("openAPIV3Schema") == schema for one in known)


def _group(group: str) -> Iterator[FieldError]:
    if not group:
        yield required("spec.group")
    elif errors := subdomain_errors(group):
        yield invalid("spec.group", group, ",".join(errors))
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")


def _one_of(field: str, value: str, allowed: tuple[str, ...]) -> Iterator[FieldError]:
    if not value:
        yield required(field)
    elif value not in allowed:
        yield unsupported(field, value, allowed)


def _preserving(spec: JSON) -> Iterator[FieldError]:
    if spec.get("preserveUnknownFields") and any(_has_default(version.get("schema")) for version in spec["versions"]):
        yield invalid("spec.preserveUnknownFields", True, "must be false in order to use defaults in the schema")


def _has_default(value: Any) -> bool:
    if isinstance(value, dict):
        return value.get("default") is not None or any(_has_default(inner) for inner in value.values())
    return isinstance(value, list) and any(_has_default(inner) for inner in value)


def _no_unknowns(crd: JSON) -> Iterator[FieldError]:
    if crd["spec"].get("preserveUnknownFields"):
        yield invalid(
            "spec.preserveUnknownFields",
            True,
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        )


def names_errors(names: JSON, path: str) -> Iterator[FieldError]:
    """Yield what is wrong with a set of names; missing ones are fine here."""
    for name in ("plural", "singular"):
        text = names.get(name)
        if text and (errors := dns1035_errors(text)):
            yield invalid(f"{path}.{name}", text, ",".join(errors))
    for name in ("kind", "listKind"):
        text = names.get(name)
        if text and (errors := dns1035_errors(text.lower())):
            yield invalid(f"{path}.{name}", text, _KIND_RULE + ",".join(errors))
    if names.get("kind") and names["kind"] == names.get("listKind"):
        yield invalid(f"{path}.listKind", names["listKind"], "kind and listKind may not be the same")
    for name in ("shortNames", "categories"):
        for index, text in enumerate(names.get(name) or ()):
            if errors := dns1035_errors(text):
                yield invalid(f"{path}.{name}[{index}]", text, ",".join(errors))


def _conversion(conversion: JSON | None) -> Iterator[FieldError]:
    strategy = (conversion or {}).get("strategy", "None")
    yield from _one_of("spec.conversion.strategy", strategy, ("None", "Webhook"))
    if strategy == "Webhook":
        yield forbidden(
            "spec.conversion.strategy",
            "conversion webhooks are not built into this server; use None, or install the CRD on another one",
        )
    elif (conversion or {}).get("webhook") is not None:
        yield forbidden("spec.conversion.webhook", "should not be set when strategy is not set to Webhook")


def _immutable(spec: JSON, old: JSON, *, is_established: bool) -> Iterator[FieldError]:
    """Yield an error for each changed field that names the resource, or says how it is stored once it is served."""
    fields = [("group", spec["group"], old["group"])]
    fields.append(("names.plural", spec["names"]["plural"], old["names"]["plural"]))
    if is_established:
        fields.insert(0, ("scope", spec["scope"], old["scope"]))
        fields.insert(1, ("names.kind", spec["names"]["kind"], old["names"]["kind"]))
    for name, new_value, old_value in fields:
        if new_value != old_value:
            yield invalid(f"spec.{name}", new_value, "field is immutable")


def _stored(crd: JSON) -> Iterator[FieldError]:
    stored: list[str] = crd["status"].get("storedVersions") or []
    field = "status.storedVersions"
    if not stored:
        yield invalid(field, stored, "must have at least one stored version")
        return
    versions = crd["spec"]["versions"] or []
    for version in versions:
        if version["storage"] and version["name"] not in stored:
            yield invalid(field, stored, f"must have the storage version {version['name']}")
    known = {version["name"] for version in versions}
    for index, name in enumerate(stored):
        if name not in known:
            yield invalid(
                f"{field}[{index}]",
                name,
                f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions"
                f" until a storage migration ensures no data remains persisted in {name} and removes {name} from"
                " status.storedVersions",
            )
