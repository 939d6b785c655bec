"""Shards and exports stay known until there is evidence that they went."""

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from controllers.kinds import EXPORTS, SHARDS
from controllers.sightings import ExportMemory, ShardMemory
from informers.api.decoding import Reader
from informers.api.objects import Key, Object
from informers.cache.notices import Evidence, Notice
from informers.clock import VirtualClock

NOON = datetime(2026, 1, 1, tzinfo=UTC)


def shard(
    name: str, url: str = "", *, home: str = "", labels: dict[str, str] | None = None, spec: Any = None
) -> Object[Any]:
    body = {
        "apiVersion": "core.kcp.io/v1alpha1",
        "kind": "Shard",
        "metadata": {
            "name": name,
            "labels": labels or {},
            "annotations": {"kcp.io/cluster": "root"} | ({"kcp.io/shard": home} if home else {}),
        },
        "spec": spec or {"baseURL": "https://b", "virtualWorkspaceURL": url or f"https://{name}"},
    }
    return Reader(SHARDS).object(json.dumps(body).encode())


def export(name: str, cluster: str, path: str = "") -> Object[Any]:
    notes = {"kcp.io/cluster": cluster} | ({"kcp.io/path": path} if path else {})
    return Reader(EXPORTS).object(json.dumps({"metadata": {"name": name, "annotations": notes}}).encode())


def put(obj: Object[Any]) -> Notice[Any]:
    return Notice(None, obj, obj.key)


def gone(obj: Object[Any], evidence: Evidence) -> Notice[Any]:
    return Notice(obj, None, obj.key, evidence=evidence)


class Feed:
    """Says whether everything was told."""

    synced = False


def known(memory: ShardMemory) -> dict[str, tuple[str, bool]]:
    return {s.name: (s.url, s.held_since is not None) for s in memory.shards().seen}


def test_a_deleted_event_makes_a_shard_go_and_retires_its_url() -> None:
    memory = ShardMemory(VirtualClock())
    see = memory.handler("cache")
    see(put(shard("amber")))

    see(gone(shard("amber"), Evidence.DELETED_EVENT))

    assert known(memory) == {}
    assert memory.shards().retired == {"https://amber"}


def test_absence_from_a_list_holds_a_shard_from_that_moment() -> None:
    memory = ShardMemory(VirtualClock(NOON))
    see = memory.handler("cache")
    see(put(shard("amber")))

    see(gone(shard("amber"), Evidence.ABSENT_FROM_LIST))

    assert [(s.name, s.held_since) for s in memory.shards().seen] == [("amber", NOON)]
    assert memory.shards().retired == frozenset()


def test_a_held_shard_that_is_seen_again_is_there_again() -> None:
    memory = ShardMemory(VirtualClock())
    see = memory.handler("cache")
    for notice in (put(shard("amber")), gone(shard("amber"), Evidence.ABSENT_FROM_LIST), put(shard("amber"))):
        see(notice)

    assert known(memory) == {"amber": ("https://amber", False)}


def test_a_changed_url_retires_the_old_one_unless_the_new_one_is_unusable() -> None:
    memory = ShardMemory(VirtualClock())
    see = memory.handler("cache")
    see(put(shard("amber", "https://old")))
    see(put(shard("amber", "https://new")))
    assert memory.shards().retired == {"https://old"}

    see(put(shard("amber", "10.0.0.1:6443")))
    assert memory.shards().retired == {"https://old"}


def test_a_url_that_another_shard_bears_is_not_retired() -> None:
    memory = ShardMemory(VirtualClock())
    see = memory.handler("cache")
    see(put(shard("amber", "https://one")))
    see(put(shard("beryl", "https://one")))

    see(gone(shard("amber", "https://one"), Evidence.DELETED_EVENT))

    assert memory.shards().retired == frozenset()


def test_a_malformed_shard_stays_as_it_was_and_is_reported() -> None:
    memory = ShardMemory(VirtualClock())
    see = memory.handler("cache")
    see(put(shard("amber")))

    see(put(shard("amber", spec="text")))

    assert known(memory) == {"amber": ("https://amber", False)}
    assert [(m.source, m.key.name) for m in memory.malformed] == [("cache", "amber")]

    see(put(shard("amber", "https://new")))
    assert known(memory) == {"amber": ("https://new", False)}
    assert memory.malformed == []


def test_twins_count_once_and_the_one_at_home_is_preferred() -> None:
    memory = ShardMemory(VirtualClock())
    memory.handler("cache")(put(shard("amber", "https://mirror", home="root")))
    memory.handler("cache")(put(shard("amber", "https://home", home="amber")))

    assert known(memory) == {"amber": ("https://home", False)}

    memory.handler("cache")(gone(shard("amber", "https://home", home="amber"), Evidence.DELETED_EVENT))
    assert known(memory) == {"amber": ("https://mirror", False)}


def test_a_shard_that_one_source_still_shows_is_there() -> None:
    memory = ShardMemory(VirtualClock())
    memory.handler("local")(put(shard("amber")))
    memory.handler("cache")(put(shard("amber", home="amber")))

    memory.handler("cache")(gone(shard("amber", home="amber"), Evidence.ABSENT_FROM_LIST))

    assert known(memory) == {"amber": ("https://amber", False)}


def test_the_answer_is_the_same_value_until_something_changes() -> None:
    memory = ShardMemory(VirtualClock())
    memory.handler("local")(put(shard("amber")))

    assert memory.shards() is memory.shards()
    before = memory.shards()
    memory.handler("local")(put(shard("beryl")))
    assert memory.shards() is not before


steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "deleted", "absent"]),
        st.sampled_from(["amber", "beryl"]),
        st.sampled_from(["https://1", "https://2"]),
        st.sampled_from(["local", "cache"]),
    ),
    max_size=12,
)


@given(steps)
def test_a_shard_goes_only_by_deleted_events_of_all_its_sightings(taken: list[tuple[str, str, str, str]]) -> None:
    memory = ShardMemory(VirtualClock())
    there: set[tuple[str, Key]] = set()
    for what, name, url, source in taken:
        obj = shard(name, url)
        if what == "put":
            memory.handler(source)(put(obj))
            there.add((source, obj.key))
        elif what == "absent":
            memory.handler(source)(gone(obj, Evidence.ABSENT_FROM_LIST))
        else:
            memory.handler(source)(gone(obj, Evidence.DELETED_EVENT))
            there.discard((source, obj.key))

    assert set(known(memory)) == {key.name for _, key in there}
    borne = {url for url, _ in known(memory).values()}
    assert not borne & memory.shards().retired


def test_an_export_is_found_by_cluster_name_and_by_path_while_held() -> None:
    memory = ExportMemory(VirtualClock())
    see = memory.handler("cache")
    see(put(export("e", "c1", "root:org")))
    there = memory.seen("root:org", "e")
    assert there is not None
    assert there.held_since is None

    see(gone(export("e", "c1", "root:org"), Evidence.ABSENT_FROM_LIST))

    for reference in ("c1", "root:org"):
        found = memory.seen(reference, "e")
        assert found is not None
        assert found.what.cluster == "c1"
        assert found.held_since is not None
    assert not memory.evidently_gone("c1", "e")


def test_an_export_deleted_before_our_eyes_is_evidently_gone_until_it_is_back() -> None:
    memory = ExportMemory(VirtualClock())
    see = memory.handler("cache")
    see(put(export("e", "c1", "root:org")))
    see(gone(export("e", "c1", "root:org"), Evidence.DELETED_EVENT))

    assert memory.evidently_gone("root:org", "e")
    assert not memory.evidently_gone("root:org", "other")

    see(put(export("e", "c2", "root:org")))
    assert not memory.evidently_gone("root:org", "e")
    assert memory.evidently_gone("c1", "e")


def test_knowledge_is_complete_once_everything_was_told_not_once_it_is_stored() -> None:
    feed, clock = Feed(), VirtualClock(NOON)
    memory = ShardMemory(clock)
    memory.fed_by(feed)
    memory.handler("cache")(put(shard("amber")))
    assert not memory.complete
    assert memory.shards().since is None

    feed.synced = True

    assert memory.complete
    assert memory.shards().since == NOON


def test_of_what_is_at_home_the_copies_say_nothing() -> None:
    memory = ShardMemory(VirtualClock(), home="root")
    memory.handler("local")(put(shard("other")))
    memory.handler("cache")(put(shard("other", home="root")))
    memory.handler("cache")(gone(shard("other", home="root"), Evidence.ABSENT_FROM_LIST))

    memory.handler("local")(gone(shard("other"), Evidence.DELETED_EVENT))

    assert known(memory) == {}


def test_the_copy_of_the_own_shard_bridges_the_moment_until_it_is_made_anew() -> None:
    memory = ShardMemory(VirtualClock(), home="root")
    memory.handler("local")(put(shard("root")))
    memory.handler("cache")(put(shard("root", home="root")))

    memory.handler("local")(gone(shard("root"), Evidence.DELETED_EVENT))

    assert known(memory) == {"root": ("https://root", False)}


def test_the_own_shard_is_what_it_says_here_whatever_its_copy_still_says() -> None:
    memory = ShardMemory(VirtualClock(), home="amber")
    memory.handler("cache")(put(shard("amber", "https://old", home="amber")))

    memory.handler("local")(put(shard("amber", "https://new", labels={"region": "eu"})))

    [seen] = memory.shards().seen
    assert (seen.url, seen.labels) == ("https://new", {"region": "eu"})


def test_another_shards_own_word_goes_before_what_is_stored_of_it_here() -> None:
    memory = ShardMemory(VirtualClock(), home="root")
    memory.handler("local")(put(shard("amber", "https://mirror")))
    memory.handler("cache")(put(shard("amber", "https://home", home="amber")))

    assert known(memory) == {"amber": ("https://home", False)}


def test_the_local_shard_alone_is_what_the_local_server_has_now() -> None:
    memory = ShardMemory(VirtualClock(), home="amber")
    memory.handler("cache")(put(shard("amber", "https://copy", home="amber")))
    memory.handler("local")(put(shard("beryl")))
    assert memory.only("amber").seen == ()

    memory.handler("local")(put(shard("amber", "https://here")))
    assert [one.url for one in memory.only("amber").seen] == ["https://here"]

    memory.handler("local")(gone(shard("amber", "https://here"), Evidence.ABSENT_FROM_LIST))
    assert memory.only("amber").seen == ()


async def test_all_is_known_since_it_was_first() -> None:
    clock = VirtualClock(NOON)
    memory = ShardMemory(clock)
    feed = Feed()
    memory.fed_by(feed)
    assert memory.shards().since is None

    feed.synced = True
    assert memory.shards().since == NOON
    await clock.advance(60)
    memory.handler("cache")(put(shard("amber")))
    assert memory.shards().since == NOON


def test_an_export_deleted_at_home_is_gone_whatever_became_of_its_copy() -> None:
    memory = ExportMemory(VirtualClock(), home="amber")
    copy = Reader(EXPORTS).object(
        b'{"metadata": {"name": "e", "annotations": {"kcp.io/cluster": "c1", "kcp.io/shard": "amber"}}}'
    )
    memory.handler("local")(put(export("e", "c1")))
    memory.handler("cache")(put(copy))
    memory.handler("cache")(gone(copy, Evidence.ABSENT_FROM_LIST))

    memory.handler("local")(gone(export("e", "c1"), Evidence.DELETED_EVENT))

    assert memory.seen("c1", "e") is None
    assert memory.evidently_gone("c1", "e")
