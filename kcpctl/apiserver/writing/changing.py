"""Change an object that is there: compare and swap, until nobody was faster."""

from collections.abc import Callable

import msgspec

from kcpctl.apiserver.failures import Failure, conflict, invalid, not_found
from kcpctl.apiserver.field_errors import invalid as invalid_field
from kcpctl.apiserver.served import JSON, Served
from kcpctl.apiserver.storage.base import Mismatch, Record
from kcpctl.apiserver.writing import identity
from kcpctl.apiserver.writing.creating import create_object, type_errors
from kcpctl.apiserver.writing.metadata import errors_on_update, finalizer_warnings
from kcpctl.apiserver.writing.subject import Subject, invalid_object, same_document
from kcpctl.apiserver.writing.written import Written

Transform = Callable[[bytes, JSON], JSON]
"""From the object as clients see it, encoded and decoded, to what it should become; `b""` where there is none yet.

What it should become may share parts with what it is, if these are as they would be stored.
"""


async def change(subject: Subject, transform: Transform, *, uid: str = "", creates: bool = False) -> Written:
    """Make the object what `transform` says and return it; waits for the storage.

    When another write was faster, everything begins again with the newer object, so only a resourceVersion in the
    result can conflict. `uid` must be the object's if it is given; with `creates`, a missing object is created.
    Raises `Failure`.
    """
    name = subject.call.name
    record = await subject.world.storage.get(subject.key(name))
    while True:
        if record is None:
            if uid and creates:
                raise _other_uid(subject, uid, "")
            if not creates:
                raise not_found(subject.served, name)
            return await create_object(subject, transform(b"", {}))
        try:
            return await _attempt(subject, record, transform, uid)
        except Mismatch as mismatch:
            record = mismatch.current


async def _attempt(subject: Subject, record: Record, transform: Transform, uid: str) -> Written:
    aside, size = subject.world.aside, subject.size + len(record.value)
    old, new = await aside.do(size, lambda: _transformed(subject, record, transform, uid))
    subject.context.warnings.extend(identity.merge_owners(new["metadata"]))
    _check_revision(subject, new, record)
    await subject.admit("update", new, old)
    subject.context.warnings.extend(identity.merge_owners(new["metadata"], late=True))
    value, is_news = await aside.do(size, lambda: _finished(subject, new, old, record))
    if _is_over(subject, new, old):
        return await _finish(subject, Record(record.key, record.revision, value))
    if not is_news:
        return subject.answer(record)
    revision = record.revision
    if not subject.options.dry_run:
        revision = await subject.world.storage.update(record.key, value, expect=record.revision)
    return subject.answer(Record(record.key, revision, value))


def _transformed(subject: Subject, record: Record, transform: Transform, uid: str) -> tuple[JSON, JSON]:
    """Return the object as it is, and as it should become."""
    current = subject.world.injected(record, subject.served, subject.scope)
    old: JSON = msgspec.json.decode(current)
    if uid and uid != old["metadata"].get("uid"):
        raise _other_uid(subject, uid, old["metadata"].get("uid", ""))
    return old, transform(current, old)


def _finished(subject: Subject, new: JSON, old: JSON, record: Record) -> tuple[bytes, bool]:
    """Complete and check the new object; return it as it will be stored, and whether that is news."""
    _prepare(subject, new, old)
    value = subject.packed(new)
    if subject.served.strategy.serves_stored_bytes and _differs(new, old):
        return value, True
    return value, not same_document(value, record.value)


def _differs(new: JSON, old: JSON) -> bool:
    """Say whether something besides metadata surely differs, which takes no decoding."""
    return any(old.get(name) != value for name, value in new.items() if name != "metadata")


def _check_revision(subject: Subject, new: JSON, record: Record) -> None:
    served, name = subject.served, subject.call.name
    said = identity.revision_of(new["metadata"])
    if not said and not served.unconditional_update:
        error = invalid_field("metadata.resourceVersion", 0, "must be specified for an update")
        raise invalid(_by_plural(served), name, [error])
    if said and said != record.revision:
        raise conflict(served, name)


def _by_plural(served: Served) -> Served:
    """Name a kind by its resource, as this one message does."""
    return msgspec.structs.replace(served, kind=served.plural)


def _prepare(subject: Subject, new: JSON, old: JSON) -> None:
    """Put back what may not change, and refuse what is wrong (422)."""
    served = subject.served
    identity.keep_generation(new["metadata"], old["metadata"], subject.rules)
    if errors := type_errors(served, new):
        raise invalid_object(served, new, errors)
    served.strategy.prepare_update(new, old, subject.context)
    identity.go_on(new["metadata"], old["metadata"], subject.rules)
    errors = errors_on_update(served, new["metadata"], old["metadata"])
    # kube-apiserver checks metadata twice here, for all kinds and for this one: clients get every cause twice.
    errors += errors + served.strategy.validate(new, old, subject.context)
    if errors:
        raise invalid_object(served, new, errors)
    subject.context.warnings.extend(finalizer_warnings(served, new["metadata"]))


def _is_over(subject: Subject, new: JSON, old: JSON) -> bool:
    """Say whether nothing holds an object any more whose deletion was asked for."""
    metadata = old["metadata"]
    if new["metadata"].get("finalizers") or not metadata.get("deletionTimestamp"):
        return False
    deletion = subject.served.deletion
    return not metadata.get("deletionGracePeriodSeconds") and not (deletion and deletion.held(new))


async def _finish(subject: Subject, final: Record) -> Written:
    """Delete the object; the client gets it as it would have been stored."""
    if not subject.options.dry_run:
        await subject.world.storage.delete(final.key, expect=final.revision)
    return subject.answer(final)


def _other_uid(subject: Subject, wanted: str, found: str) -> Failure:
    """409: the object that the client means was replaced by another one of that name."""
    served, call = subject.served, subject.call
    # The key as it would be in etcd, where built-in kinds have no group.
    path = (served.group if served.is_custom else "", served.plural, call.namespace, call.name)
    key = "/".join(("/registry", *filter(None, path)))
    why = (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
    )
    return conflict(served, call.name, why)
