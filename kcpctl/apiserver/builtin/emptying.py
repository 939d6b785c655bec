"""Namespaces that go away: everything in them is deleted, and in the end they are.

All of it follows from what is stored, so a server that starts goes on where the last one stopped.
"""

from collections import Counter
from typing import TypeAlias

from informers.clock import Clock
from kcpctl.apiserver import stored
from kcpctl.apiserver.builtin.namespaces import FINALIZER, NAMESPACES, TERMINATING
from kcpctl.apiserver.builtin.remains import Remains, set_conditions
from kcpctl.apiserver.call import Call, Query, Scope
from kcpctl.apiserver.chores import Chores
from kcpctl.apiserver.exchange import User
from kcpctl.apiserver.keys import extent, object_key, place
from kcpctl.apiserver.served import JSON, Served
from kcpctl.apiserver.storage.base import Change, Record
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing import delete_collection

OURSELVES = User("system:apiserver", groups=("system:masters",))

_AT_ONCE = 8
"""Namespaces that are emptied together."""

_ALL_NAMESPACES = NAMESPACES.prefix

Where: TypeAlias = tuple[str, str]
"""A namespace's logical cluster and name."""


class NamespaceEmptier:
    """Empties namespaces whose deletion was asked for, and removes them when nothing is left."""

    def __init__(self, world: World) -> None:
        """Work on this world."""
        self._world = world
        self._clock: Clock = world.clock
        self._going: set[Where] = set()
        self._chores = Chores(world.clock, self._move, at_once=_AT_ONCE)

    async def load(self) -> None:
        """Take in what is stored; waits for the storage."""
        self._world.storage.listen("/registry/", self._heard)
        found = await self._world.storage.range(_ALL_NAMESPACES)
        for record in found.records:
            self._heard(Change(record.key, record.revision, record.value, None))

    async def run(self) -> None:
        """Empty namespaces, until cancelled."""
        await self._chores.run()

    @property
    def at_rest(self) -> bool:
        """Whether every namespace that goes away is gone, or held by something in it."""
        return self._chores.at_rest

    async def wait_at_rest(self) -> None:
        """Wait until every namespace that goes away is gone, or held by something in it."""
        await self._chores.wait_at_rest()

    @property
    def trouble(self) -> str:
        """Why some namespace is not emptied at the moment; `""` while all is well."""
        return self._chores.trouble

    def _heard(self, change: Change) -> None:
        """Take in a namespace that was written, and whatever left one that goes away."""
        where = place(change.key)
        if change.key.startswith(_ALL_NAMESPACES):
            name = (where.cluster, where.name)
            if change.value is None:
                self._going.discard(name)
            elif b'"deletionTimestamp"' in change.value:
                self._going.add(name)
                self._chores.soon(name)
        elif self._going and where.namespace and (where.cluster, where.namespace) in self._going:
            self._chores.soon((where.cluster, where.namespace))

    async def _move(self, where: Where) -> None:
        scope = Scope(where[0])
        record = await self._world.storage.get(object_key(NAMESPACES, scope, "", where[1]))
        if record is not None:
            await self._empty(scope, record, stored.decode(record.value))

    async def _empty(self, scope: Scope, record: Record, namespace: JSON) -> None:
        if namespace["status"].get("phase") != TERMINATING or FINALIZER not in namespace["spec"].get("finalizers", ()):
            return
        remains = await self._delete_content(scope, namespace["metadata"]["name"])
        if remains.is_nothing:
            await self._let_go(scope, record, namespace)
        elif set_conditions(namespace, remains, now=self._now()):
            await self._world.storage.update(record.key, stored.encode(namespace, scope), expect=record.revision)

    async def _delete_content(self, scope: Scope, name: str) -> Remains:
        """Delete everything in the namespace and return what is still there."""
        resources: Counter[str] = Counter()
        finalizers: Counter[str] = Counter()
        for served in self._content(scope):
            prefix = extent(served, scope, name).prefix
            if not (await self._world.storage.range(prefix, limit=1)).records:
                continue
            call = Call("deletecollection", served, scope, Query(), namespace=name, user=OURSELVES)
            await delete_collection(self._world, call)
            for record in (await self._world.storage.range(prefix)).records:
                resources[f"{served.plural}.{served.group}"] += 1
                finalizers.update(stored.decode(record.value)["metadata"].get("finalizers") or ())
        return Remains(dict(resources), dict(finalizers))

    def _content(self, scope: Scope) -> list[Served]:
        """Return the namespaced kinds of the cluster, each storage once."""
        kinds = {s.prefix: s for s in self._world.catalog.served(scope.cluster) if s.namespaced}
        return list(kinds.values())

    async def _let_go(self, scope: Scope, record: Record, namespace: JSON) -> None:
        """Say that the namespace is empty, which removes it unless somebody else's finalizers hold it."""
        kept = [finalizer for finalizer in namespace["spec"]["finalizers"] if finalizer != FINALIZER]
        if not kept and not namespace["metadata"].get("finalizers"):
            await self._world.storage.delete(record.key, expect=record.revision)
            return
        namespace["spec"] = {"finalizers": kept} if kept else {}
        set_conditions(namespace, Remains({}, {}), now=self._now())
        await self._world.storage.update(record.key, stored.encode(namespace, scope), expect=record.revision)

    def _now(self) -> str:
        return self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
