"""The verbs as the rest of the server calls them: what may go wrong on any way becomes a Failure here."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from kcpctl.apiserver.call import Call
from kcpctl.apiserver.failures import bad_request, failure
from kcpctl.apiserver.storage.base import Unavailable
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing import collecting, creating, deleting, patching, updating
from kcpctl.apiserver.writing.jsontext import TOO_DEEP
from kcpctl.apiserver.writing.written import Deleted, Written

T = TypeVar("T")


async def _guarded(verb: Callable[[World, Call], Awaitable[T]], world: World, call: Call) -> T:
    try:
        return await verb(world, call)
    except RecursionError:
        raise bad_request(TOO_DEEP) from None
    except Unavailable as error:
        raise failure(503, "ServiceUnavailable", str(error)) from error


async def create(world: World, call: Call) -> Written:
    """Store the object in the body and return it; waits for the storage. Raises `Failure`."""
    return await _guarded(creating.create, world, call)


async def update(world: World, call: Call) -> Written:
    """Replace the object by the one in the body and return it; waits for the storage. Raises `Failure`."""
    return await _guarded(updating.update, world, call)


async def patch(world: World, call: Call) -> Written:
    """Change the object as the body says and return it; waits for the storage. Raises `Failure`."""
    return await _guarded(patching.patch, world, call)


async def delete(world: World, call: Call) -> Written:
    """Delete the object; the answer is a Status if it is gone, else the object. Raises `Failure`."""
    return await _guarded(deleting.delete, world, call)


async def delete_collection(world: World, call: Call) -> Deleted:
    """Delete what the list parameters choose and return what that was. Raises `Failure`."""
    return await _guarded(collecting.delete_collection, world, call)
