"""Get: one object by its name."""

from kcpctl.apiserver.call import Call
from kcpctl.apiserver.failures import not_found, untyped
from kcpctl.apiserver.keys import object_key
from kcpctl.apiserver.reading.revisions import parse_revision, reach
from kcpctl.apiserver.world import World


async def get(world: World, call: Call) -> bytes:
    """Return the served JSON of one object; waits for a resourceVersion that has not been reached.

    Raises `Failure`: 404, 504 where the revision does not come, 500 without a reason where it is none.
    """
    if "resourceVersion" in call.query:
        await _wait_for_revision(world, call)
    key = object_key(call.served, call.scope, call.namespace, call.name)
    record = await world.storage.get(key)
    if record is None:
        raise not_found(call.served, call.name)
    return world.injected(record, call.served, call.scope)


async def _wait_for_revision(world: World, call: Call) -> None:
    try:
        revision = parse_revision(call.query.text("resourceVersion"))
    except ValueError as error:
        raise untyped(str(error)) from error
    await reach(world, revision, call.scope)
