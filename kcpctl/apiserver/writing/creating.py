"""Create: a new object, with a name of its own or a generated one."""

import msgspec

from kcpctl.apiserver import stored
from kcpctl.apiserver.call import Call
from kcpctl.apiserver.failures import Failure, already_exists, failure, untyped
from kcpctl.apiserver.field_errors import invalid
from kcpctl.apiserver.served import JSON, FieldError, Served
from kcpctl.apiserver.storage.base import KeyExists, Record
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing import identity, lifecycle
from kcpctl.apiserver.writing.decoding import decode
from kcpctl.apiserver.writing.metadata import errors_on_create, finalizer_warnings
from kcpctl.apiserver.writing.options import write_options
from kcpctl.apiserver.writing.subject import Subject, invalid_object, subject
from kcpctl.apiserver.writing.written import Written

_ATTEMPTS = 8
"""Names that are tried for one generateName."""


async def create(world: World, call: Call) -> Written:
    """Store the object in the body and return it; waits for the storage. Raises `Failure`."""
    options = write_options(call, "CreateOptions")
    obj, warnings = await decode(world, call, options.field_validation)
    return await create_object(subject(world, call, options, warnings), obj)


async def create_object(subject: Subject, obj: JSON) -> Written:
    """Store a decoded and defaulted object, which is used up; waits for the storage. Raises `Failure`."""
    metadata = obj["metadata"]
    identity.begin(metadata, subject.rules, subject.context.now)
    identity.settle_namespace(metadata, subject.call.namespace)
    subject.context.warnings.extend(identity.merge_owners(metadata))
    await lifecycle.check_namespace(subject, metadata.get("name", ""))
    await subject.admit("create", obj, None)
    subject.context.warnings.extend(identity.merge_owners(obj["metadata"], late=True))
    if obj["metadata"].get("name") or not obj["metadata"].get("generateName"):
        return await _store(subject, obj)
    return await _store_generated(subject, msgspec.json.encode(obj), obj["metadata"]["generateName"])


async def _store_generated(subject: Subject, packed: bytes, prefix: str) -> Written:
    for attempt in range(1, _ATTEMPTS + 1):
        obj: JSON = msgspec.json.decode(packed)
        obj["metadata"]["name"] = identity.generated_name(prefix, subject.world.rng)
        try:
            return await _store(subject, obj)
        except Failure as refused:
            if refused.status.reason != "AlreadyExists":
                raise
            if attempt == _ATTEMPTS:
                raise _no_name(refused) from None
    raise AssertionError("unreachable")  # the last attempt returns or raises


async def _store(subject: Subject, obj: JSON) -> Written:
    value = await subject.world.aside.do(subject.size, lambda: _finished(subject, obj))
    name = obj["metadata"]["name"]
    key = subject.key(name)
    if subject.options.dry_run:
        if existing := await subject.world.storage.get(key):
            raise _taken(subject.served, existing, name)
        return _unstored(subject, Record(key, 0, value))
    try:
        revision = await subject.world.storage.create(key, value)
    except KeyExists:
        raise _taken(subject.served, await subject.world.storage.get(key), name) from None
    return subject.answer(Record(key, revision, value), 201)


def _finished(subject: Subject, obj: JSON) -> bytes:
    """Make the object what a new one of its kind is, in place, check it, and return it as it will be stored."""
    served, context = subject.served, subject.context
    served.strategy.prepare_create(obj, context)
    if errors := type_errors(served, obj) or (
        errors_on_create(served, obj["metadata"]) + served.strategy.validate(obj, None, context)
    ):
        raise invalid_object(served, obj, errors)
    context.warnings.extend(finalizer_warnings(served, obj["metadata"]))
    _check_no_revision(obj["metadata"])
    return subject.packed(obj)


def type_errors(served: Served, obj: JSON) -> list[FieldError]:
    """Return what is wrong with a custom resource's kind and apiVersion; nothing else is looked at then."""
    if not served.is_custom:
        return []
    wanted = (("kind", served.kind), ("apiVersion", served.api_version))
    return [
        invalid(field, obj.get(field, ""), f"must be {value}") for field, value in wanted if obj.get(field) != value
    ]


def _check_no_revision(metadata: JSON) -> None:
    text = metadata.pop("resourceVersion", "")
    if text.isascii() and text.isdigit() and int(text[:20]):
        raise untyped("resourceVersion should not be set on objects to be created")


def _taken(served: Served, existing: Record | None, name: str) -> Failure:
    terminating = existing is not None and "deletionTimestamp" in stored.decode(existing.value)["metadata"]
    return already_exists(served, name, terminating=terminating)


def _no_name(refused: Failure) -> Failure:
    """409: every generated name was taken."""
    details = refused.status.details
    message = f"{refused.status.message}, the server was not able to generate a unique name for the object"
    return failure(
        409, "AlreadyExists", message, msgspec.structs.replace(details, retry_after_seconds=1) if details else None
    )


def _unstored(subject: Subject, record: Record) -> Written:
    """Answer a dry run: the object has everything but a resourceVersion."""
    body = subject.shown(record)
    del body["metadata"]["resourceVersion"]
    return Written(msgspec.json.encode(body), 201, subject.warnings)
