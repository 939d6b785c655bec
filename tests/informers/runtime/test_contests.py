"""Two writers who undo each other are told of once, and go on slowly; whoever writes alone is never held up."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from informers.api.objects import Condition, Key, Object
from informers.clock import VirtualClock
from informers.runtime.cluster import Cluster
from informers.runtime.contests import WITHIN, WRITES, Contests
from informers.runtime.controller import Controller, controller
from informers.runtime.facts import Outcome, Reconciled, Undone
from informers.runtime.manager import Manager
from informers.runtime.result import Result
from tests.informers.runtime.memory import MemoryServer
from tests.informers.runtime.objects import TEAMS, made

BLUE = Key("", "", "default", "blue")


def setting(name: str, **wish: Any) -> Controller[Any]:
    @controller(TEAMS, name=name)
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        return Result(**wish)

    return reconcile


def seen(name: str = "blue", *, rv: int = 1, uid: str = "uid") -> Object[Any]:
    return made(name, metadata={"resourceVersion": str(rv), "uid": uid})


class Told:
    def __init__(self) -> None:
        self.undone: list[Undone] = []
        self.visits: list[Reconciled] = []

    def notice(self, fact: Any) -> None:
        if isinstance(fact, Undone):
            self.undone.append(fact)
        elif isinstance(fact, Reconciled):
            self.visits.append(fact)


@asynccontextmanager
async def running(memory: MemoryServer, clock: VirtualClock, *controllers: Controller[Any]) -> AsyncIterator[Told]:
    told = Told()
    async with Manager(memory.server(), controllers, observers=[told], clock=clock):
        await clock.run_until_idle()
        yield told


@pytest.mark.parametrize("apply", [False, True])
async def test_two_controllers_of_one_status_are_told_of_once_each_and_slow_down(
    memory: MemoryServer, clock: VirtualClock, apply: bool
) -> None:
    memory.put("blue")
    one = setting("one", status={"phase": "Good", "deep": {"a": 1}}, apply=apply)
    other = setting("other", status={"phase": "Bad", "deep": {"a": 2}}, apply=apply)
    async with running(memory, clock, one, other) as told:
        assert len(memory.writes) <= 2 * WRITES + 2, "it has come to rest before any time went by"

        await clock.advance(3600)
        assert len(memory.writes) <= 2 * WRITES + 50, "pauses of 1, 2 … 300 s for each"
        assert len(told.visits) <= 8 * WRITES + 200

    assert sorted(fact.controller for fact in told.undone) == ["one", "other"]
    assert {(fact.key, fact.fields, fact.writes, fact.retry_in) for fact in told.undone} == {
        (BLUE, ("status.phase", "status.deep.a"), WRITES, 1.0)
    }
    assert Outcome.UNDONE in {visit.outcome for visit in told.visits}


async def test_a_time_in_a_condition_does_not_hide_it(memory: MemoryServer, clock: VirtualClock) -> None:
    memory.put("blue")
    one = setting("one", status={"conditions": [Condition("Good", "True", reason="Is")]})
    other = setting("other", status={"conditions": [Condition("Good", "False", reason="IsNot")]})
    async with running(memory, clock, one, other) as told:
        for _ in range(100):
            await clock.advance(1)

    assert len(told.undone) == 2
    assert len(memory.writes) <= 2 * WRITES + 16


async def test_the_last_writer_is_followed_once_the_other_one_ends(memory: MemoryServer, clock: VirtualClock) -> None:
    memory.put("blue")
    async with running(memory, clock, setting("one", status={"phase": "Good"})) as told:
        for _ in range(WRITES):
            memory.put("blue", status={"phase": "Bad"})
            await clock.run_until_idle()
        assert memory.get("blue")["status"] == {"phase": "Bad"}
        assert told.visits[-1].outcome is Outcome.UNDONE

        await clock.advance(1)
        assert memory.get("blue")["status"] == {"phase": "Good"}
        assert told.visits[-1].outcome is Outcome.SUCCESS


async def test_repairs_that_are_far_enough_apart_are_made_at_once(memory: MemoryServer, clock: VirtualClock) -> None:
    memory.put("blue")
    async with running(memory, clock, setting("one", fields={"metadata": {"labels": {"ours": "1"}}})) as told:
        for _ in range(3 * WRITES):
            memory.put("blue")
            await clock.run_until_idle()
            assert memory.get("blue")["metadata"]["labels"] == {"ours": "1"}
            await clock.advance(WITHIN + 0.001)

    assert told.undone == []


async def test_another_wish_is_written_at_once(memory: MemoryServer, clock: VirtualClock) -> None:
    @controller(TEAMS)
    async def sizes(obj: Object[Any], cluster: Cluster) -> Result:
        return Result(status={"size": obj.at("spec", "size")})

    memory.put("blue", spec={"size": 0})
    async with running(memory, clock, sizes) as told:
        for size in range(5 * WRITES):
            memory.put("blue", spec={"size": size})
            await clock.run_until_idle()
            assert memory.get("blue")["status"] == {"size": size}

    assert told.undone == []


def test_writes_upon_one_and_the_same_object_count_once_and_another_object_of_the_name_begins_anew() -> None:
    found: list[Undone] = []
    contests = Contests("one", VirtualClock(), found.append)
    wish = Result(status={"phase": "Good"}, apply=True)
    for _ in range(2 * WRITES):
        contests.written(seen(rv=7), wish, {})
    for rv in range(2 * WRITES):
        contests.written(seen(rv=rv, uid=f"uid-{rv}"), wish, {})

    assert found == []
    assert contests.pause(seen(rv=99), wish) == 0


def test_a_row_is_told_once_although_its_tenth_write_is_made_twice_upon_one_object() -> None:
    found: list[Undone] = []
    contests = Contests("one", VirtualClock(), found.append)
    for rv in (*range(WRITES), WRITES - 1):
        contests.written(seen(rv=rv), Result(status={"phase": "Good"}, apply=True), {})

    assert len(found) == 1


def test_no_more_objects_are_remembered_than_the_bound() -> None:
    contests = Contests("one", VirtualClock(), lambda fact: None, keys=2)
    wish, first = Result(status={"phase": "Good"}), seen("first")
    for rv in range(WRITES):
        contests.written(seen("first", rv=rv), wish, {})
    assert contests.pause(first, wish) == 1

    contests.written(seen("second"), wish, {})
    assert contests.pause(first, wish) == 1
    contests.written(seen("third"), wish, {})
    assert contests.pause(first, wish) == 0
