"""CustomResourceDefinition itself, as a served kind."""

from kcpctl.apiserver.crds.validation import condition, creation_errors, status_errors, update_errors, warnings
from kcpctl.apiserver.served import JSON, Column, Context, FieldError, Served
from kcpctl.apiserver.shapes.crd import CUSTOM_RESOURCE_DEFINITION, NAMES, SPEC
from kcpctl.apiserver.shapes.openapi import merge_table, schema
from kcpctl.apiserver.shapes.reader import printed, read

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
TERMINATING = "Terminating"

_NEW_STATUS = printed(CUSTOM_RESOURCE_DEFINITION, {})["status"]


class DefinitionStrategy:
    """How definitions are read, completed and checked."""

    serves_stored_bytes = True

    def coerce(self, obj: JSON) -> list[str]:
        """Read the object as its type prints it; return the paths of unknown fields."""
        found, unknown = read(CUSTOM_RESOURCE_DEFINITION, obj)
        obj.clear()
        obj.update(found)
        return unknown

    def default(self, obj: JSON) -> None:
        """Fill in the names that follow from the kind, and the conversion."""
        spec, names = obj["spec"], obj["spec"]["names"]
        names.setdefault("singular", names["kind"].lower())
        names.setdefault("listKind", f"{names['kind']}List" if names["kind"] else "")
        conversion = spec.get("conversion") or {"strategy": "None"}
        obj["spec"] = printed(SPEC, {**spec, "names": printed(NAMES, names), "conversion": conversion})

    def prepare_create(self, obj: JSON, context: Context) -> None:
        """Begin with an empty status that knows the first storage version."""
        obj["metadata"]["generation"] = 1
        obj["status"] = {**_NEW_STATUS, "storedVersions": None}
        _remember_storage_version(obj)
        context.warnings.extend(warnings(obj, None))

    def prepare_update(self, obj: JSON, old: JSON, context: Context) -> None:
        """Keep spec and status apart; a changed spec is another generation."""
        if context.subresource == "status":
            obj["spec"] = old["spec"]
            return
        obj["status"] = dict(old["status"])
        generation = old["metadata"].get("generation", 1)
        obj["metadata"]["generation"] = generation + (obj["spec"] != old["spec"])
        _remember_storage_version(obj)
        context.warnings.extend(warnings(obj, old))

    def validate(self, obj: JSON, old: JSON | None, context: Context) -> list[FieldError]:
        """Check the definition."""
        if old is None:
            return creation_errors(obj)
        return status_errors(obj) if context.subresource == "status" else update_errors(obj, old)

    def to_storage(self, obj: JSON) -> JSON:
        """Return the definition; there is only one version of it."""
        return obj

    def from_storage(self, obj: JSON) -> JSON:
        """Return the definition; there is only one version of it."""
        return obj


class DefinitionDeletion:
    """A definition that goes is marked, and held by a finalizer until its instances are gone."""

    def begin(self, obj: JSON, context: Context) -> None:
        """Mark the definition as going away."""
        finalizers = obj["metadata"].setdefault("finalizers", [])
        if FINALIZER not in finalizers:
            finalizers.append(FINALIZER)
        set_condition(
            obj,
            TERMINATING,
            "True",
            "InstanceDeletionPending",
            "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
            now=context.now,
        )

    def held(self, obj: JSON) -> bool:
        """Say whether finalizers hold the definition, its own one among them."""
        return bool(obj["metadata"].get("finalizers"))


def set_condition(crd: JSON, kind: str, status: str, reason: str, message: str, *, now: str) -> bool:
    """Set a condition in place, and say whether that changed anything; its time moves only with its status."""
    found = condition(crd, kind)
    wanted = {"type": kind, "status": status, "lastTransitionTime": now, "reason": reason, "message": message}
    if found is None:
        crd["status"]["conditions"] = [*(crd["status"].get("conditions") or []), wanted]
        return True
    if found["status"] == status:
        wanted["lastTransitionTime"] = found["lastTransitionTime"]
    if found == wanted:
        return False
    found.update(wanted)
    return True


def _remember_storage_version(crd: JSON) -> None:
    stored = crd["status"]["storedVersions"] or []
    current = next((version["name"] for version in crd["spec"]["versions"] or () if version["storage"]), None)
    if current is not None and current not in stored:
        stored = [*stored, current]
    crd["status"]["storedVersions"] = stored


DEFINITIONS = Served(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    DefinitionStrategy(),
    namespaced=False,
    singular="customresourcedefinition",
    short_names=("crd", "crds"),
    categories=("api-extensions",),
    subresources=("status",),
    columns=(
        Column(
            "Created At",
            "date",
            lambda obj: obj["metadata"].get("creationTimestamp"),
            description="When the definition was made",
            age=False,
        ),
    ),
    schema=schema(CUSTOM_RESOURCE_DEFINITION),
    merge_keys=merge_table(CUSTOM_RESOURCE_DEFINITION),
    unconditional_update=False,
    list_kind="CustomResourceDefinitionList",
    deletion=DefinitionDeletion(),
)
