"""When a copy goes: with its original, and not because that was lost."""

from dataclasses import dataclass
from typing import Any

import pytest

from controllers.kinds import EXPORTS
from controllers.replication import Replicator
from informers.api.objects import Key
from informers.api.resources import Resource
from informers.cache.notices import Evidence, Notice
from tests.controllers.world import Knowledge, made


@dataclass
class Granted:
    """The right to write into amber's segment."""

    shard: str = "amber"

    def may_write(self, resource: Resource[Any]) -> bool:
        return True

    def may_exist(self, resource: Resource[Any], key: Key) -> bool:
        return False

    def annotations(self) -> dict[str, str]:
        return {}

    def reconsider(self) -> None:
        pass


ORIGINAL = made(EXPORTS, "widgets", "c1")
LOST = Notice(ORIGINAL, None, ORIGINAL.key, evidence=Evidence.ABSENT_IN_NEW_HISTORY)


async def test_an_original_that_was_lost_with_its_servers_data_keeps_its_copy() -> None:
    known, replicator = Knowledge(), Replicator(EXPORTS, Granted())
    known.show(made(EXPORTS, "widgets", "c1", shard="amber"), "cache")
    replicator.originals(Notice(None, ORIGINAL, ORIGINAL.key))

    replicator.originals(LOST)
    await replicator.gone(ORIGINAL.key, known.cluster())

    assert replicator.held == {ORIGINAL.key}


@pytest.mark.parametrize("evidence", [Evidence.DELETED_EVENT, Evidence.ABSENT_FROM_LIST])
async def test_an_original_that_was_deleted_takes_its_copy_along_also_when_it_was_lost_before(
    evidence: Evidence,
) -> None:
    known, replicator = Knowledge(), Replicator(EXPORTS, Granted())
    known.show(made(EXPORTS, "widgets", "c1", shard="amber"), "cache")

    replicator.originals(LOST)
    replicator.originals(Notice(None, ORIGINAL, ORIGINAL.key))
    replicator.originals(Notice(ORIGINAL, None, ORIGINAL.key, evidence=evidence))

    with pytest.raises(AssertionError, match="unexpected DELETE"):
        await replicator.gone(ORIGINAL.key, known.cluster())
