"""Promises of listers and of the pair."""

from typing import Any

import pytest

from informers.api.errors import Ambiguous, Incomplete, NotFound, NotSynced, Undeclared
from informers.api.objects import Object
from informers.api.selectors import LabelSelector
from informers.cache.indexers import CLUSTER, NAMESPACE, OWNER_UID, by_cluster, by_label, by_namespace, by_owner_uid
from informers.cache.listers import Lister
from informers.cache.pair import ListerPair
from informers.cache.store import Store
from tests.informers.cache.making import WIDGETS, widget


class Fixture:
    """A lister with its store, and a switch for whether it has synced."""

    def __init__(self, *objects: Object[Any], synced: bool = True, indexed: bool = True) -> None:
        indexers = {NAMESPACE: by_namespace, CLUSTER: by_cluster, OWNER_UID: by_owner_uid, "app": by_label("app")}
        self.store: Store[Any] = Store(indexers if indexed else {})
        for obj in objects:
            self.store.put(obj)
        self.synced = synced
        self.lister: Lister[Any] = Lister(self.store, WIDGETS, has_synced=lambda: self.synced)


def names(objects: list[Object[Any]]) -> list[str]:
    return sorted(f"{obj.cluster}|{obj.namespace}/{obj.name}" for obj in objects)


@pytest.fixture(params=[True, False], ids=["with indexes", "without"])
def world(request: pytest.FixtureRequest) -> Fixture:
    return Fixture(
        widget("a", namespace="n1", cluster="c1", labels={"app": "web"}),
        widget("a", namespace="n2", cluster="c1", labels={"app": "db"}),
        widget("b", namespace="n1", cluster="c2", labels={"app": "web"}, owners=["owner"]),
        widget("b", namespace="n1", cluster="c3", owners=["owner"]),
        indexed=request.param,
    )


def test_get_finds_one_object_in_the_scope(world: Fixture) -> None:
    assert world.lister.cluster("c1").get("a", "n1").labels["app"] == "web"
    assert world.lister.get("a", "n2").cluster == "c1"


def test_a_missing_object_is_not_found_in_the_servers_words(world: Fixture) -> None:
    with pytest.raises(NotFound, match=r'widgets\.example\.com "b" not found') as caught:
        world.lister.cluster("c1").get("b", "n1")

    assert caught.value.reason == "NotFound"
    assert caught.value.status.code == 404
    assert world.lister.cluster("c1").find("b", "n1") is None


def test_several_objects_of_one_name_are_ambiguous(world: Fixture) -> None:
    with pytest.raises(Ambiguous, match=r"c2\|n1/b, c3\|n1/b"):
        world.lister.find("b", "n1")


def test_a_shard_tells_twins_apart() -> None:
    lister = Fixture(widget("t", cluster="root", shard="amber"), widget("t", cluster="root", shard="beryl")).lister

    with pytest.raises(Ambiguous):
        lister.cluster("root").get("t")
    assert lister.cluster("root").shard("beryl").get("t").key.shard == "beryl"
    assert len(lister.shard("amber").list()) == 1


def test_lists_keep_to_their_cluster_and_namespace(world: Fixture) -> None:
    lister = world.lister

    assert names(lister.list()) == ["c1|n1/a", "c1|n2/a", "c2|n1/b", "c3|n1/b"]
    assert names(lister.list(namespace="n1")) == ["c1|n1/a", "c2|n1/b", "c3|n1/b"]
    assert names(lister.cluster("c1").list()) == ["c1|n1/a", "c1|n2/a"]
    assert names(lister.cluster("c1").list(namespace="n2")) == ["c1|n2/a"]
    assert lister.cluster("nowhere").list() == []


def test_lists_select_by_labels(world: Fixture) -> None:
    assert names(world.lister.list("app in (web)")) == ["c1|n1/a", "c2|n1/b"]
    assert names(world.lister.list("!app")) == ["c3|n1/b"]
    assert names(world.lister.list(LabelSelector.parse("!app"))) == ["c3|n1/b"]


def test_owned_objects_are_those_in_the_owners_cluster(world: Fixture) -> None:
    owner = widget("owner", cluster="c2", uid="owner")

    assert names(world.lister.owned_by(owner)) == ["c2|n1/b"]


def test_an_index_keeps_to_the_scope() -> None:
    lister = Fixture(
        widget("a", cluster="c1", labels={"app": "x"}), widget("b", cluster="c2", labels={"app": "x"})
    ).lister

    assert len(lister.by_index("app", "x")) == 2
    assert names(lister.cluster("c2").by_index("app", "x")) == ["c2|/b"]
    with pytest.raises(Undeclared):
        lister.by_index("other", "x")


def test_before_the_first_sync_no_read_takes_ignorance_for_absence() -> None:
    lister = Fixture(synced=False).lister

    for read in (
        lambda: lister.get("a"),
        lambda: lister.find("a"),
        lister.list,
        lambda: lister.by_index("app", "x"),
        lambda: lister.owned_by(widget("o")),
    ):
        with pytest.raises(NotSynced, match="await wait_synced"):
            read()
    with pytest.raises(Incomplete, match="no list finished yet"):
        lister.complete()


def test_a_complete_view_exists_once_synced(world: Fixture) -> None:
    assert len(world.lister.complete()) == 4
    assert len(world.lister.cluster("c1").complete()) == 2


# The pair


def pair_of(local: Fixture | None, cache: Fixture | None) -> ListerPair[Any]:
    return ListerPair(local and local.lister, cache and cache.lister)


def test_the_local_half_hides_the_cache_half() -> None:
    pair = pair_of(Fixture(widget("a", rv=1)), Fixture(widget("a", rv=2), widget("b", rv=2)))

    assert pair.get("a").rv == "1"
    assert pair.get("b").rv == "2"
    with pytest.raises(NotFound):
        pair.get("c")
    assert pair.find("c") is None


def test_an_index_is_read_from_the_cache_only_where_the_local_one_is_empty() -> None:
    """Never a union: one local hit hides all hits of the cache."""
    local = Fixture(widget("a", labels={"app": "x"}))
    cache = Fixture(widget("b", labels={"app": "x"}), widget("c", labels={"app": "y"}))
    pair = pair_of(local, cache)

    assert names(pair.by_index("app", "x")) == ["|/a"]
    assert names(pair.by_index("app", "y")) == ["|/c"]
    assert pair.by_index("app", "z") == []


def test_only_not_found_leads_to_the_cache() -> None:
    """A local half that knows nothing yet, or too much, must not make the cache answer in its place."""
    ignorant = pair_of(Fixture(synced=False), Fixture(widget("a")))
    torn = pair_of(Fixture(widget("a", shard="x"), widget("a", shard="y")), Fixture(widget("a")))

    with pytest.raises(NotSynced):
        ignorant.get("a")
    with pytest.raises(NotSynced):
        ignorant.by_index("app", "x")
    with pytest.raises(Ambiguous):
        torn.get("a")


def test_an_error_of_the_cache_goes_up_too() -> None:
    pair = pair_of(Fixture(widget("a")), Fixture(synced=False))

    assert pair.get("a").name == "a"
    with pytest.raises(NotSynced):
        pair.get("b")
    with pytest.raises(NotSynced):
        pair.by_index("app", "x")


def test_the_complete_view_comes_only_from_a_synced_cache_half() -> None:
    local = Fixture(widget("a"))

    with pytest.raises(Incomplete, match="no cache server connected"):
        pair_of(local, None).complete()
    with pytest.raises(Incomplete, match="no list finished yet"):
        pair_of(local, Fixture(synced=False)).complete()
    assert names(pair_of(local, Fixture(widget("b"))).complete()) == ["|/b"]


def test_a_pair_without_halves_knows_nothing() -> None:
    with pytest.raises(NotSynced, match="neither connected"):
        pair_of(None, None).get("a")


def test_one_half_alone_answers() -> None:
    assert pair_of(None, Fixture(widget("a"))).get("a").name == "a"
    with pytest.raises(NotFound):
        pair_of(Fixture(widget("a")), None).get("b")
    assert pair_of(Fixture(), None).list() == []


def test_an_exchange_reaches_views_that_were_handed_out_before() -> None:
    pair = pair_of(Fixture(widget("a", cluster="c1", rv=1)), None)
    view = pair.cluster("c1")
    assert view.get("a").rv == "1"

    pair.swap(local=None, cache=Fixture(widget("a", cluster="c1", rv=2), widget("a", cluster="c2", rv=3)).lister)

    assert view.get("a").rv == "2"
    assert view.local is None
    assert names(view.complete()) == ["c1|/a"]


def test_a_pair_has_synced_when_all_its_halves_have() -> None:
    assert not pair_of(None, None).synced
    assert pair_of(Fixture(), None).synced
    assert not pair_of(Fixture(), Fixture(synced=False)).synced
