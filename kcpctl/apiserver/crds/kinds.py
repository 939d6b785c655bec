"""From a definition to the kinds that it serves."""

from collections.abc import Sequence
from weakref import WeakValueDictionary

import msgspec

from kcpctl.apiserver.crds.columns import columns
from kcpctl.apiserver.crds.custom import CustomStrategy, Rule
from kcpctl.apiserver.crds.publishing import published
from kcpctl.apiserver.crds.replicas import paths_of
from kcpctl.apiserver.crds.versions import selectable_path
from kcpctl.apiserver.schema.structural import StructuralSchema
from kcpctl.apiserver.served import JSON, Served

_SELECTABLE = "x-kubernetes-selectable-fields"

_encode = msgspec.json.Encoder(order="sorted").encode


class Schemas:
    """Compiled schemas, shared by all definitions that have the very same one."""

    def __init__(self) -> None:
        """Know none yet."""
        self._known: WeakValueDictionary[bytes, StructuralSchema] = WeakValueDictionary()

    def compiled(self, openapi: JSON) -> StructuralSchema:
        """Return the compiled form of an OpenAPI schema."""
        key = _encode(openapi)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = StructuralSchema(openapi)
        return found


def kinds_of(crd: JSON, schemas: Schemas, rules: Sequence[Rule] = ()) -> list[Served]:
    """Return one served kind for each version that the definition serves, in its order, under its accepted names.

    `rules` are what the objects of all versions must keep besides their schemas.
    """
    return [_kind(crd, version, schemas, rules) for version in crd["spec"]["versions"] if version["served"]]


def storage_kind(crd: JSON, schemas: Schemas) -> Served:
    """Return the kind in its storage version, whether or not that version is served."""
    return next(_kind(crd, version, schemas) for version in crd["spec"]["versions"] if version["storage"])


def _kind(crd: JSON, version: JSON, schemas: Schemas, rules: Sequence[Rule] = ()) -> Served:
    spec, accepted = crd["spec"], crd["status"].get("acceptedNames") or {}
    names = accepted if accepted.get("plural") and accepted.get("kind") else spec["names"]
    subresources: JSON = version.get("subresources") or {}
    storage = next(one["name"] for one in spec["versions"] if one["storage"])
    openapi = version["schema"]["openAPIV3Schema"]
    selectable = tuple(selectable_path(one["jsonPath"]) for one in version.get("selectableFields") or ())
    api_version = f"{spec['group']}/{version['name']}"
    strategy = CustomStrategy(
        schemas.compiled(openapi),
        kind=names["kind"],
        api_version=api_version,
        storage_api_version=f"{spec['group']}/{storage}",
        has_status="status" in subresources,
        replicas=paths_of(subresources.get("scale")),
        serves_stored_bytes=_has_only_this_schema(crd),
        rules=rules,
    )
    return Served(
        spec["group"],
        version["name"],
        names["plural"],
        names["kind"],
        strategy,
        namespaced=spec["scope"] == "Namespaced",
        singular=names.get("singular", ""),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        subresources=tuple(name for name in ("status", "scale") if name in subresources),
        columns=columns(version.get("additionalPrinterColumns") or []),
        schema=published(openapi) | ({_SELECTABLE: [{"fieldPath": path} for path in selectable]} if selectable else {}),
        is_custom=True,
        unconditional_update=False,
        storage_version=storage,
        field_selectors=selectable,
        deprecation=_deprecation(version, f"{api_version} {names['kind']}"),
        list_kind=names.get("listKind", ""),
    )


def _has_only_this_schema(crd: JSON) -> bool:
    """Say whether every stored object has passed through the one schema that the definition has had so far."""
    return len(crd["spec"]["versions"]) == 1 and crd["metadata"].get("generation") == 1


def _deprecation(version: JSON, what: str) -> str:
    if not version.get("deprecated"):
        return ""
    return version.get("deprecationWarning") or f"{what} is deprecated"
