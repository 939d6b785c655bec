"""The commit: a wish becomes true with the fewest writes, and never on top of what somebody else wrote."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api.errors import ConfigurationError, Conflict
from informers.api.objects import Condition, Object
from informers.api.resources import Resource
from informers.clock import VirtualClock
from informers.runtime.commit import Committed, Target, commit
from informers.runtime.contests import Contests
from informers.runtime.result import Result
from tests.informers.runtime.memory import MemoryServer
from tests.informers.runtime.objects import TEAMS, made

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PATH = "/apis/example.com/v1/namespaces/default/teams/blue"


def seen(memory: MemoryServer) -> Object[Any]:
    """Return the object as the server has it now."""
    obj = memory.get("blue")
    return made(**{name: value for name, value in obj.items() if name not in ("apiVersion", "kind")})


def quiet() -> Contests:
    """Return contests in which there was no write yet."""
    return Contests("team", VirtualClock(), lambda fact: None)


async def commits(
    memory: MemoryServer, obj: Object[Any], newest: Object[Any] | None = None, /, *, now: datetime = NOON, **wish: Any
) -> Committed:
    target = Target(TEAMS, memory.server().client(), "team", now, quiet())
    return await commit(obj, newest or obj, Result(**wish), to=target)


async def test_a_difference_is_one_merge_patch_with_uid_and_resource_version(memory: MemoryServer) -> None:
    memory.put("blue", status={"members": 1, "old": True, "same": [1, {"a": 2}]})
    obj = seen(memory)

    assert await commits(memory, obj, status={"members": 2, "same": [1, {"a": 2}]}) is Committed.TRUE

    preconditions = {"uid": obj.uid, "resourceVersion": obj.rv}
    change = {"metadata": preconditions, "status": {"members": 2, "old": None}}
    assert memory.writes == [("PATCH", f"{PATH}/status", change)]
    assert memory.get("blue")["status"] == {"members": 2, "same": [1, {"a": 2}]}


@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"status": {"members": 1}},
        {"status": {"members": 1, "more": None}},
        {"status": {"members": 1}, "fields": {"spec": {"size": 3}, "metadata": {"labels": {"gone": None}}}},
        {"fields": {}},
    ],
)
async def test_a_wish_that_is_true_already_sends_nothing(memory: MemoryServer, wish: dict[str, Any]) -> None:
    memory.put("blue", spec={"size": 3}, status={"members": 1})

    assert await commits(memory, seen(memory), **wish) is Committed.TRUE
    assert memory.writes == []


async def test_the_first_status_is_written_whole_and_an_empty_one_removes_all(memory: MemoryServer) -> None:
    memory.put("blue")
    await commits(memory, seen(memory), status={"members": 1, "deep": {"a": None, "b": [{"c": None}]}})
    assert memory.get("blue")["status"] == {"members": 1, "deep": {"b": [{}]}}

    await commits(memory, seen(memory), status={"members": 1, "deep": {"a": None, "b": [{"c": None}]}})
    assert len(memory.writes) == 1

    await commits(memory, seen(memory), status={})
    assert memory.get("blue")["status"] == {}


async def test_a_model_is_a_wish_too(memory: MemoryServer) -> None:
    class TeamStatus(msgspec.Struct, rename="camel"):
        ready_members: int
        message: str | None = None

    memory.put("blue")
    await commits(memory, seen(memory), status=TeamStatus(2))

    assert memory.get("blue")["status"] == {"readyMembers": 2}


async def test_fields_go_to_the_object_and_the_status_follows_on_the_new_version(memory: MemoryServer) -> None:
    memory.put("blue", spec={"size": 1, "colour": "blue"})

    await commits(memory, seen(memory), status={"members": 2}, fields={"spec": {"size": 2}})

    assert [path for _, path, _ in memory.writes] == [PATH, f"{PATH}/status"]
    assert memory.get("blue")["spec"] == {"size": 2, "colour": "blue"}
    assert memory.get("blue")["status"] == {"members": 2}


async def test_a_newer_object_on_the_server_is_a_conflict_and_stays_as_it_is(memory: MemoryServer) -> None:
    memory.put("blue")
    obj = seen(memory)
    memory.put("blue", status={"theirs": 1})

    with pytest.raises(Conflict):
        await commits(memory, obj, status={"ours": 1})
    assert memory.get("blue")["status"] == {"theirs": 1}


async def test_another_object_of_the_same_name_is_left_alone(memory: MemoryServer) -> None:
    memory.put("blue", metadata={"uid": "first"})
    obj = seen(memory)
    memory.put("blue", metadata={"uid": "second"})

    assert await commits(memory, obj, seen(memory), status={"members": 1}) is Committed.OUTDATED
    with pytest.raises(Conflict):
        await commits(memory, obj, status={"members": 1})
    assert "status" not in memory.get("blue")


async def test_a_change_elsewhere_does_not_outdate_a_wish(memory: MemoryServer) -> None:
    memory.put("blue", status={"members": 1})
    obj = seen(memory)
    memory.put("blue", status={"members": 1}, spec={"size": 2})

    assert await commits(memory, obj, seen(memory), status={"members": 2}) is Committed.TRUE
    assert memory.get("blue")["status"] == {"members": 2}


async def test_a_wish_made_from_a_status_that_changed_meanwhile_is_not_written(memory: MemoryServer) -> None:
    memory.put("blue", status={"members": 1})
    obj = seen(memory)
    memory.put("blue", status={"members": 1, "theirs": "precious"})

    assert await commits(memory, obj, seen(memory), status={"members": 2}) is Committed.OUTDATED
    assert memory.writes == []


async def test_a_wish_that_the_newest_object_fulfils_is_true(memory: MemoryServer) -> None:
    memory.put("blue", status={"members": 1})
    obj = seen(memory)
    memory.put("blue", status={"members": 2})

    assert await commits(memory, obj, seen(memory), status={"members": 2}) is Committed.TRUE
    assert memory.writes == []


async def test_an_object_deleted_meanwhile_is_no_error(memory: MemoryServer) -> None:
    memory.put("blue")
    obj = seen(memory)
    memory.drop("blue")

    assert await commits(memory, obj, status={"members": 1}) is Committed.GONE


async def test_a_missing_status_subresource_is_said_clearly(memory: MemoryServer) -> None:
    memory.put("blue")
    memory.without_status.add("teams")

    with pytest.raises(ConfigurationError, match=r"teams.example.com to have a status subresource"):
        await commits(memory, seen(memory), status={"members": 1})


async def test_apply_sends_only_what_the_controller_owns_and_only_once(memory: MemoryServer) -> None:
    memory.put("blue", status={"theirs": 1})

    await commits(memory, seen(memory), status={"members": 1, "none": None}, apply=True)
    await commits(memory, seen(memory), status={"members": 1}, apply=True)

    owned = {
        "apiVersion": "example.com/v1",
        "kind": "Team",
        "metadata": {"name": "blue", "namespace": "default", "uid": "uid-blue"},
        "status": {"members": 1},
    }
    assert memory.writes == [("PATCH", f"{PATH}/status", owned)]
    assert memory.get("blue")["status"] == {"theirs": 1, "members": 1}


async def test_apply_writes_again_what_somebody_else_changed(memory: MemoryServer) -> None:
    memory.put("blue")
    await commits(memory, seen(memory), status={"members": 1}, apply=True)
    memory.get("blue")["status"]["members"] = 7

    await commits(memory, seen(memory), status={"members": 1}, apply=True)

    assert memory.get("blue")["status"] == {"members": 1}


async def test_applied_labels_keep_those_of_others(memory: MemoryServer) -> None:
    memory.put("blue", metadata={"labels": {"theirs": "1"}})

    for _ in range(2):
        await commits(memory, seen(memory), fields={"metadata": {"labels": {"ours": "1"}}}, apply=True)

    assert memory.get("blue")["metadata"]["labels"] == {"theirs": "1", "ours": "1"}
    assert [path for _, path, _ in memory.writes] == [PATH]


async def test_apply_without_a_kind_says_where_to_put_it(memory: MemoryServer) -> None:
    kindless = Resource("example.com", "v1", "teams")
    obj = made(resource=kindless, kind="")
    to = Target(kindless, memory.server().client(), "team", NOON, quiet())

    with pytest.raises(ConfigurationError, match="kind of teams"):
        await commit(obj, obj, Result(status={"a": 1}, apply=True), to=to)


READY = Condition("Ready", "True", reason="AllGood")
NOT_READY = Condition("Ready", "False", reason="OneSick", message="ann is ill")


def conditions_of(memory: MemoryServer) -> Any:
    return memory.get("blue")["status"]["conditions"]


@pytest.mark.parametrize("apply", [False, True])
async def test_a_condition_keeps_its_time_while_its_status_stays(memory: MemoryServer, apply: bool) -> None:
    memory.put("blue")
    for minute, condition in enumerate([READY, READY, NOT_READY, NOT_READY]):
        now = NOON + timedelta(minutes=minute)
        await commits(memory, seen(memory), status={"conditions": [condition]}, apply=apply, now=now)

    assert len(memory.writes) == 2
    first, second = (body["status"]["conditions"] for _, _, body in memory.writes)
    named = {"type": "Ready", "status": "True", "reason": "AllGood", "message": ""}
    assert first == [{**named, "lastTransitionTime": "2026-01-01T12:00:00Z"}]
    changed = {"type": "Ready", "status": "False", "reason": "OneSick", "message": "ann is ill"}
    assert second == [{**changed, "lastTransitionTime": "2026-01-01T12:02:00Z"}]


async def test_another_reason_or_generation_is_written_and_leaves_the_time(memory: MemoryServer) -> None:
    memory.put("blue")
    await commits(memory, seen(memory), status={"conditions": [READY]})

    newer = msgspec.structs.replace(READY, reason="StillGood", observed_generation=3)
    await commits(memory, seen(memory), status={"conditions": [newer]}, now=NOON + timedelta(hours=1))

    [found] = conditions_of(memory)
    assert (found["reason"], found["observedGeneration"]) == ("StillGood", 3)
    assert found["lastTransitionTime"] == "2026-01-01T12:00:00Z"


async def test_a_condition_of_type_and_status_alone_has_these_and_its_time(memory: MemoryServer) -> None:
    memory.put("blue")

    await commits(memory, seen(memory), status={"conditions": (Condition("Ready", "Unknown"),)})

    assert conditions_of(memory) == [
        {"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-01-01T12:00:00Z"}
    ]


@pytest.mark.parametrize("spelling", [{"message": ""}, {"message": "", "severity": "", "observedGeneration": 0}, {}])
async def test_what_says_the_same_in_other_words_is_not_written(memory: MemoryServer, spelling: dict[str, Any]) -> None:
    there = {"type": "Ready", "status": "True", "reason": "AllGood", "lastTransitionTime": "2020-01-01T00:00:00Z"}
    memory.put("blue", status={"conditions": [{**there, **spelling}]})

    await commits(memory, seen(memory), status={"conditions": [READY]})

    assert memory.writes == []


async def test_conditions_in_a_model_and_ones_written_out_beside_them_are_taken(memory: MemoryServer) -> None:
    class TeamStatus(msgspec.Struct, rename="camel"):
        ready_members: int
        conditions: list[Condition | dict[str, str]]

    memory.put("blue")
    for _ in range(2):
        status = TeamStatus(2, [{"type": "Mine", "status": "True"}, READY])
        await commits(memory, seen(memory), status=status)

    assert len(memory.writes) == 1
    assert [one["type"] for one in conditions_of(memory)] == ["Mine", "Ready"]
    assert "lastTransitionTime" not in conditions_of(memory)[0]


@pytest.mark.parametrize("there", [7, "no list", [7, {"type": 7}], [{"type": "Ready", "status": True}]])
async def test_conditions_that_are_none_are_replaced(memory: MemoryServer, there: Any) -> None:
    memory.put("blue", status={"conditions": there})

    await commits(memory, seen(memory), status={"conditions": [READY]})

    assert [one["reason"] for one in conditions_of(memory)] == ["AllGood"]


def test_a_status_among_the_fields_is_refused() -> None:
    with pytest.raises(ValueError, match=r"use Result\.status"):
        Result(fields={"status": {}})


leaves = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a"])
documents = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner)),
)


@given(before=st.none() | documents, wish=documents)
async def test_any_wish_is_true_after_one_write_and_stays_true_without_another(before: Any, wish: Any) -> None:
    memory = MemoryServer()
    memory.put("blue", **({} if before is None else {"status": before}))

    await commits(memory, seen(memory), status=wish)
    assert len(memory.writes) <= 1
    await commits(memory, seen(memory), status=wish)
    assert len(memory.writes) <= 1
