"""The scale subresource: a custom resource seen as nothing but its number of replicas."""

from collections.abc import Callable
from typing import Any, cast

import msgspec

from kcpctl.apiserver import reading
from kcpctl.apiserver.call import Call
from kcpctl.apiserver.crds.custom import CustomStrategy
from kcpctl.apiserver.crds.replicas import ReplicaPaths, at, put
from kcpctl.apiserver.failures import bad_request, internal, untyped
from kcpctl.apiserver.served import JSON
from kcpctl.apiserver.shapes.reader import ShapeError, read
from kcpctl.apiserver.shapes.scale import SCALE
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing import Written
from kcpctl.apiserver.writing.changing import change
from kcpctl.apiserver.writing.decoding import Text, check_size, effort, media_type, opened
from kcpctl.apiserver.writing.options import write_options
from kcpctl.apiserver.writing.patching import applied, check_media, decoded
from kcpctl.apiserver.writing.subject import subject

_API_VERSION = "autoscaling/v1"
_COPIED = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")

_decode = msgspec.json.Decoder().decode


async def get(world: World, call: Call) -> bytes:
    """Return the Scale of an object. Raises `Failure`: 404, 500 where the object says nothing of replicas."""
    paths = _paths(call)
    obj = _decode(await reading.get(world, call))
    if at(obj, paths.spec) is None:
        raise internal(f'the spec replicas field "{paths.spec}" does not exist')
    return msgspec.json.encode(scale_of(obj, paths))


async def update(world: World, call: Call) -> Written:
    """Set the replicas to those of the Scale in the body; without a resourceVersion whatever was before."""
    media = media_type(call)
    check_size(call)
    try:
        source = await world.aside.do(effort(call), lambda: opened(call.body, media))
    except ValueError as error:
        raise bad_request(f"the object provided is unrecognized (must be of type Scale): {error}") from None
    wanted = _scale(source.value if isinstance(source, Text) else None)
    return await _change(world, call, "UpdateOptions", lambda current: wanted)


async def patch(world: World, call: Call) -> Written:
    """Patch the object's Scale, and set the replicas to what comes out."""
    check_media(call)
    check_size(call)
    found = await decoded(world, call)
    return await _change(world, call, "PatchOptions", lambda scale: _scale(applied(call, found, _decode(scale))))


def scale_of(obj: JSON, paths: ReplicaPaths) -> JSON:
    """Return the Scale that an object is; what it does not say counts as nothing."""
    metadata = {name: obj["metadata"][name] for name in _COPIED if name in obj["metadata"]}
    status = {"replicas": at(obj, paths.status), "selector": at(obj, paths.selector) if paths.selector else None}
    parts = {"metadata": metadata, "spec": {"replicas": at(obj, paths.spec)}, "status": status}
    try:
        found, _ = read(SCALE, {"kind": "Scale", "apiVersion": _API_VERSION, **parts})
    except ShapeError as error:
        raise untyped(str(error)) from error
    return found


def _paths(call: Call) -> ReplicaPaths:
    strategy = cast("CustomStrategy", call.served.strategy)  # nothing else has this subresource
    assert strategy.replicas is not None
    return strategy.replicas


def _scale(value: Any) -> JSON:
    if not isinstance(value, dict) or value.get("kind") != "Scale" or value.get("apiVersion") != _API_VERSION:
        kind = value.get("kind") if isinstance(value, dict) else None
        raise bad_request(f"expected a Scale of {_API_VERSION}, found kind {kind!r}")
    try:
        found, _ = read(SCALE, value)
    except ShapeError as error:
        raise bad_request(f'Scale in version "v1" cannot be handled as a Scale: {error}') from error
    return found


async def _change(world: World, call: Call, options: str, scaled: Callable[[bytes], JSON]) -> Written:
    paths = _paths(call)

    def transform(current: bytes, _: JSON) -> JSON:
        obj: JSON = _decode(current)
        wanted = scaled(msgspec.json.encode(scale_of(obj, paths)))
        put(obj, paths.spec, wanted["spec"].get("replicas", 0))
        if said := wanted["metadata"].get("resourceVersion"):
            obj["metadata"]["resourceVersion"] = said
        return obj

    about = subject(world, msgspec.structs.replace(call, subresource=""), write_options(call, options), [])
    written = await change(about, transform)
    body = msgspec.json.encode(scale_of(_decode(written.body), paths))
    return msgspec.structs.replace(written, body=body)
