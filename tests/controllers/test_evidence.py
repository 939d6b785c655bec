"""What is remembered of objects ends when they do, and never grows without end."""

import json
from typing import Any

import pytest

from controllers.evidence import Bounded, Memory
from controllers.kinds import SHARDS
from informers.api.decoding import Reader
from informers.api.objects import Object
from informers.cache.notices import Evidence, Notice
from informers.clock import VirtualClock


def remembering(clock: VirtualClock) -> Memory[Any, str]:
    return Memory(lambda obj: str(obj.value.spec.base_url), clock, lambda old, new: None)


def shard(spec: Any) -> Object[Any]:
    return Reader(SHARDS).object(json.dumps({"kind": "Shard", "metadata": {"name": "amber"}, "spec": spec}).encode())


GOOD, BAD = shard({"baseURL": "https://amber"}), shard("text")


@pytest.mark.parametrize("evidence", [Evidence.DELETED_EVENT, Evidence.ABSENT_FROM_LIST])
def test_what_is_malformed_is_reported_only_while_it_is_there(evidence: Evidence) -> None:
    memory = remembering(VirtualClock())
    see = memory.handler("cache")
    see(Notice(None, BAD, BAD.key))
    assert [one.key for one in memory.malformed] == [BAD.key]

    see(Notice(BAD, None, BAD.key, evidence=evidence))

    assert memory.malformed == []


async def test_what_is_held_is_held_since_it_was_missed_first() -> None:
    clock = VirtualClock()
    memory = remembering(clock)
    see = memory.handler("cache")
    see(Notice(None, GOOD, GOOD.key))
    missed = clock.now()
    for _ in range(2):
        see(Notice(GOOD, None, GOOD.key, evidence=Evidence.ABSENT_FROM_LIST))
        await clock.advance(60)

    assert [sighting.held_since for sighting in memory] == [missed]


def test_a_bounded_set_forgets_what_was_added_longest_ago() -> None:
    found = Bounded(3)
    for member in ("a", "b", "c", "a", "d"):
        found.add(member)

    assert list(found) == ["c", "a", "d"]
    assert "b" not in found
