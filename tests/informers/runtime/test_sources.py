"""Mapping functions: whom a change concerns."""

from collections.abc import Iterable
from typing import Any

from informers.api.objects import Key, Object
from informers.api.resources import Resource
from informers.cache.listers import Lister
from informers.cache.notices import Notice
from informers.cache.store import Store
from informers.runtime.sources import ByIndex, EveryKey, Lookup, Mapper, Owner, old_and_new, same_key
from tests.informers.runtime.objects import MEMBERS, TEAMS, made, owned_by

BLUE, RED = Key("", "", "default", "blue"), Key("", "", "default", "red")


def member(owner: str = "blue", **reference: Any) -> Object[Any]:
    return made("ann", resource=MEMBERS, kind="Member", metadata=owned_by(owner, **reference))


def teams(*objects: Object[Any], synced: bool = True) -> Lister[Any]:
    store: Store[Any] = Store({"colour": lambda obj: [obj.labels.get("colour", "")]})
    for obj in objects:
        store.put(obj)
    return Lister(store, TEAMS, has_synced=lambda: synced)


TWO_TEAMS = teams(made("blue"), made("red"))


def concerned(
    mapping: Mapper | Lookup, old: Object[Any] | None, new: Object[Any] | None, among: Lister[Any] = TWO_TEAMS
) -> list[Key]:
    some = new or old
    to = mapping.among(among) if isinstance(mapping, Lookup) else mapping
    return list(to(Notice(old, new, some.key if some else Key(name="unknown"))))


def test_a_member_wakes_the_team_that_controls_it_whatever_the_version() -> None:
    newer = Resource("example.com", "v2", "teams", kind="Team")

    assert concerned(Owner(TEAMS), None, member()) == [BLUE]
    assert concerned(Owner(newer), None, member()) == [BLUE]


def test_owners_of_another_kind_or_group_are_not_meant() -> None:
    assert concerned(Owner(TEAMS), None, member(kind="Squad")) == []
    assert concerned(Owner(TEAMS), None, member(group="example.org")) == []


def test_where_the_kind_is_unknown_the_group_decides() -> None:
    kindless = Resource("example.com", "v1", "teams")

    assert concerned(Owner(kindless), None, member(kind="Squad")) == [BLUE]


def test_only_the_controlling_owner_counts_unless_any_is_asked_for() -> None:
    assert concerned(Owner(TEAMS), None, member(controller=False)) == []
    assert concerned(Owner(TEAMS, any_owner=True), None, member(controller=False)) == [BLUE]


def test_an_owner_without_a_namespace_is_found_there() -> None:
    at_large = teams(made("blue", namespace=""))

    assert concerned(Owner(TEAMS), None, member(), at_large) == [Key(name="blue")]


def test_an_owner_that_is_not_there_is_not_woken() -> None:
    assert concerned(Owner(TEAMS), None, member("green")) == []


def test_a_member_that_changes_teams_wakes_both_once() -> None:
    assert concerned(Owner(TEAMS), member("blue"), member("red")) == [BLUE, RED]
    assert concerned(Owner(TEAMS), member("blue"), member("blue")) == [BLUE]
    assert concerned(Owner(TEAMS), member("blue"), None) == [BLUE]


def test_a_deletion_whose_last_state_nobody_knows_concerns_nobody() -> None:
    assert concerned(Owner(TEAMS), None, None) == []


def test_owners_are_looked_for_in_the_members_cluster_and_shards_play_no_part() -> None:
    notes = {"annotations": {"kcp.io/cluster": "c1", "kcp.io/shard": "s1"}}
    obj = made("ann", resource=MEMBERS, metadata={**owned_by("blue"), **notes})
    in_cluster = teams(made("blue", metadata={"annotations": {"kcp.io/cluster": "c1"}}))

    assert concerned(Owner(TEAMS), None, obj) == []
    assert concerned(Owner(TEAMS), None, obj, in_cluster) == [Key("", "c1", "default", "blue")]
    assert concerned(same_key, None, obj) == [Key("", "c1", "default", "ann")]


def test_old_and_new_asks_about_both_states_and_drops_repetitions() -> None:
    mapper = old_and_new(lambda obj: [Key(name=obj.labels.get("team", "")), Key(name="all")])

    red, blue = made(metadata={"labels": {"team": "red"}}), made(metadata={"labels": {"team": "blue"}})
    assert concerned(mapper, red, blue) == [Key(name="red"), Key(name="all"), Key(name="blue")]


def colours(obj: Object[Any]) -> Iterable[str]:
    return [str(obj.at("spec", "colour"))]


def test_by_index_wakes_what_the_controllers_own_index_has_under_the_old_or_the_new_value() -> None:
    painted = teams(*(made(name, metadata={"labels": {"colour": name}}) for name in ("blue", "red", "green")))
    old, new = made("paint", spec={"colour": "blue"}), made("paint", spec={"colour": "red"})

    assert concerned(ByIndex("colour", colours), old, new, painted) == [BLUE, RED]
    assert concerned(ByIndex("colour", colours), old, None, painted) == [BLUE]


def test_every_key_is_every_object_of_the_controller() -> None:
    assert concerned(EveryKey(), None, made("paint")) == [BLUE, RED]


def test_lookups_concern_nobody_before_the_controllers_own_objects_are_listed() -> None:
    """All of them are visited once they are; looking at half of them would only be wrong."""
    unlisted = teams(made("blue"), synced=False)

    for lookup in (EveryKey(), ByIndex("colour", colours), Owner(TEAMS)):
        assert concerned(lookup, None, member(), unlisted) == []
