"""A structural schema ready for use: prune, fill in defaults, validate."""

from functools import cached_property
from typing import Any

from jsonschema_rs import Draft7Validator, RegexOptions

from kcpctl.apiserver.schema import embedded, lists
from kcpctl.apiserver.schema.defaulting import default
from kcpctl.apiserver.schema.formats import CHECKERS
from kcpctl.apiserver.schema.nodes import JSON, Node, as_root, compile_node
from kcpctl.apiserver.schema.pruning import prune
from kcpctl.apiserver.schema.settled import Settled
from kcpctl.apiserver.schema.translation import to_json_schema
from kcpctl.apiserver.schema.verdicts import field_errors
from kcpctl.apiserver.served import FieldError


class ValueSchema:
    """The value validation of one place of a schema; compiled when it is first needed."""

    def __init__(self, openapi: JSON) -> None:
        """Take an OpenAPI v3 schema that has passed the structural rules."""
        self.openapi = openapi

    @cached_property
    def _validator(self) -> Draft7Validator:
        return Draft7Validator(
            to_json_schema(self.openapi),
            validate_formats=True,
            formats=CHECKERS,
            pattern_options=RegexOptions(),
        )

    def build(self) -> None:
        """Compile now; raises `ValueError` when the engine does not take the schema."""
        _ = self._validator

    def errors(self, value: Any, path: str = "") -> list[FieldError]:
        """Return what is wrong with the value, which lives at the path."""
        if self._validator.is_valid(value):
            return []
        return field_errors(self._validator.iter_errors(value), self.openapi, value, path)


class StructuralSchema:
    """What objects of one kind and version may look like. Shared and never changed."""

    def __init__(self, openapi: JSON) -> None:
        """Compile an OpenAPI v3 schema that has passed the structural rules (`structure.problems`)."""
        self.openapi = openapi
        self.root: Node = as_root(compile_node(openapi))
        self._whole = ValueSchema(openapi)
        status = (openapi.get("properties") or {}).get("status")
        self._status = ValueSchema(status) if status else None
        self._has_embedded = any(node.embedded_below for node in self.root.children())

    @cached_property
    def _is_settled(self) -> Settled:
        return Settled(self.root)

    def prune(self, obj: JSON) -> list[str]:
        """Drop unknown fields in place and return their dotted paths, in the order in which they are reported.

        The object's own metadata is left alone, that of embedded objects is read. Raises `EmbeddedError`.
        """
        dropped = [] if self._is_settled(obj) else prune(obj, self.root)
        return dropped + embedded.coerce(obj, self.root) if self._has_embedded else dropped

    def default(self, obj: JSON) -> None:
        """Fill in defaults in place."""
        default(obj, self.root)

    def refresh(self, obj: JSON) -> None:
        """Make an object that was stored under another schema look as if it had been stored under this one."""
        prune(obj, self.root)
        embedded.drop_malformed(obj, self.root)
        default(obj, self.root)

    def errors(self, obj: JSON) -> list[FieldError]:
        """Return what is wrong with the values of a whole object, embedded objects included."""
        found = self._whole.errors(obj)
        return [*found, *embedded.problems(obj, self.root)] if self._has_embedded else found

    def status_errors(self, obj: JSON) -> list[FieldError]:
        """Return what is wrong with the status alone."""
        if self._status is None or "status" not in obj:
            return []
        return self._status.errors(obj["status"], "status")

    def duplicates(self, obj: JSON) -> list[FieldError]:
        """Return an error for each repeated item of lists that are sets or maps."""
        return lists.duplicates(obj, self.root) if self.root.lists_below else []
