"""Mapping functions: whom a change concerns."""

from typing import Any

from informers.api.objects import Key, Object
from informers.api.resources import Resource
from informers.cache.notices import Notice
from informers.runtime.sources import old_and_new, owner, same_key
from tests.informers.runtime.objects import MEMBERS, TEAMS, made, owned_by

BLUE, RED = Key("", "", "default", "blue"), Key("", "", "default", "red")


def member(owner_name: str = "blue", **reference: Any) -> Object[Any]:
    return made("ann", resource=MEMBERS, kind="Member", metadata=owned_by(owner_name, **reference))


def concerned(mapper: Any, old: Object[Any] | None, new: Object[Any] | None) -> list[Key]:
    some = new or old
    return list(mapper(Notice(old, new, some.key if some else Key(name="unknown"))))


def test_a_member_wakes_the_team_that_controls_it_whatever_the_version() -> None:
    newer = Resource("example.com", "v2", "teams", kind="Team", namespaced=True)

    assert concerned(owner(TEAMS), None, member()) == [BLUE]
    assert concerned(owner(newer), None, member()) == [BLUE]


def test_owners_of_another_kind_or_group_are_not_meant() -> None:
    assert concerned(owner(TEAMS), None, member(kind="Squad")) == []
    assert concerned(owner(TEAMS), None, member(group="example.org")) == []


def test_where_the_kind_is_unknown_the_group_decides() -> None:
    kindless = Resource("example.com", "v1", "teams", namespaced=True)

    assert concerned(owner(kindless), None, member(kind="Squad")) == [BLUE]


def test_only_the_controlling_owner_counts_unless_any_is_asked_for() -> None:
    assert concerned(owner(TEAMS), None, member(controller=False)) == []
    assert concerned(owner(TEAMS, any_owner=True), None, member(controller=False)) == [BLUE]


def test_an_owner_without_a_namespace_is_found_there() -> None:
    at_large = Resource("example.com", "v1", "teams", kind="Team", namespaced=False)
    unknown = Resource("example.com", "v1", "teams", kind="Team")

    assert concerned(owner(at_large), None, member()) == [Key(name="blue")]
    assert concerned(owner(unknown), None, member()) == [BLUE, Key(name="blue")]


def test_a_member_that_changes_teams_wakes_both_once() -> None:
    assert concerned(owner(TEAMS), member("blue"), member("red")) == [BLUE, RED]
    assert concerned(owner(TEAMS), member("blue"), member("blue")) == [BLUE]
    assert concerned(owner(TEAMS), member("blue"), None) == [BLUE]


def test_a_deletion_whose_last_state_nobody_knows_concerns_nobody() -> None:
    assert concerned(owner(TEAMS), None, None) == []


def test_owners_are_looked_for_in_the_members_cluster_and_shards_play_no_part() -> None:
    notes = {"annotations": {"kcp.io/cluster": "c1", "kcp.io/shard": "s1"}}
    obj = made("ann", resource=MEMBERS, metadata={**owned_by("blue"), **notes})

    assert concerned(owner(TEAMS), None, obj) == [Key("", "c1", "default", "blue")]
    assert concerned(same_key, None, obj) == [Key("", "c1", "default", "ann")]


def test_old_and_new_asks_about_both_states_and_drops_repetitions() -> None:
    mapper = old_and_new(lambda obj: [Key(name=obj.labels.get("team", "")), Key(name="all")])

    red, blue = made(metadata={"labels": {"team": "red"}}), made(metadata={"labels": {"team": "blue"}})
    assert concerned(mapper, red, blue) == [Key(name="red"), Key(name="all"), Key(name="blue")]
