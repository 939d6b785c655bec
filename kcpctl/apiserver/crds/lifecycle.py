"""What becomes of definitions: named, served, and in the end emptied and gone.

    made ──▶ named ──▶ established                      (one write each, as soon as the last one is visible)
               ▲ waits while another definition has one of its names
    deleted ──▶ emptying ──▶ gone                       (instances with finalizers are waited for)

All of it follows from what is stored, so a server that starts goes on where the last one stopped.
"""

from datetime import UTC
from typing import TypeAlias

from kcpctl.apiserver import stored
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.chores import Chores
from kcpctl.apiserver.crds.approval import approval_condition
from kcpctl.apiserver.crds.catalog import CrdCatalog
from kcpctl.apiserver.crds.definition import DEFINITIONS, FINALIZER, TERMINATING, set_condition
from kcpctl.apiserver.crds.emptying import delete_instances, purge
from kcpctl.apiserver.crds.naming import NAMES_ACCEPTED, judge
from kcpctl.apiserver.crds.validation import ESTABLISHED, condition, is_true
from kcpctl.apiserver.keys import NO_CLUSTER, object_key, place
from kcpctl.apiserver.served import JSON
from kcpctl.apiserver.storage.base import Change, Record
from kcpctl.apiserver.world import World

_ALL_DEFINITIONS = DEFINITIONS.prefix

Where: TypeAlias = tuple[str, str]
"""A definition's logical cluster and name."""


class Lifecycle:
    """Keeps the catalogue equal to the stored definitions, and moves each of them on until it rests."""

    def __init__(self, world: World, catalog: CrdCatalog) -> None:
        """Work on this world, whose catalogue this is."""
        self._world = world
        self._catalog = catalog
        self._emptying: dict[str, Where] = {}
        # One by one: whether a name is free is known when the one that asked before has been answered.
        self._chores = Chores(world.clock, self._move)

    async def load(self) -> None:
        """Take in the definitions that are stored, before anything is served."""
        self._world.storage.listen(_ALL_DEFINITIONS, self._heard)
        self._world.storage.listen("/registry/", self._heard_of_instances)
        found = await self._world.storage.range(_ALL_DEFINITIONS)
        for record in found.records:
            self._heard(Change(record.key, record.revision, record.value, None))

    async def run(self) -> None:
        """Move definitions on, until cancelled."""
        await self._chores.run()

    @property
    def at_rest(self) -> bool:
        """Whether no definition can be moved on by itself."""
        return self._chores.at_rest

    async def wait_at_rest(self) -> None:
        """Wait until no definition can be moved on by itself."""
        await self._chores.wait_at_rest()

    @property
    def trouble(self) -> str:
        """Why some definition is not moved on at the moment; `""` while all is well."""
        return self._chores.trouble

    def _heard(self, change: Change) -> None:
        """Take in a definition that was written, at the moment when clients can see it."""
        where = place(change.key)
        if change.value is None:
            ended = self._catalog.forget(where.cluster, where.name)
            group = where.name.partition(".")[2]
        else:
            crd = stored.decode(change.value)
            ended = self._catalog.define(where.cluster, crd)
            group = crd["spec"]["group"]
            self._chores.soon((where.cluster, where.name))
        for kind in ended:
            self._world.retire(kind)
        for other in self._catalog.definitions(where.cluster):
            if other["spec"]["group"] == group and not is_true(other, NAMES_ACCEPTED):
                self._chores.soon((where.cluster, other["metadata"]["name"]))

    def _heard_of_instances(self, change: Change) -> None:
        if change.value is None and self._emptying:
            for prefix, where in self._emptying.items():
                if change.key.startswith(prefix):
                    self._chores.soon(where)

    async def _move(self, where: Where) -> None:
        record = await self._world.storage.get(object_key(DEFINITIONS, Scope(where[0]), "", where[1]))
        if record is not None:
            await self._move_on(where, record)

    async def _move_on(self, where: Where, record: Record) -> None:
        crd = stored.decode(record.value)
        if crd["metadata"].get("deletionTimestamp"):
            if FINALIZER in (crd["metadata"].get("finalizers") or ()):
                await self._empty(where, crd, record)
            return
        if self._judge(where, crd):
            await self._store(where, crd, record)
        elif is_true(crd, NAMES_ACCEPTED) and not is_true(crd, ESTABLISHED):
            # What an earlier definition of that name left behind must not become this one's.
            if not self._catalog.is_built_in(crd):
                await purge(self._world, _instances(where, crd))
            message = "the initial names have been accepted"
            set_condition(crd, ESTABLISHED, "True", "InitialNamesAccepted", message, now=self._now())
            await self._store(where, crd, record)

    def _judge(self, where: Where, crd: JSON) -> bool:
        """Decide about names, in place; say whether anything changed."""
        cluster, name = where
        verdict = judge(crd, self._catalog.claims(cluster, crd["spec"]["group"], but=name))
        changed = bool(verdict.accepted != crd["status"].get("acceptedNames"))
        crd["status"]["acceptedNames"] = verdict.accepted
        now, accepted = self._now(), "True" if verdict.is_good else "False"
        changed |= set_condition(crd, NAMES_ACCEPTED, accepted, verdict.reason, verdict.message, now=now)
        if not is_true(crd, ESTABLISHED):
            why = ("Installing", "the initial names have been accepted")
            if not verdict.is_good:
                why = ("NotAccepted", "not all names are accepted")
            changed |= set_condition(crd, ESTABLISHED, "False", *why, now=now)
        if found := approval_condition(crd):
            changed |= set_condition(crd, "KubernetesAPIApprovalPolicyConformant", *found, now=now)
        return changed

    async def _empty(self, where: Where, crd: JSON, record: Record) -> None:
        """Delete what a definition that goes away has defined, and then the definition."""
        if not is_true(crd, ESTABLISHED) or self._catalog.is_built_in(crd):
            # What is stored under its names, if anything, is another kind's.
            message = "resource was never established"
            set_condition(crd, TERMINATING, "False", "NeverEstablished", message, now=self._now())
            await self._let_go(where, crd, record)
            return
        found = condition(crd, TERMINATING)
        if found is None or found["reason"] != "InstanceDeletionInProgress":
            message = "CustomResource deletion is in progress"
            set_condition(crd, TERMINATING, "True", "InstanceDeletionInProgress", message, now=self._now())
            await self._store(where, crd, record)
            return
        instances = _instances(where, crd)
        if instances not in self._emptying:
            self._emptying[instances] = where
            try:
                await delete_instances(self._world, crd, Scope(where[0]))
            except BaseException:
                del self._emptying[instances]  # not all of them were asked to go
                raise
        if (await self._world.storage.range(instances, limit=1)).records:
            return  # finalizers hold some; whenever one goes, this is looked at again
        del self._emptying[instances]
        if await self._let_go(where, crd, record):
            await purge(self._world, instances)

    async def _let_go(self, where: Where, crd: JSON, record: Record) -> bool:
        """Take our finalizer off a definition; say whether the definition went with it."""
        crd["metadata"]["finalizers"] = [name for name in crd["metadata"]["finalizers"] if name != FINALIZER]
        if crd["metadata"]["finalizers"]:
            await self._store(where, crd, record)
            return False
        await self._world.storage.delete(record.key, expect=record.revision)
        return True

    async def _store(self, where: Where, crd: JSON, record: Record) -> None:
        await self._world.storage.update(record.key, stored.encode(crd, Scope(where[0])), expect=record.revision)

    def _now(self) -> str:
        return self._world.clock.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _instances(where: Where, crd: JSON) -> str:
    """Return the prefix of all instances of a definition in its cluster."""
    spec = crd["spec"]
    return f"/registry/{spec['group']}/{spec['names']['plural']}/{where[0] or NO_CLUSTER}/"
