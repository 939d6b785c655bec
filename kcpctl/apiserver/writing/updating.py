"""Update: the body replaces the object, or its part that the subresource is."""

import msgspec

from kcpctl.apiserver.call import Call
from kcpctl.apiserver.served import JSON
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing import identity
from kcpctl.apiserver.writing.changing import change
from kcpctl.apiserver.writing.decoding import decode
from kcpctl.apiserver.writing.options import write_options
from kcpctl.apiserver.writing.subject import subject
from kcpctl.apiserver.writing.written import Written


async def update(world: World, call: Call) -> Written:
    """Replace the object by the one in the body and return it; waits for the storage. Raises `Failure`."""
    options = write_options(call, "UpdateOptions")
    obj, warnings = await decode(world, call, options.field_validation)
    about = subject(world, call, options, warnings)
    identity.settle_namespace(obj["metadata"], call.namespace)
    identity.check_name(obj["metadata"], call.name)
    packed = msgspec.json.encode(obj)
    first = [obj]

    def replacement(current: bytes, old: JSON) -> JSON:
        fresh: JSON = first.pop() if first else msgspec.json.decode(packed)
        return fresh

    creates = call.served.create_on_update and not call.subresource
    return await change(about, replacement, uid=obj["metadata"].get("uid", ""), creates=creates)
