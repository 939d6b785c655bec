"""Verbs over HTTP: negotiate, let reading and writing do the work, and shape what they return."""

from collections.abc import Sequence

import msgspec

from kcpctl.apiserver import reading, writing
from kcpctl.apiserver.call import Call
from kcpctl.apiserver.crds import scale
from kcpctl.apiserver.exchange import Answer
from kcpctl.apiserver.failures import Failure, failure
from kcpctl.apiserver.http import answers, encoding, lists, watches
from kcpctl.apiserver.http.negotiation import Form, form, not_a_list, unknown_range
from kcpctl.apiserver.http.tables import Table, table
from kcpctl.apiserver.reading import ListResult
from kcpctl.apiserver.world import World

_SLOWER = 8
"""How much longer indenting and YAML take than `Aside` thinks of their bytes."""
APPLY = "application/apply-patch+yaml"
_STATUS = b'{"kind":"Status"'


class _ObjectHead(msgspec.Struct):
    class Metadata(msgspec.Struct, rename="camel"):
        resource_version: str = ""

    metadata: Metadata = msgspec.field(default_factory=Metadata)


_head_of = msgspec.json.Decoder(_ObjectHead).decode


async def answer(world: World, call: Call) -> Answer:
    """Do what the call asks; raises `Failure`."""
    if not call.served.deprecation:
        return await _answer(world, call)
    try:
        return await _answer(world, call)
    except Failure as refused:  # also then the client learns that the version is deprecated
        found = answers.failed(refused, call.headers, call.query)
        return Answer(found.status, found.headers + _warnings(call, ()), found.body)


async def _answer(world: World, call: Call) -> Answer:
    wanted = _negotiate(call)
    if call.verb == "get":
        body = await (scale.get if call.subresource == "scale" else reading.get)(world, call)
        return await _object(world, call, wanted, body, 200, ())
    if call.verb == "list":
        return _list(world, call, wanted, await reading.list_(world, call), ())
    if call.verb == "watch":
        return await _watch(world, call, wanted)
    return await _write(world, call, wanted)


def _negotiate(call: Call) -> Form:
    if not call.served.is_custom:
        refused = unknown_range(call.headers.get("accept", ""))
        if refused is not None:
            raise refused
    return form(call.headers, call.query, watch=call.verb == "watch")


async def _write(world: World, call: Call, wanted: Form) -> Answer:
    if call.verb == "patch" and call.content_type == APPLY:
        raise _no_apply()
    if call.verb == "deletecollection":
        deleted = await writing.delete_collection(world, call)
        return _list(world, call, wanted, deleted.found, deleted.warnings)
    written = await (_SCALE_WRITES if call.subresource == "scale" else _WRITES)[call.verb](world, call)
    return await _object(world, call, wanted, written.body, written.code, written.warnings)


_WRITES = {
    "create": writing.create,
    "update": writing.update,
    "patch": writing.patch,
    "delete": writing.delete,
}
_SCALE_WRITES = {"update": scale.update, "patch": scale.patch}


def _no_apply() -> Failure:
    """415 is what makes kubectl say that the server has no server-side apply."""
    message = "server-side apply is not built yet; leave --server-side out"
    return failure(415, "UnsupportedMediaType", message)


async def _object(world: World, call: Call, wanted: Form, body: bytes, status: int, warnings: Sequence[str]) -> Answer:
    if wanted.transform and not body.startswith(_STATUS):
        body = _transformed(world, call, wanted, body)
    effort = 0 if wanted.is_json else len(body) * _SLOWER
    body = await world.aside.do(effort, lambda: encoding.written(body, wanted))
    return Answer(status, answers.content_type(wanted) + _warnings(call, warnings), body)


def _transformed(world: World, call: Call, wanted: Form, body: bytes) -> bytes:
    if wanted.transform == "Table":
        metadata = encoding.list_metadata(_head_of(body).metadata.resource_version)
        return _table(call, wanted).whole([body], metadata, world.clock.now())
    if wanted.transform == "PartialObjectMetadata":
        return encoding.partial(body, wanted.version)
    package = call.served.group.partition(".")[0] or "core"
    go_type = "*unstructured.Unstructured" if call.served.is_custom else f"*{package}.{call.served.kind}"
    raise not_a_list(wanted.transform, go_type)


def _table(call: Call, wanted: Form) -> Table:
    return table(call.served, call.scope, call.query, wanted.version, subresource=call.subresource)


def _list(world: World, call: Call, wanted: Form, found: ListResult, warnings: Sequence[str]) -> Answer:
    headers = answers.content_type(wanted) + answers.store(world.storage) + _warnings(call, warnings)
    if wanted.is_json and not wanted.transform:
        return Answer(200, headers, reading.stream_list(call.served, found))
    return Answer(200, headers, lists.written(_parts(world, call, wanted, found), wanted, world.aside))


def _parts(world: World, call: Call, wanted: Form, found: ListResult) -> lists.Parts:
    if not wanted.transform:
        return lists.Parts(reading.list_head(call.served, found), found.items)
    metadata = encoding.list_metadata(str(found.revision), found.continue_, found.remaining)
    if wanted.transform == "Table":
        return lists.as_table(_table(call, wanted), found.items, metadata, world.clock.now())
    return lists.partial(found.items, metadata, wanted.version)


async def _watch(world: World, call: Call, wanted: Form) -> Answer:
    encode: watches.Encode = watches.plain
    if wanted.transform == "Table":
        encode = watches.as_tables(_table(call, wanted), world.clock.now)
    elif wanted.transform:
        encode = watches.partial(wanted.version)
    batches = await world.aside.do(len(call.query.raw), lambda: reading.watch(world, call))
    headers = answers.content_type(wanted) + answers.store(world.storage) + _warnings(call, ())
    return Answer(200, headers, watches.Watch(batches, encode), live=True)


def _warnings(call: Call, warnings: Sequence[str]) -> tuple[tuple[str, str], ...]:
    if not warnings and not call.served.deprecation:
        return ()
    return answers.warning_headers([call.served.deprecation, *warnings] if call.served.deprecation else warnings)
