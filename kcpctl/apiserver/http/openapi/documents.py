"""Documents: what is published about the kinds of one group-version, built in slices and remembered."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Sequence

import msgspec

from kcpctl.apiserver.http.openapi.common import API_VERSION, KIND, META, SCALE_SCHEMAS, Schema, meta, ref, wrapped
from kcpctl.apiserver.http.openapi.paths import component, group_version_kind, paths
from kcpctl.apiserver.served import Served

_KEPT = 128
"""Documents that are remembered; clusters that serve the very same kinds share theirs."""

_encode = msgspec.json.Encoder().encode
_META_JSON = _encode(META)[1:-1]


class Document(msgspec.Struct, frozen=True):
    """One OpenAPI document; its hash is that of its bytes, in upper-case hex."""

    body: bytes
    hash: str


class Documents:
    """Builds the document of a group-version from the kinds in it.

    Kinds are told apart by identity: a changed schema is another `Served`.
    """

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._known: OrderedDict[tuple[Served, ...], Document] = OrderedDict()

    async def of(self, kinds: Sequence[Served]) -> Document:
        """Return the document of these kinds, all of one group-version; waits only so that others can run."""
        key = tuple(kinds)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = await _build(key)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return found


async def _build(kinds: tuple[Served, ...]) -> Document:
    """Write the document piece by piece: one kind takes about a millisecond."""
    pieces_of_paths: list[bytes] = []
    pieces_of_schemas: list[bytes] = [_META_JSON]
    for served in kinds:
        pieces_of_paths.append(_encode(paths(served))[1:-1])
        pieces_of_schemas.append(_encode(_schemas(served))[1:-1])
        await asyncio.sleep(0)
    if any("scale" in served.subresources for served in kinds):
        pieces_of_schemas.append(_encode(SCALE_SCHEMAS)[1:-1])
    title = "Kubernetes CRD Swagger" if kinds[0].is_custom else "Kubernetes"
    body = (
        b'{"openapi":"3.0.0","info":{"title":%b,"version":"v0.1.0"},"paths":{' % _encode(title)
        + b",".join(pieces_of_paths)
        + b'},"components":{"schemas":{'
        + b",".join(pieces_of_schemas)
        + b"}}}"
    )
    return Document(body, digest(body))


def digest(body: bytes) -> str:
    """Return the hash that URLs and ETags carry."""
    return hashlib.sha512(body).hexdigest().upper()


def _schemas(served: Served) -> dict[str, Schema]:
    name = component(served)
    return {name: _whole(served), name + "List": _list(served)}


def _whole(served: Served) -> Schema:
    """Return the kind's schema with the fields that every object has."""
    schema = dict(served.schema) if served.schema is not None else _open(served)
    properties = dict(schema.get("properties") or {})
    for name, known in (("apiVersion", API_VERSION), ("kind", KIND)):
        if "description" not in properties.get(name, ()):
            properties[name] = known
    described = (properties.get("metadata") or {}).get("description") or "Metadata that every stored object has."
    properties["metadata"] = wrapped(meta("ObjectMeta"), described)
    if not served.is_custom:
        properties["metadata"]["default"] = {}
    schema["properties"] = properties
    return schema | {"x-kubernetes-group-version-kind": [group_version_kind(served)]}


def _open(served: Served) -> Schema:
    """Return the schema of a kind that says nothing about its fields."""
    return {"type": "object", "description": served.kind, "x-kubernetes-preserve-unknown-fields": True}


def _list(served: Served) -> Schema:
    kind = served.list_kind or served.kind + "List"
    schema: Schema = {
        "type": "object",
        "description": f"A list of objects of kind {served.kind}.",
        "required": ["items"],
        "properties": {
            "apiVersion": API_VERSION,
            "items": {"type": "array", "items": ref(component(served)), "description": "The objects."},
            "kind": KIND,
            "metadata": _list_metadata(served),
        },
        "x-kubernetes-group-version-kind": [group_version_kind(served) | {"kind": kind}],
    }
    if served.is_custom and served.field_selectors:
        schema["x-kubernetes-selectable-fields"] = [{"fieldPath": path} for path in served.field_selectors]
    return schema


def _list_metadata(served: Served) -> Schema:
    described = wrapped(meta("ListMeta"), "Metadata of the list.")
    return described if served.is_custom else described | {"default": {}}
