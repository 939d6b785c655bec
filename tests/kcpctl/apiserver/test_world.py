"""How the world shows what is stored."""

from typing import Any

import pytest

from kcpctl.apiserver import stored
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.keys import object_key
from kcpctl.apiserver.recent import Recent
from kcpctl.apiserver.served import JSON, Served
from kcpctl.apiserver.storage.base import Change, Record
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.world import World
from tests.kcpctl.apiserver.kinds import CONFIGMAPS, WIDGETS, AnythingGoes, FixedCatalog, kind

ROOT = Scope("root")


class Renaming(AnythingGoes):
    """Serves `spec.old` as `spec.new`, and counts how often it had to."""

    serves_stored_bytes = False

    def __init__(self) -> None:
        self.calls = 0

    def from_storage(self, obj: JSON) -> JSON:
        self.calls += 1
        return {**obj, "spec": {"new": obj["spec"]["old"]}}


@pytest.fixture
def world() -> World:
    return World(MemoryStorage(), FixedCatalog())


def record(served: Served, revision: int, **fields: Any) -> Record:
    obj = {"apiVersion": served.api_version, "kind": served.kind, "metadata": {"name": "a"}, **fields}
    return Record(object_key(served, ROOT, "ns", "a"), revision, stored.encode(obj, ROOT))


def test_a_wildcard_read_says_of_each_object_where_it_lives(world: World):
    found = record(WIDGETS, 5)

    assert world.injected(found, WIDGETS, Scope("*")) == world.injected(found, WIDGETS, ROOT)
    assert stored.decode(world.injected(found, WIDGETS, Scope("*")))["metadata"] == {
        "resourceVersion": "5",
        "annotations": {"kcp.io/cluster": "root"},
        "name": "a",
    }


def test_items_carry_their_type_only_where_they_are_custom(world: World):
    assert stored.decode(world.item(record(WIDGETS, 5), WIDGETS, ROOT))["kind"] == "Widget"
    assert "kind" not in stored.decode(world.item(record(CONFIGMAPS, 5), CONFIGMAPS, ROOT))


def test_another_version_is_made_once_for_all_readers(world: World):
    strategy = Renaming()
    later = Served("golden.example.com", "v2", "widgets", "Widget", strategy, is_custom=True)
    found = record(WIDGETS, 5, spec={"old": 1})

    shown = [stored.decode(world.injected(found, later, ROOT)) for _ in range(3)]

    assert shown[0]["apiVersion"] == "golden.example.com/v2"
    assert shown[0]["spec"] == {"new": 1}
    assert strategy.calls == 1


def test_a_selector_exit_shows_the_old_content_at_the_new_revision(world: World):
    later = Served("golden.example.com", "v2", "widgets", "Widget", Renaming(), is_custom=True)
    old, new = record(WIDGETS, 5, spec={"old": "before"}), record(WIDGETS, 6, spec={"old": "after"})
    change = Change(new.key, 6, new.value, old)

    entered = world.event("MODIFIED", change, later, ROOT)
    left = world.event("DELETED", change, later, ROOT)

    assert stored.decode(entered.body)["spec"] == {"new": "after"}
    assert stored.decode(left.body)["spec"] == {"new": "before"}
    assert stored.decode(left.body)["metadata"]["resourceVersion"] == "6"


def test_an_event_is_encoded_once_for_all_watchers_of_a_kind_and_its_line_holds_its_body(world: World):
    new = record(WIDGETS, 6)
    change = Change(new.key, 6, new.value, None)

    first, second = world.event("ADDED", change, WIDGETS, ROOT), world.event("ADDED", change, WIDGETS, Scope("*"))

    assert first is second
    assert first.line == b'{"type":"ADDED","object":' + first.body + b"}\n"
    assert first.body == world.injected(new, WIDGETS, ROOT)


def test_retiring_a_kind_ends_its_watches_once_and_no_others(world: World):
    ended: list[str] = []
    ends = {name: lambda name=name: ended.append(name) for name in ("one", "two", "left", "other")}
    for name in ("one", "two", "left"):
        world.watching(WIDGETS, ends[name])
    world.watching(CONFIGMAPS, ends["other"])
    world.not_watching(WIDGETS, ends["left"])

    world.retire(WIDGETS)
    world.retire(WIDGETS)

    assert ended == ["one", "two"]


def test_kinds_that_only_look_alike_are_different_kinds(world: World):
    ended: list[str] = []
    world.watching(kind("", "v1", "things", "Thing"), lambda: ended.append("old"))

    world.retire(kind("", "v1", "things", "Thing"))

    assert ended == []


def test_what_is_kept_for_others_is_bounded_in_bytes():
    recent: Recent[int, str] = Recent(100)

    for n in range(10):
        recent.put(n, str(n), 30)
    recent.put(8, "again", 10)
    recent.put(99, "too big", 101)

    assert [recent.get(n) for n in (6, 7, 8, 9, 99)] == [None, "7", "again", "9", None]
