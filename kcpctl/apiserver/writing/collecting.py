"""Deletecollection: every object that a list would show."""

import asyncio
from collections.abc import Iterator, Sequence

import msgspec

from kcpctl.apiserver import reading
from kcpctl.apiserver.call import Call
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.keys import place
from kcpctl.apiserver.storage.base import Record, Unavailable
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing.deleting import delete_object
from kcpctl.apiserver.writing.deletion import DeleteOptions, delete_options
from kcpctl.apiserver.writing.options import WriteOptions
from kcpctl.apiserver.writing.subject import Subject, subject, through_wildcard
from kcpctl.apiserver.writing.written import Deleted

_AT_ONCE = 16
"""Deletions that wait for the disk together."""

_STEP = 8
"""Deletions that one of them makes before others may run: a store in memory never waits."""


async def delete_collection(world: World, call: Call) -> Deleted:
    """Delete what the list parameters choose and return it as it was; waits for the storage.

    Objects that others delete meanwhile do not matter. Raises `Failure` and `Unavailable`, the first one where several
    fail: some objects may be gone then.
    """
    if call.scope.is_wildcard:
        raise through_wildcard(call)
    options = await delete_options(world, call)
    found = await reading.list_(world, msgspec.structs.replace(call, verb="list"))
    records = found.items.records
    warnings = await _delete_all(world, call, options, records)
    return Deleted(found, warnings)


async def _delete_all(world: World, call: Call, options: DeleteOptions, records: Sequence[Record]) -> tuple[str, ...]:
    warnings: list[str] = []
    subjects = _subjects(world, call, options, records, warnings)
    failures: list[Failure | Unavailable] = []

    async def work() -> None:
        for number, about in enumerate(subjects, start=1):
            try:
                await delete_object(about, options)
            except Unavailable as error:
                failures.append(error)
            except Failure as refused:
                if refused.status.code != 404:
                    failures.append(refused)
            if failures:
                return
            if number % _STEP == 0:
                await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(_AT_ONCE, len(records))):
            group.create_task(work())
    if failures:
        raise failures[0]
    return tuple(dict.fromkeys(warnings))


def _subjects(
    world: World, call: Call, options: DeleteOptions, records: Sequence[Record], warnings: list[str]
) -> Iterator[Subject]:
    """Yield what to delete, one after the other, to whoever asks next."""
    for record in records:
        where = place(record.key, is_cache=call.scope.is_cache)
        one = msgspec.structs.replace(call, name=where.name, namespace=where.namespace)
        yield subject(world, one, WriteOptions(dry_run=options.dry_run), warnings)
