"""The world of one reconcile: scoped reads, noted writes, and only what was declared."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from informers.api.errors import ConfigurationError, Undeclared
from informers.cache.listers import Lister
from informers.cache.store import Store
from informers.client.addresses import Place, Scope
from informers.client.records import Write
from informers.clock import VirtualClock
from informers.runtime.cluster import Cluster, World, declared
from tests.informers.runtime.memory import MemoryServer
from tests.informers.runtime.objects import MEMBERS, TEAMS, made


def teams(*clusters: str, shard: str = "") -> Lister[Any]:
    store: Store[Any] = Store()
    for cluster in clusters:
        store.put(made(metadata={"annotations": {"kcp.io/cluster": cluster, "kcp.io/shard": shard}}))
    return Lister(store, TEAMS, has_synced=lambda: True)


@pytest.fixture
def world(memory: MemoryServer, clock: VirtualClock) -> World:
    servers = {
        "main": memory.server("main", scope=Scope.ALL),
        "cache": memory.server("cache", scope=Scope.CACHE),
        "plain": memory.server("plain"),
    }
    listers = {
        declared("main", TEAMS): teams("a", "b"),
        declared("cache", TEAMS): teams("a", "c", shard="s"),
        declared("plain", TEAMS): teams(""),
    }
    return World("team", "main", servers, listers, clock)


def names(lister: Any) -> list[str]:
    return sorted(obj.cluster for obj in lister.list())


def test_reads_are_scoped_to_the_cluster_and_can_be_widened(world: World) -> None:
    cluster = Cluster("a", world)

    assert names(cluster.lister(TEAMS)) == ["a"]
    assert names(cluster.lister(TEAMS).cluster("*")) == ["a", "b"]
    assert names(cluster.lister(TEAMS, server="cache")) == ["a"]
    assert names(cluster.lister(TEAMS, server="plain")) == [""], "a server without clusters is seen whole"


def test_a_pair_reads_its_own_server_first_and_follows_exchanges(world: World) -> None:
    assert Cluster("b", world).pair(TEAMS).get("blue", "default").key.shard == ""
    assert Cluster("c", world).pair(TEAMS).get("blue", "default").key.shard == "s"

    world.pair(TEAMS, "cache").swap(local=teams("c"), cache=None)

    assert Cluster("c", world).pair(TEAMS).get("blue", "default").key.shard == ""


def test_reading_what_was_not_declared_says_how_to_declare_it(world: World) -> None:
    cluster = Cluster("a", world)

    with pytest.raises(Undeclared, match=r"controller 'team'.*members.example.com.*reads=\[Read\(MEMBERS\)\]"):
        cluster.lister(MEMBERS)
    with pytest.raises(Undeclared, match=r"reads=\[Read\(MEMBERS, server='cache'\)\]"):
        cluster.lister(MEMBERS, server="cache")
    with pytest.raises(ConfigurationError, match="expected a server of 'main', 'cache', 'plain', found 'other'"):
        cluster.lister(TEAMS, server="other")


class Squad(msgspec.Struct):
    """Another model of a team."""


def test_a_collection_read_by_two_models_has_a_lister_for_each(world: World) -> None:
    squads = msgspec.structs.replace(TEAMS, model=Squad)
    with pytest.raises(Undeclared, match=r"expected teams\.example\.com as Squad to be declared"):
        Cluster("a", world).lister(squads)
    lister = teams("a")
    both = replace(world, listers={**world.listers, declared("main", squads): lister})

    assert both.lister(squads, "") is lister
    assert both.lister(TEAMS, "") is world.lister(TEAMS, "")


def test_clients_are_scoped_where_the_server_has_clusters(world: World) -> None:
    cluster = Cluster("a", world)

    assert cluster.client.place == Place("a")
    assert cluster.client_of("cache").shard("s").place == Place("a", "s")
    assert cluster.client_of("plain").place == Place()


async def test_writes_through_any_of_its_clients_are_noted(world: World, memory: MemoryServer) -> None:
    memory.put("blue", cluster="a")
    memory.put("blue")
    writes: list[Write] = []
    cluster = Cluster("a", world, writes.append)

    await cluster.client.patch(TEAMS, "blue", {"spec": {}}, namespace="default")
    await cluster.client_of("plain").cluster("").patch(TEAMS, "blue", {"spec": {}}, namespace="default")

    assert [write.key.cluster for write in writes] == ["a", ""]


def test_time_comes_from_the_clock(world: World, clock: VirtualClock) -> None:
    assert Cluster("a", world).now() == clock.now()
