"""Tables: objects as rows of printed cells, for clients that show them to people."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from kcpctl.apiserver.call import WILDCARD, Query, Scope
from kcpctl.apiserver.failures import bad_request
from kcpctl.apiserver.http import encoding
from kcpctl.apiserver.http.ages import age
from kcpctl.apiserver.served import JSON, Column, Served

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode

# These two texts are part of what clients get from every server: the API's own documentation of the two fields.
_NAME_TEXT = (
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a"
    " client to request the generation of an appropriate name automatically. Name is primarily intended for creation"
    " idempotence and configuration definition. Cannot be updated. More info:"
    " https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)
CREATED_TEXT = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed"
    " to be set in happens-before order across separate operations. Clients may not set this value. It is represented"
    " in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info:"
    " https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)


def _metadata(obj: JSON) -> JSON:
    found = obj.get("metadata")
    return found if isinstance(found, dict) else {}


def _annotation(name: str) -> Column:
    def cell(obj: JSON) -> Any:
        return (_metadata(obj).get("annotations") or {}).get(f"kcp.io/{name.lower()}")

    return Column(name, "string", cell, description=f"The {name.lower()} that the object lives in")


NAME = Column("Name", "string", lambda obj: _metadata(obj).get("name"), format="name", description=_NAME_TEXT)
CLUSTER = _annotation("Cluster")
SHARD = _annotation("Shard")


def _age_column(kind: str) -> Column:
    return Column("Age", kind, lambda obj: _metadata(obj).get("creationTimestamp"), description=CREATED_TEXT, age=True)


_AGE = _age_column("string")
_CUSTOM_AGE = _age_column("date")


def _replicas(name: str, part: str, description: str) -> Column:
    return Column(name, "integer", lambda obj: (obj.get(part) or {}).get("replicas"), description=description)


_SCALE = (
    NAME,
    _replicas("Desired", "spec", "Replicas that are asked for"),
    _replicas("Available", "status", "Replicas that there are"),
    _CUSTOM_AGE,
)


class Table(msgspec.Struct, frozen=True):
    """How one request wants its rows."""

    served: Served
    columns: tuple[Column, ...]
    version: str
    include: str
    """Metadata, Object or None: what each row carries besides its cells."""

    def rows(self, objects: Iterable[bytes], now: datetime) -> Iterable[bytes]:
        """Yield the JSON of each object's row."""
        for body in objects:
            yield _encode({"cells": self._cells(_decode(body), now), "object": msgspec.Raw(self._object(body))})

    def _cells(self, obj: JSON, now: datetime) -> list[Any]:
        return [self._cell(column, obj, now) for column in self.columns]

    def _cell(self, column: Column, obj: JSON, now: datetime) -> Any:
        value = column.cell(obj)
        is_age = column.type == "date" if column.age is None else column.age
        return age(value, now) if is_age and value is not None else value

    def _object(self, body: bytes) -> bytes:
        if self.include == "None":
            return b"null"
        return encoding.typed(body, self.served) if self.include == "Object" else encoding.partial(body, self.version)

    @property
    def definitions(self) -> bytes:
        """The JSON of columnDefinitions."""
        shown = ("name", "type", "format", "description", "priority")
        return _encode([{field: getattr(column, field) for field in shown} for column in self.columns])

    def head(self, metadata: bytes, *, definitions: bool = True) -> bytes:
        """Return everything up to the first row; later events of a watch leave the definitions out."""
        columns = self.definitions if definitions else b"null"
        return (
            b'{"kind":"Table","apiVersion":"meta.k8s.io/%b","metadata":' % self.version.encode()
            + metadata
            + b',"columnDefinitions":'
            + columns
            + b',"rows":['
        )

    def whole(self, objects: Iterable[bytes], metadata: bytes, now: datetime, *, definitions: bool = True) -> bytes:
        """Return a table in one piece."""
        return self.head(metadata, definitions=definitions) + b",".join(self.rows(objects, now)) + b"]}"

    def bookmark(self, body: bytes, metadata: bytes, *, definitions: bool) -> bytes:
        """Return the table of a bookmark: one row of empty cells, whose object carries revision and annotations."""
        row = {"cells": [None] * len(self.columns), "object": msgspec.Raw(self._object(body))}
        return self.head(metadata, definitions=definitions) + _encode(row) + b"]}"


def table(served: Served, scope: Scope, query: Query, version: str, *, subresource: str = "") -> Table:
    """Return how to print the kind; raises `Failure` (400) for an unknown includeObject.

    Requests across clusters or shards get a column that says which.
    """
    include = query.text("includeObject") or "Metadata"
    if include not in ("Metadata", "Object", "None"):
        raise bad_request(
            f'Unable to convert to Table as requested: includeObject: Invalid value: "{include}":'
            " must be 'Metadata', 'Object', 'None', or empty"
        )
    extra = tuple(c for c, part in ((SHARD, scope.shard), (CLUSTER, scope.cluster)) if part == WILDCARD)
    columns = _SCALE if subresource == "scale" else _columns(served)
    return Table(served, extra + columns, version, include)


def _columns(served: Served) -> tuple[Column, ...]:
    if not served.columns:
        return (NAME, _CUSTOM_AGE if served.is_custom else _AGE)
    named = any(column.name == "Name" for column in served.columns)
    return served.columns if named else (NAME, *served.columns)
