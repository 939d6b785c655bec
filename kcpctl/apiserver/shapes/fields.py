"""The language of the tables: what a field is called, numbered, holds, and when it is printed."""

from enum import Enum

import msgspec


class Kind(Enum):
    """What one value is."""

    TEXT = "string"
    FLAG = "bool"
    INT32 = "int32"
    INT64 = "int64"
    DOUBLE = "float64"
    BYTES = "bytes"
    """Base64 in JSON."""
    TIME = "time"
    """RFC 3339, seconds, UTC."""
    MICRO_TIME = "microTime"
    """RFC 3339, microseconds, UTC."""
    FREE = "free"
    """Any JSON; in protobuf a message whose field 1 holds the JSON text."""
    MESSAGE = "message"


class Holds(Enum):
    """How many values a field holds."""

    ONE = "one"
    LIST = "list"
    MAP = "map"
    """Keys are texts; in protobuf repeated messages of key (1) and value (2)."""


class Printed(Enum):
    """When a field is printed, as Go's tags and pointers say."""

    UNLESS_ZERO = "unless zero"
    UNLESS_ABSENT = "unless absent"
    """A zero that was sent stays."""
    ALWAYS = "always"


_GO_NAMES = {Kind.TEXT: "string", Kind.BYTES: "[]uint8", Kind.TIME: "v1.Time", Kind.MICRO_TIME: "v1.MicroTime"}


class Message:
    """A struct type; its fields stand in the order in which they are printed.

    A union prints as the one member that is set, and reads whichever member takes the JSON at hand.
    """

    __slots__ = ("by_name", "by_number", "fields", "go_name", "name", "union")

    def __init__(
        self, name: str, fields: "tuple[Field, ...]" = (), package: str = "v1", *, union: bool = False
    ) -> None:
        """Take Go's name of the type, and its package as messages about wrong types show it."""
        self.name = name
        self.go_name = f"{package}.{name}"
        self.union = union
        self.define(*fields)

    def define(self, *fields: "Field") -> None:
        """Set the fields; a type that contains itself does so after its creation."""
        self.fields = fields
        self.by_name = {field.name: field for field in fields}
        self.by_number = {field.number: field for field in fields if field.number}

    def __repr__(self) -> str:
        return f"<Message {self.go_name}>"


class Field(msgspec.Struct, frozen=True, eq=False):
    """One field of a message."""

    name: str
    number: int
    """The tag on the protobuf wire; 0 for what never travels as protobuf."""
    kind: Kind = Kind.TEXT
    holds: Holds = Holds.ONE
    printed: Printed = Printed.UNLESS_ZERO
    message: Message | None = None
    merge_key: str = ""
    """What tells entries apart in strategic merge patches; `""` replaces the list whole."""
    is_set: bool = False
    """Whether a strategic merge patch adds to the list of scalars."""
    go_type: str = ""
    """Go's type of one value where it is not what the kind says."""

    @property
    def go_name(self) -> str:
        """The field's whole type as Go prints it."""
        one = self.go_type or _GO_NAMES.get(self.kind, self.kind.value)
        if self.message is not None:
            one = self.message.go_name
        match self.holds:
            case Holds.LIST:
                return f"[]{one}"
            case Holds.MAP:
                return f"map[string]{one}"
            case _:
                return one


ALWAYS = Printed.ALWAYS
UNLESS_ABSENT = Printed.UNLESS_ABSENT
UNLESS_ZERO = Printed.UNLESS_ZERO


def text(name: str, number: int, printed: Printed = UNLESS_ZERO, *, go_type: str = "") -> Field:
    """Return a text."""
    return Field(name, number, printed=printed, go_type=go_type)


def texts(name: str, number: int, *, is_set: bool = False, go_type: str = "", printed: Printed = UNLESS_ZERO) -> Field:
    """Return a list of texts."""
    return Field(name, number, holds=Holds.LIST, is_set=is_set, go_type=go_type, printed=printed)


def text_map(name: str, number: int) -> Field:
    """Return a map from text to text."""
    return Field(name, number, holds=Holds.MAP)


def scalar(name: str, number: int, kind: Kind, printed: Printed = UNLESS_ZERO) -> Field:
    """Return one value of another kind."""
    return Field(name, number, kind, printed=printed)


def bytes_map(name: str, number: int) -> Field:
    """Return a map from text to bytes."""
    return Field(name, number, Kind.BYTES, Holds.MAP)


def one(name: str, number: int, message: Message, printed: Printed = ALWAYS) -> Field:
    """Return a struct, which Go prints even when it is empty; behind a pointer it is `UNLESS_ABSENT`."""
    return Field(name, number, Kind.MESSAGE, printed=printed, message=message)


def many(name: str, number: int, message: Message, *, merge_key: str = "", printed: Printed = UNLESS_ZERO) -> Field:
    """Return a list of structs."""
    return Field(name, number, Kind.MESSAGE, Holds.LIST, message=message, merge_key=merge_key, printed=printed)


def message_map(name: str, number: int, message: Message) -> Field:
    """Return a map from text to structs."""
    return Field(name, number, Kind.MESSAGE, Holds.MAP, message=message)
