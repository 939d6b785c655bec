"""What a write is about: the request with everything that its steps share."""

from datetime import UTC

import msgspec

from kcpctl.apiserver import stored
from kcpctl.apiserver.admission import CACHE, SHARD, AdmissionRequest, Rules
from kcpctl.apiserver.call import Call, Scope
from kcpctl.apiserver.failures import Failure, bad_request, failure, invalid, untyped
from kcpctl.apiserver.keys import object_key
from kcpctl.apiserver.served import JSON, Context, FieldError, Served
from kcpctl.apiserver.storage.base import Record
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing.jsontext import TOO_DEEP
from kcpctl.apiserver.writing.options import WriteOptions
from kcpctl.apiserver.writing.written import Written

LARGEST_VALUE = 1_572_864
"""Bytes of one stored object; etcd's limit for a request."""

DEEPEST = 250
"""Levels of one stored object. Whoever reads it later must be able to, however deep in calls; Kubernetes takes more."""

_decode = msgspec.json.Decoder().decode


class Subject(msgspec.Struct, frozen=True):
    """One write of one object."""

    world: World
    call: Call
    context: Context
    options: WriteOptions = WriteOptions()

    @property
    def served(self) -> Served:
        """The kind."""
        return self.call.served

    @property
    def scope(self) -> Scope:
        """The logical cluster."""
        return self.call.scope

    @property
    def rules(self) -> Rules:
        """How far the verbs are kube-apiserver's."""
        return CACHE if self.call.scope.is_cache else SHARD

    @property
    def size(self) -> int:
        """About how many bytes the work on the object is about."""
        return len(self.call.body)

    def key(self, name: str) -> str:
        """Return where the object of that name is stored."""
        return object_key(self.served, self.scope, self.call.namespace, name)

    def shown(self, record: Record) -> JSON:
        """Return a record as clients see it, decoded."""
        found: JSON = _decode(self.world.injected(record, self.served, self.scope))
        return found

    def packed(self, obj: JSON) -> bytes:
        """Return an object as it will be stored; raises `Failure`: 500 if it is too large, 400 if it is too deep."""
        value = stored.encode(self.served.strategy.to_storage(obj), self.scope)
        if value.count(b"{") + value.count(b"[") > DEEPEST and _depth(obj) > DEEPEST:
            raise bad_request(TOO_DEEP)
        if len(value) > LARGEST_VALUE:
            raise untyped("etcdserver: request is too large")
        return value

    def answer(self, record: Record, code: int = 200) -> Written:
        """Return the answer that shows a record."""
        return Written(self.world.injected(record, self.served, self.scope), code, self.warnings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the client is warned of, each once: a race that is run again warns again."""
        return tuple(dict.fromkeys(self.context.warnings))

    async def admit(self, verb: str, obj: JSON, old: JSON | None) -> None:
        """Pass the admission rules; waits for what they look up, raises what they refuse with."""
        if self.world.admission:
            request = AdmissionRequest(verb, self.served, obj, old, self.context, self.options.dry_run)
            for rule in self.world.admission:
                await rule(request)


def subject(world: World, call: Call, options: WriteOptions, warnings: list[str]) -> Subject:
    """Gather what a write needs; raises `Failure` where writes cannot go through a wildcard."""
    if call.scope.is_wildcard:
        raise through_wildcard(call)
    now = world.clock.now().astimezone(UTC).isoformat()[:19] + "Z"
    context = Context(
        cluster=call.scope.cluster,
        user=call.user,
        now=now,
        subresource=call.subresource,
        namespace=call.namespace,
        name=call.name,
        shard=call.scope.shard,
        warnings=warnings,
    )
    return Subject(world, call, context, options)


def through_wildcard(call: Call) -> Failure:
    """405: a write must name the logical cluster, and on a cache server the shard, that it is for."""
    what = "shard and logical cluster" if call.scope.is_cache else "logical cluster"
    verb = "DELETE" if call.verb == "deletecollection" else call.verb
    message = f"{verb} of {call.served.qualified} must name its {what}; '*' is for list and watch only"
    return failure(405, "MethodNotAllowed", message)


def invalid_object(served: Served, obj: JSON, errors: list[FieldError]) -> Failure:
    """422: the object is wrong in these fields; it is named as it names itself, in the group that it is stored in."""
    group = served.group if served.storage_group is None else served.storage_group
    shown = msgspec.structs.replace(served, group=group, kind=obj.get("kind", served.kind))
    return invalid(shown, obj["metadata"].get("name", ""), errors)


def same_document(value: bytes, other: bytes) -> bool:
    """Say whether two stored values are the same document, whatever the order of keys."""
    if value == other:
        return True
    if len(value) != len(other):
        return False
    found, known = stored.decode(value), stored.decode(other)
    if found != known:
        return False
    one, two = (msgspec.json.encode(v, order="sorted") for v in (found, known))  # to Python 1 and true are equal
    return one == two


def _depth(obj: JSON) -> int:
    """Return how many levels of maps and lists the object has."""
    depth, level = 0, [list(obj.values())]
    while level:
        depth += 1
        inner = (value for values in level for value in values)
        level = [list(v.values()) if isinstance(v, dict) else v for v in inner if isinstance(v, (dict, list))]
    return depth
