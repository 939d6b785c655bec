"""Deleting the instances of a definition that goes away."""

from kcpctl.apiserver.call import Call, Query, Scope
from kcpctl.apiserver.crds.kinds import Schemas, storage_kind
from kcpctl.apiserver.exchange import User
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.keys import extent, place
from kcpctl.apiserver.served import JSON
from kcpctl.apiserver.storage.base import Mismatch
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing.deleting import delete

_OURSELVES = User("system:apiserver", groups=("system:masters",))
_PAGE = 500


async def delete_instances(world: World, crd: JSON, scope: Scope) -> None:
    """Delete every instance as a client would; finalizers may keep some."""
    kind = storage_kind(crd, Schemas())
    prefix = extent(kind, scope).prefix
    start = ""
    while found := (await world.storage.range(prefix, start=start, limit=_PAGE)).records:
        for record in found:
            where = place(record.key)
            call = Call("delete", kind, scope, Query(), namespace=where.namespace, name=where.name, user=_OURSELVES)
            try:
                await delete(world, call)
            except Failure as refused:
                if refused.status.code != 404:
                    raise
        start = found[-1].key + "\0"


async def purge(world: World, prefix: str) -> None:
    """Remove what is under the prefix without further ado."""
    for record in (await world.storage.range(prefix)).records:
        try:
            await world.storage.delete(record.key, expect=record.revision)
        except Mismatch as mismatch:
            if mismatch.current is not None:
                raise
