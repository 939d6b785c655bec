"""Whatever happens, in the end every status is right, and nothing is written any more."""

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from informers.api.objects import Object
from informers.clock import VirtualClock
from informers.runtime.cluster import Cluster
from informers.runtime.controller import Controller, controller
from informers.runtime.manager import Manager
from informers.runtime.result import Result
from tests.informers.runtime.memory import MemoryServer
from tests.informers.runtime.objects import MEMBERS, TEAMS, owned_by

TEAM_NAMES = ("blue", "red")
names = st.sampled_from(TEAM_NAMES)
happenings = st.one_of(
    st.tuples(st.just("team"), names),
    st.tuples(st.just("no team"), names),
    st.tuples(st.just("member"), st.sampled_from("xyz"), names, st.sampled_from(["True", "False"])),
    st.tuples(st.just("no member"), st.sampled_from("xyz")),
    st.tuples(st.just("meddle"), names),
    st.tuples(st.just("down"), st.booleans()),
    st.tuples(st.just("cut")),
)
pauses = st.sampled_from([None, 0.0, 0.0, 0.01, 60.0])
"""Seconds until the next happening; None leaves it to the same turn of the loop."""
steps = st.lists(st.tuples(happenings, pauses), min_size=3, max_size=25)


def do(memory: MemoryServer, step: Any) -> None:
    match step:
        case ("team", name):
            memory.put(
                name, metadata={"uid": f"uid-{name}"}, status=memory.objects.get(key(name), {}).get("status", {})
            )
        case ("no team", name) if key(name) in memory.objects:
            memory.drop(name)
        case ("member", name, owner, ready):
            status = {"conditions": [{"type": "Ready", "status": ready}]}
            memory.put(name, "members", kind="Member", metadata=owned_by(owner), status=status)
        case ("no member", name) if ("members", "", "", "default", name) in memory.objects:
            memory.drop(name, "members")
        case ("meddle", name) if key(name) in memory.objects:
            memory.put(name, status={"members": 99, "theirs": True})
        case ("down", down):
            memory.down = down
        case ("cut",):
            memory.cut()


def key(name: str) -> tuple[str, ...]:
    return ("teams", "", "", "default", name)


def counting(luck: random.Random) -> Controller[Any]:
    """Return the team controller, with a reconciler that fails or dawdles now and then."""

    @controller(TEAMS, name="counting", owns=[MEMBERS], workers=2, timeout=5)
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        members = cluster.lister(MEMBERS).owned_by(obj)
        if luck.random() < 0.3:
            raise RuntimeError("out of luck")
        ready = sum(member.is_true("Ready") for member in members)
        return Result(status={"members": len(members), "readyMembers": ready})

    return reconcile


@settings(max_examples=60, deadline=None)
@given(steps=steps, seed=st.integers(0, 2**16))
async def test_statuses_become_right_and_stay_untouched(steps: list[Any], seed: int) -> None:
    memory, clock, luck = MemoryServer(), VirtualClock(), random.Random(seed)
    for name in TEAM_NAMES:
        memory.put(name)
    async with Manager(memory.server(), [counting(luck)], clock=clock) as manager:
        await clock.run_until_idle()
        for happening, pause in steps:
            do(memory, happening)
            if pause is not None:
                await clock.advance(pause)
        memory.down = False
        await clock.advance(4000)  # longer than the longest backoff
        await manager.wait_idle()

        for name in TEAM_NAMES:
            if key(name) in memory.objects:
                assert memory.get(name)["status"] == expected(memory, name)
        writes = len(memory.writes)
        await clock.advance(4000)
        assert len(memory.writes) == writes


def expected(memory: MemoryServer, team: str) -> dict[str, int]:
    owned = [
        obj
        for (plural, *_), obj in memory.objects.items()
        if plural == "members" and obj["metadata"]["ownerReferences"][0]["name"] == team
    ]
    ready = sum(obj["status"]["conditions"][0]["status"] == "True" for obj in owned)
    return {"members": len(owned), "readyMembers": ready}
