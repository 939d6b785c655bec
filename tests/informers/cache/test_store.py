"""Promises of the store: one step each, objects and indexes always together."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api.errors import ConfigurationError, Undeclared
from informers.api.objects import Key, Object
from informers.cache.index import IndexerFailed
from informers.cache.indexers import by_label, by_namespace
from informers.cache.notices import Evidence, Notice
from informers.cache.replacement import Changes
from informers.cache.store import Store
from tests.informers.cache.making import key, widget


def by_tags(obj: Object[Any]) -> list[str]:
    """Index by a list in the spec; raises where it is no list."""
    tags = obj.at("spec", "tags", default=[])
    if not isinstance(tags, list):
        raise ValueError("tags must be a list")
    return tags


INDEXERS: dict[str, Callable[[Object[Any]], Any]] = {"namespace": by_namespace, "app": by_label("app"), "tags": by_tags}


@pytest.fixture
def store() -> Store[Any]:
    return Store(INDEXERS)


def raw(obj: Object[Any] | None) -> bytes | None:
    return obj.raw if obj else None


def notices(changes: Changes[Any]) -> list[Notice[Any]]:
    return [notice for notice in changes if notice is not None]


def contents(store: Store[Any]) -> dict[Key, bytes]:
    return {obj.key: obj.raw for obj in store}


names = st.sampled_from("abcdef")
widgets = st.builds(
    widget,
    names,
    namespace=st.sampled_from(["", "n1", "n2"]),
    cluster=st.sampled_from(["", "root"]),
    shard=st.sampled_from(["", "amber"]),
    rv=st.integers(1, 9),
    labels=st.sampled_from([None, {"app": "x"}, {"app": "y"}]),
    spec=st.fixed_dictionaries({"tags": st.lists(st.sampled_from("pqr"), max_size=3)}),
)
puts = st.tuples(st.just("put"), widgets)
drops = st.tuples(st.just("drop"), widgets)
replaces = st.tuples(st.just("replace"), st.lists(widgets, max_size=8))
late_indexes = st.tuples(st.just("index"), st.sampled_from(["late", "later"]))


@given(st.lists(st.one_of(puts, puts, drops, replaces, late_indexes), max_size=40), st.integers(0, 3))
def test_a_store_is_a_dict_with_indexes_that_always_agree_with_it(steps: list[Any], indexed_at_once: int) -> None:
    """Whatever the order of puts, drops, replaces and late indexes, unfinished ones among them."""
    store: Store[Any] = Store(INDEXERS)
    model: dict[Key, Object[Any]] = {}
    for verb, what in steps:
        match verb:
            case "put":
                assert raw(store.put(what)) == raw(model.get(what.key))
                model[what.key] = what
            case "drop":
                assert raw(store.drop(what.key)) == raw(model.pop(what.key, None))
            case "replace":
                replacement = store.prepare(unbroken=False)
                for obj in what:
                    replacement.put(obj)
                store.swap(replacement, "9")
                model = {obj.key: obj for obj in what}
            case "index":
                store.add_indexer(what, by_tags)
        for _ in zip(range(indexed_at_once), store.finish_indexes(), strict=False):
            pass
        assert contents(store) == {obj.key: obj.raw for obj in model.values()}
        assert store.bytes == sum(len(obj.raw) for obj in model.values())
        for name, indexer in store.indexers.items():
            for value in ("", "n1", "n2", "x", "y", "p", "q", "r"):
                found = {obj.key for obj in store.by_index(name, value)}
                assert found == {obj.key for obj in model.values() if value in indexer(obj)}
        for obj in model.values():
            assert store.get(obj.key) is not None
            same_place = {
                k for k in model if (k.cluster, k.namespace, k.name) == (obj.cluster, obj.namespace, obj.name)
            }
            assert {o.key for o in store.find(obj.name, obj.namespace, cluster=obj.cluster)} == same_place


@given(st.lists(widgets), st.lists(widgets))
def test_the_changes_of_a_replace_lead_from_the_old_content_to_the_new_one(
    before: list[Object[Any]], after: list[Object[Any]]
) -> None:
    store: Store[Any] = Store(INDEXERS)
    for obj in before:
        store.put(obj)
    view = {obj.key: obj for obj in store}

    replacement = store.prepare(unbroken=False)
    for obj in after:
        replacement.put(obj)
    for notice in notices(store.swap(replacement, "9")):
        assert raw(notice.old) == raw(view.get(notice.key))
        if notice.new is None:
            assert notice.evidence is Evidence.ABSENT_IN_NEW_HISTORY
            del view[notice.key]
        else:
            assert notice.old is None or notice.old.raw != notice.new.raw
            view[notice.key] = notice.new

    assert view == {obj.key: obj for obj in store}


def test_an_object_that_an_indexer_raises_for_stays_as_it_was(store: Store[Any]) -> None:
    """It is not half-indexed: neither the object nor any index has moved."""
    good = widget("a", rv=1, labels={"app": "x"}, spec={"tags": ["p"]})
    store.put(good)

    with pytest.raises(IndexerFailed, match="index 'tags' of a: ValueError: tags must be a list"):
        store.put(widget("a", rv=2, labels={"app": "y"}, spec={"tags": "p"}))

    assert store.get(key("a")) is good
    assert store.by_index("app", "y") == []
    assert store.by_index("app", "x") == store.by_index("tags", "p") == [good]


def test_an_object_that_an_indexer_raises_for_does_not_come_in(store: Store[Any]) -> None:
    with pytest.raises(IndexerFailed):
        store.put(widget("a", namespace="n1", spec={"tags": "p"}))

    assert len(store) == 0
    assert store.by_index("namespace", "n1") == []


def test_an_indexer_that_changes_its_mind_leaves_no_ghost_in_its_index() -> None:
    """It raises for what it once gave a value for: the object can still move, and still go."""
    moods = ["good"]

    def moody(obj: Object[Any]) -> list[str]:
        if moods[0] == "bad" and obj.rv == "1":
            raise RuntimeError("not today")
        return [obj.rv]

    store: Store[Any] = Store({"moody": moody})
    store.put(widget("a", rv=1))
    store.put(widget("b", rv=1))
    moods[0] = "bad"

    store.put(widget("a", rv=2))
    store.drop(key("b"))

    assert store.by_index("moody", "1") == []
    assert [obj.name for obj in store.by_index("moody", "2")] == ["a"]


def test_readers_see_the_old_content_until_the_swap(store: Store[Any]) -> None:
    store.put(widget("old", labels={"app": "x"}))
    replacement = store.prepare()
    replacement.put(widget("new", labels={"app": "x"}))

    assert [obj.name for obj in store.by_index("app", "x")] == ["old"]

    store.swap(replacement, "7")

    assert [obj.name for obj in store.by_index("app", "x")] == ["new"]
    assert store.revision == "7"


def test_an_unchanged_object_stays_the_very_same_and_is_no_change(store: Store[Any]) -> None:
    """Lists leave out kind and apiVersion that watch events have: the same uid and revision are the same object."""
    kept = widget("a", rv=5)
    store.put(kept)
    replacement = store.prepare(unbroken=True)
    replacement.put(widget("a", rv=5, spec={"printed": "otherwise"}))
    changes = store.swap(replacement, "7")

    assert store.get(key("a")) is kept
    assert notices(changes) == []


def test_after_lost_history_equal_revisions_do_not_mean_equal_objects(store: Store[Any]) -> None:
    """A server restored from a backup counts up to the same revision again, with other content."""
    store.put(widget("a", rv=5, spec={"size": 1}))
    replacement = store.prepare(unbroken=False)
    replacement.put(widget("a", rv=5, spec={"size": 2}))
    changes = store.swap(replacement, "5")

    assert [notice.key.name for notice in notices(changes)] == ["a"]
    found = store.get(key("a"))
    assert found is not None
    assert found.at("spec", "size") == 2


def test_what_is_kept_in_a_replace_is_neither_changed_nor_absent(store: Store[Any]) -> None:
    last_good = widget("a", rv=5)
    store.put(last_good)
    replacement = store.prepare()
    replacement.keep(key("a"))
    replacement.keep(key("never seen"))
    changes = store.swap(replacement, "7")

    assert list(store) == [last_good]
    assert notices(changes) == []


def test_what_went_by_an_event_during_a_replace_went_on_evidence(store: Store[Any]) -> None:
    store.put(widget("known", rv=1))
    replacement = store.prepare()
    replacement.put(widget("short-lived", rv=2))
    replacement.drop(key("short-lived"), widget("short-lived", rv=3))
    replacement.drop(key("known"), None)
    replacement.put(widget("back", rv=4))
    replacement.drop(key("back"), None)
    replacement.put(widget("back", rv=6))
    changes = store.swap(replacement, "7")

    told = {notice.key.name: notice for notice in notices(changes)}
    assert told["known"].evidence is told["short-lived"].evidence is Evidence.DELETED_EVENT
    assert told["known"].old is not None
    assert told["short-lived"].old is not None
    assert told["short-lived"].old.rv == "3"
    assert told["back"].evidence is Evidence.NONE


def test_deletions_of_a_replace_come_first_then_the_order_of_the_server(store: Store[Any]) -> None:
    for name in ("gone-1", "z", "gone-2"):
        store.put(widget(name, rv=1))
    replacement = store.prepare()
    for name in ("z", "m", "a"):
        replacement.put(widget(name, rv=2))
    changes = store.swap(replacement, "7")

    order = [notice.key.name for notice in notices(changes)]
    assert order == ["gone-1", "gone-2", "z", "m", "a"]


def test_a_replace_that_changes_nothing_offers_turns_all_the_same(store: Store[Any]) -> None:
    """Looking through thousands of objects must not hold the loop; and the old content is let go on the way."""
    replacement = store.prepare()
    for number in range(2000):
        obj = widget(f"w-{number}")
        store.put(obj)
        replacement.put(obj)

    changes = list(store.swap(replacement, "7"))

    assert set(changes) == {None}
    assert len(changes) > 2 * 2000 / 256
    assert replacement.old.objects == {}


def test_a_late_index_answers_at_once_and_once_finished_from_its_own(store: Store[Any]) -> None:
    for number in range(10):
        store.put(widget(f"w{number}", spec={"tags": ["odd" if number % 2 else "even"]}))

    store.add_indexer("late", by_tags)
    at_once = store.by_index("late", "odd")
    failures = list(store.finish_indexes())

    assert len(at_once) == 5
    assert {obj.key for obj in store.by_index("late", "odd")} == {obj.key for obj in at_once}
    assert failures == [None] * 10
    assert store.index_sizes()["late"] == 2


def test_a_late_index_leaves_out_what_it_raises_for_and_says_so() -> None:
    store: Store[Any] = Store()
    store.put(widget("bad", spec={"tags": "text"}))
    store.put(widget("good", spec={"tags": ["x"]}))
    store.add_indexer("late", by_tags)

    assert [obj.name for obj in store.by_index("late", "x")] == ["good"]
    [failure] = [failure for failure in store.finish_indexes() if failure is not None]

    assert failure.key == key("bad")
    assert [obj.name for obj in store.by_index("late", "x")] == ["good"]
    assert key("bad") in store


def test_an_index_added_during_a_replace_covers_the_new_content(store: Store[Any]) -> None:
    store.put(widget("old", spec={"tags": ["x"]}))
    replacement = store.prepare()
    replacement.put(widget("new", spec={"tags": ["x"]}))
    store.add_indexer("late", by_tags)
    next(store.finish_indexes())
    store.swap(replacement, "7")

    assert [obj.name for obj in store.by_index("late", "x")] == ["new"]
    assert list(store.finish_indexes()) == [None]
    assert [obj.name for obj in store.by_index("late", "x")] == ["new"]


def test_two_may_declare_the_same_index_but_not_two_under_one_name(store: Store[Any]) -> None:
    store.add_indexer("namespace", by_namespace)

    with pytest.raises(ConfigurationError, match="'namespace' taken by another function; choose another name"):
        store.add_indexer("namespace", by_tags)


def test_an_unknown_index_is_refused_with_the_names_there_are(store: Store[Any]) -> None:
    with pytest.raises(Undeclared, match="found 'nmespace'; declared are: 'namespace', 'app', 'tags'"):
        store.by_index("nmespace", "x")


def test_twins_on_two_shards_are_two_objects(store: Store[Any]) -> None:
    """Two shards may hold the same cluster and name; none overwrites the other."""
    store.put(widget("twin", cluster="root", shard="amber"))
    store.put(widget("twin", cluster="root", shard="beryl"))

    assert len(store) == 2
    assert {obj.key.shard for obj in store.find("twin", cluster="root")} == {"amber", "beryl"}
    store.drop(key("twin", cluster="root", shard="amber"))
    assert [obj.key.shard for obj in store.find("twin")] == ["beryl"]
