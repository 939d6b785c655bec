"""The strategy of kinds whose types are built in: reading by the tables, and a few functions of each kind's own."""

from collections.abc import Callable
from dataclasses import dataclass

from kcpctl.apiserver.served import JSON, Column, Context, FieldError
from kcpctl.apiserver.shapes.fields import Message
from kcpctl.apiserver.shapes.reader import read


def _nothing(obj: JSON) -> None:
    """Leave the object as it is."""


def _keep(obj: JSON, context: Context) -> None:
    """Leave the object as it is."""


def _take(obj: JSON, old: JSON, context: Context) -> None:
    """Take the new object as it is."""


def _accept(obj: JSON, old: JSON | None, context: Context) -> list[FieldError]:
    """Find nothing wrong."""
    return []


def _same(obj: JSON) -> JSON:
    """Return the object: it is stored as it is served."""
    return obj


@dataclass(frozen=True)
class BuiltIn:
    """What is particular to one built-in kind."""

    shape: Message
    api_version: str
    fill: Callable[[JSON], None] = _nothing
    on_create: Callable[[JSON, Context], None] = _keep
    on_update: Callable[[JSON, JSON, Context], None] = _take
    check: Callable[[JSON, JSON | None, Context], list[FieldError]] = _accept
    store: Callable[[JSON], JSON] = _same
    show: Callable[[JSON], JSON] = _same

    def coerce(self, obj: JSON) -> list[str]:
        """Read the object as its type prints it, in place; return the paths of unknown fields. Raises `ShapeError`."""
        found, unknown = read(self.shape, obj)
        obj.clear()
        obj.update(found | {"kind": self.shape.name, "apiVersion": self.api_version})
        return unknown

    def default(self, obj: JSON) -> None:
        """Fill in defaults."""
        self.fill(obj)

    def prepare_create(self, obj: JSON, context: Context) -> None:
        """Reset what clients may not set at creation."""
        self.on_create(obj, context)

    def prepare_update(self, obj: JSON, old: JSON, context: Context) -> None:
        """Put back what this (sub)resource may not change."""
        self.on_update(obj, old, context)

    def validate(self, obj: JSON, old: JSON | None, context: Context) -> list[FieldError]:
        """Return everything wrong with the object besides its metadata."""
        return self.check(obj, old, context)

    def to_storage(self, obj: JSON) -> JSON:
        """Return the object as it is stored."""
        return self.store(obj)

    def from_storage(self, obj: JSON) -> JSON:
        """Return a stored object as it is served."""
        return self.show(obj)

    @property
    def serves_stored_bytes(self) -> bool:
        """Whether objects are stored as they are served."""
        return self.show is _same


AGE = Column(
    "Age",
    "string",
    lambda obj: obj["metadata"].get("creationTimestamp"),
    description="The time since the object was created",
    age=True,
)
