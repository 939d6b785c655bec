"""Delete: at once, or as soon as nothing holds the object any more."""

import msgspec

from kcpctl.apiserver.call import Call
from kcpctl.apiserver.failures import not_found
from kcpctl.apiserver.served import JSON
from kcpctl.apiserver.storage.base import Mismatch, Record
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing import dependents, lifecycle
from kcpctl.apiserver.writing.deletion import (
    DeleteOptions,
    check_preconditions,
    delete_options,
    no_garbage_collector,
    remaining,
)
from kcpctl.apiserver.writing.options import WriteOptions
from kcpctl.apiserver.writing.subject import Subject, same_document, subject
from kcpctl.apiserver.writing.written import Written, gone


async def delete(world: World, call: Call) -> Written:
    """Delete the object: a Status says that it is gone, the object itself that something holds it still.

    Waits for the storage. Raises `Failure`.
    """
    options = await delete_options(world, call)
    about = subject(world, call, WriteOptions(dry_run=options.dry_run), [])
    lifecycle.check_protected(about, call.name)
    return await delete_object(about, options)


async def delete_object(subject: Subject, options: DeleteOptions) -> Written:
    """Delete the object that the subject names; waits for the storage. Raises `Failure`."""
    record = await subject.world.storage.get(subject.key(subject.call.name))
    while record is not None:
        try:
            return await _attempt(subject, record, options)
        except Mismatch as mismatch:
            record = mismatch.current
    raise not_found(subject.served, subject.call.name)


async def _attempt(subject: Subject, record: Record, options: DeleteOptions) -> Written:
    obj = subject.shown(record)
    check_preconditions(subject.served, options, obj["metadata"])
    await subject.admit("delete", obj, None)
    if not subject.rules.finalizers_hold:
        return await _remove(subject, record, obj)
    deletion = subject.served.deletion
    if deletion is not None and not obj["metadata"].get("deletionTimestamp"):
        obj["metadata"]["deletionTimestamp"] = subject.context.now
        deletion.begin(obj, subject.context)
        return await _keep(subject, record, obj)
    if deletion is not None and deletion.held(obj):
        return subject.answer(record)
    await _settle_dependents(subject, options, obj["metadata"])
    finalizers = remaining(options, obj["metadata"])
    if not finalizers:
        return await _remove(subject, record, obj)
    _mark(obj["metadata"], finalizers, subject.context.now)
    written = await _keep(subject, record, obj)
    return msgspec.structs.replace(written, code=202) if options.says_not_orphan else written


async def _settle_dependents(subject: Subject, options: DeleteOptions, metadata: JSON) -> None:
    """Do at once what the garbage collector would do before the object goes; foreground deletion only if it is nothing.

    So no finalizer is added that nobody would ever remove. Waits for the storage.
    """
    if options.policy not in ("Orphan", "Foreground") or metadata.get("deletionTimestamp"):
        return
    found = await dependents.find(subject, metadata["uid"])
    if found and options.policy == "Foreground":
        raise no_garbage_collector(subject.served, metadata["name"], len(found))
    for record in found if not subject.options.dry_run else ():
        await dependents.release(subject, record, metadata["uid"])


def _mark(metadata: JSON, finalizers: list[str], now: str) -> None:
    metadata["finalizers"] = finalizers
    if not metadata.get("deletionTimestamp"):
        metadata["deletionTimestamp"] = now
        if metadata.get("generation"):
            metadata["generation"] += 1
    metadata["deletionGracePeriodSeconds"] = 0


async def _keep(subject: Subject, record: Record, obj: JSON) -> Written:
    """Store the object as going away."""
    value = subject.packed(obj)
    revision = record.revision
    if not subject.options.dry_run and not same_document(value, record.value):
        revision = await subject.world.storage.update(record.key, value, expect=record.revision)
    return subject.answer(Record(record.key, revision, value))


async def _remove(subject: Subject, record: Record, obj: JSON) -> Written:
    if not subject.options.dry_run:
        await subject.world.storage.delete(record.key, expect=record.revision)
    return gone(subject.served, obj["metadata"], subject.context.warnings)
