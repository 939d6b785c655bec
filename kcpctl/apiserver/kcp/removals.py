"""Removals: an operator's word, kept at the cache server, that an object of some shard is gone for good.

Each is stored at the shard and in the logical cluster that the object was in, named after it, such as `shards.amber`.
Whoever reads one acts upon it, and says so once in `status.acknowledged`.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from kcpctl.apiserver.crds.kinds import Schemas, kinds_of
from kcpctl.apiserver.kcp.rules import fixed
from kcpctl.apiserver.served import JSON, Column, FieldError

_TEXT: JSON = {"type": "string"}
_TIME: JSON = {"type": "string", "format": "date-time"}

_SPEC: JSON = {
    "description": "What is gone; it cannot be changed.",
    "type": "object",
    "required": ["kind", "name", "time"],
    "properties": {
        "kind": _TEXT | {"enum": ["shards", "apiexports"], "description": "The resource of what is gone."},
        "name": _TEXT | {"minLength": 1, "description": "Its name."},
        "uid": _TEXT | {"description": "The uid that it had last; another object of the name is not meant."},
        "time": _TIME | {"description": "When somebody said so."},
        "url": _TEXT | {"description": "A Shard's URL, for where nothing else is known of it."},
        "path": _TEXT | {"description": "The path of an APIExport's workspace, for where nothing else is known of it."},
    },
}
_STATUS: JSON = {
    "description": "Who has acted upon it.",
    "type": "object",
    "properties": {
        "acknowledged": {
            "description": "When each process did, by the name of its shard.",
            "type": "object",
            "additionalProperties": _TIME,
        }
    },
}


def _acknowledged(obj: JSON) -> Any:
    return ",".join(sorted((obj.get("status") or {}).get("acknowledged") or ())) or "<none>"


def _named_after_it(obj: JSON, old: JSON | None) -> Iterator[FieldError]:
    """Check that a removal has the name by which everybody finds it."""
    del old
    name, wanted = obj["metadata"].get("name", ""), f"{obj['spec']['kind']}.{obj['spec']['name']}"
    of_a_former = f"{wanted}.{obj['spec'].get('uid')}"
    if name not in (wanted, of_a_former):
        message = f'Invalid value: "{name}": must be "{wanted}", the kind and the name in its spec'
        yield FieldError("metadata.name", "FieldValueInvalid", message)


_VERSION: JSON = {
    "name": "v1alpha1",
    "served": True,
    "storage": True,
    "subresources": {"status": {}},
    "schema": {
        "openAPIV3Schema": {
            "description": "That an object of some shard is gone for good.",
            "type": "object",
            "required": ["spec"],
            "properties": {"spec": _SPEC, "status": _STATUS},
        }
    },
    "additionalPrinterColumns": [
        {"name": "Kind", "type": "string", "jsonPath": ".spec.kind", "description": "The resource of what is gone"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ],
}
_NAMES: JSON = {"plural": "removals", "singular": "removal", "kind": "Removal", "listKind": "RemovalList"}

(_SERVED,) = kinds_of(
    {
        # All objects have passed through this very schema: there has never been another one.
        "metadata": {"generation": 1},
        "spec": {"group": "cache.kcpctl.dev", "scope": "Cluster", "names": _NAMES, "versions": [_VERSION]},
        "status": {},
    },
    Schemas(),
    (_named_after_it, fixed("spec", "a removal cannot be changed: delete it, and make another one")),
)
_kind, _age = _SERVED.columns
_WHO = Column("Acknowledged", "string", _acknowledged, description="The shards whose processes have acted upon it")

REMOVALS = msgspec.structs.replace(_SERVED, columns=(_kind, _WHO, _age))
"""Served by our cache servers, and by nothing else. No path of a definition's columns leads to the keys of a map."""
