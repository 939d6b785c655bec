"""How custom resources are read, completed, checked and stored."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from kcpctl.apiserver.crds.replicas import ReplicaPaths
from kcpctl.apiserver.schema.embedded import EmbeddedError
from kcpctl.apiserver.schema.structural import StructuralSchema
from kcpctl.apiserver.served import JSON, Context, FieldError
from kcpctl.apiserver.shapes.reader import ShapeError

Rule: TypeAlias = Callable[[JSON, JSON | None], Iterable[FieldError]]
"""Says what is wrong with an object beyond its schema, given the old one on updates; the schema has been satisfied."""


class CustomStrategy:
    """The strategy of one version of a custom kind."""

    def __init__(
        self,
        schema: StructuralSchema,
        *,
        kind: str,
        api_version: str,
        storage_api_version: str = "",
        has_status: bool = False,
        replicas: ReplicaPaths | None = None,
        serves_stored_bytes: bool = False,
        rules: Sequence[Rule] = (),
    ) -> None:
        """Take the version's schema, subresources and further rules.

        `serves_stored_bytes` may be set when every stored object has passed through this very schema.
        """
        self.schema = schema
        self.replicas = replicas
        self._kind = kind
        self._api_version = api_version
        self._storage_api_version = storage_api_version or api_version
        self._has_status = has_status
        self._serves_stored_bytes = serves_stored_bytes
        self._rules = tuple(rules)

    def coerce(self, obj: JSON) -> list[str]:
        """Drop unknown fields and return their paths; an object of another kind is left as it is."""
        if obj.get("kind") != self._kind or obj.get("apiVersion") != self._api_version:
            return []
        try:
            return self.schema.prune(obj)
        except EmbeddedError as error:
            raise ShapeError(str(error)) from error

    def default(self, obj: JSON) -> None:
        """Fill in the schema's defaults."""
        self.schema.default(obj)

    def prepare_create(self, obj: JSON, context: Context) -> None:
        """Drop a status that only its subresource may write; the first generation is 1."""
        del context
        if self._has_status:
            obj.pop("status", None)
        obj["metadata"]["generation"] = 1

    def prepare_update(self, obj: JSON, old: JSON, context: Context) -> None:
        """Keep apart what the main resource and the status subresource may write; changes of the former count."""
        if context.subresource == "status":
            status = obj.get("status")
            revision = obj["metadata"].get("resourceVersion")
            obj.clear()
            obj.update(old)
            obj["metadata"] = dict(old["metadata"])
            if revision is not None:
                obj["metadata"]["resourceVersion"] = revision
            _set(obj, "status", status)
            return
        if self._has_status:
            _set(obj, "status", old.get("status"))
        generation = old["metadata"].get("generation", 1)
        obj["metadata"]["generation"] = generation + (self._counted(obj) != self._counted(old))

    def validate(self, obj: JSON, old: JSON | None, context: Context) -> list[FieldError]:
        """Check values against the schema, and lists for items that repeat, unless the old object had such already."""
        if context.subresource == "status":
            errors = self.schema.status_errors(obj)
        else:
            errors = self.schema.errors(obj)
        if self.replicas is not None:
            errors += self.replicas.problems(obj)
        repeated = self.schema.duplicates(obj)
        if repeated and (old is None or not self.schema.duplicates(old)):
            errors += repeated
        return errors or [error for rule in self._rules for error in rule(obj, old)]

    def to_storage(self, obj: JSON) -> JSON:
        """Return the object under the storage version; without conversion nothing else differs."""
        return obj | {"apiVersion": self._storage_api_version}

    def from_storage(self, obj: JSON) -> JSON:
        """Return a stored object as this version's schema wants it now."""
        obj["apiVersion"] = self._api_version
        self.schema.refresh(obj)
        return obj

    @property
    def serves_stored_bytes(self) -> bool:
        """Whether stored objects are as this version shows them."""
        return self._serves_stored_bytes

    def _counted(self, obj: JSON) -> JSON:
        ignored = ("metadata", "status") if self._has_status else ("metadata",)
        return {name: value for name, value in obj.items() if name not in ignored}


def _set(obj: JSON, name: str, value: object) -> None:
    if value is None:
        obj.pop(name, None)
    else:
        obj[name] = value
