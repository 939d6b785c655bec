"""What every logical cluster has from its first moment."""

from kcpctl.apiserver.builtin.emptying import OURSELVES
from kcpctl.apiserver.builtin.namespaces import NAMESPACES
from kcpctl.apiserver.call import Call, Query, Scope
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.keys import object_key
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing import create

_NAMESPACE = b'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"%b"}}'


async def ensure_namespace(world: World, cluster: str, name: str) -> None:
    """Create a namespace of a logical cluster unless it is there; waits for the storage."""
    scope = Scope(cluster)
    if await world.storage.get(object_key(NAMESPACES, scope, "", name)) is not None:
        return
    body = _NAMESPACE % name.encode()
    try:
        await create(world, Call("create", NAMESPACES, scope, Query(), body=body, user=OURSELVES))
    except Failure as refused:
        if refused.status.reason != "AlreadyExists":
            raise
