"""Writing objects directly through the verbs, and looking at what became of them."""

import json
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import msgspec

from informers.clock import VirtualClock
from kcpctl.apiserver import reading, writing
from kcpctl.apiserver.admission import Admission
from kcpctl.apiserver.builtin import BUILT_IN, CONFIG_MAPS, NAMESPACES
from kcpctl.apiserver.builtin.bootstrap import ensure_namespace
from kcpctl.apiserver.call import Call, Query, Scope
from kcpctl.apiserver.exchange import User
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.served import JSON, Served
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.world import World
from tests.kcpctl.apiserver.kinds import WIDGETS, FixedCatalog

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"

KINDS = (*BUILT_IN, WIDGETS)


def config_map(name: str = "c1", **fields: Any) -> JSON:
    """Return a ConfigMap; `metadata` adds to its name."""
    metadata = {"name": name, **fields.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **fields}


def widget(name: str = "w1", **fields: Any) -> JSON:
    """Return a custom resource."""
    metadata = {"name": name, **fields.pop("metadata", {})}
    return {"apiVersion": "golden.example.com/v1", "kind": "Widget", "metadata": metadata, **fields}


class Hand:
    """Somebody who writes; `code` and `warnings` are those of the last answer."""

    def __init__(
        self,
        kinds: Iterable[Served] = KINDS,
        *,
        scope: Scope | None = None,
        rules: Sequence[Admission] = (),
        seed: int = 0,
    ) -> None:
        self.clock = VirtualClock()
        self.storage = MemoryStorage(clock=self.clock, revision=100)
        self.world = World(self.storage, FixedCatalog(kinds), clock=self.clock, rng=Random(seed), admission=rules)
        self.scope = scope or Scope("")
        self.code = 0
        self.warnings: tuple[str, ...] = ()

    async def create(self, obj: Any, served: Served = CONFIG_MAPS, **how: Any) -> JSON:
        """POST."""
        return self._seen(await writing.create(self.world, self.call("create", served, obj, **how)))

    async def update(self, obj: Any, served: Served = CONFIG_MAPS, *, name: str = "", **how: Any) -> JSON:
        """PUT; the name in the path is the object's own if none is given."""
        name = name or obj["metadata"]["name"]
        return self._seen(await writing.update(self.world, self.call("update", served, obj, name=name, **how)))

    async def patch(self, patch: Any, served: Served = CONFIG_MAPS, *, name: str = "c1", **how: Any) -> JSON:
        """PATCH, as a merge patch if nothing else is said."""
        how = {"media": MERGE} | how
        return self._seen(await writing.patch(self.world, self.call("patch", served, patch, name=name, **how)))

    async def delete(self, name: str = "c1", served: Served = CONFIG_MAPS, options: Any = None, **how: Any) -> JSON:
        """DELETE."""
        return self._seen(await writing.delete(self.world, self.call("delete", served, options, name=name, **how)))

    async def delete_all(self, served: Served = CONFIG_MAPS, options: Any = None, **how: Any) -> JSON:
        """DELETE of a collection."""
        deleted = await writing.delete_collection(self.world, self.call("deletecollection", served, options, **how))
        body = b"".join([piece async for piece in reading.stream_list(served, deleted.found)])
        return self._seen(writing.Written(body, 200, deleted.warnings))

    async def get(self, name: str = "c1", served: Served = CONFIG_MAPS, **how: Any) -> JSON | None:
        """Return what is there, None if nothing is."""
        try:
            body = await reading.get(self.world, self.call("get", served, None, name=name, **how))
        except Failure as refused:
            if refused.status.code == 404:
                return None
            raise
        found: JSON = json.loads(body)
        return found

    def call(
        self,
        verb: str,
        served: Served,
        body: Any,
        *,
        name: str = "",
        namespace: str = "default",
        query: str = "",
        media: str = "application/json",
        sub: str = "",
    ) -> Call:
        """Return a call on the kind."""
        packed = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return Call(
            verb,
            served,
            self.scope,
            Query(query),
            namespace if served.namespaced else "",
            name,
            sub,
            {"content-type": media} if media else {},
            packed,
            User("ann"),
        )

    def _seen(self, written: writing.Written) -> JSON:
        self.code, self.warnings = written.code, written.warnings
        found: JSON = msgspec.json.decode(written.body)
        return found


async def hand(**how: Any) -> Hand:
    """Return somebody who can write into the namespace `default`."""
    made = Hand(**how)
    await ensure_namespace(made.world, made.scope.cluster, "default")
    return made


def namespace(name: str, **fields: Any) -> JSON:
    """Return a Namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, **fields}


__all__ = ["JSON_PATCH", "MERGE", "NAMESPACES", "STRATEGIC", "Hand", "config_map", "hand", "namespace", "widget"]
