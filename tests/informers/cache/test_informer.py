"""Promises of informers to their handlers, slow consumers and indexes."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api.errors import ConfigurationError
from informers.api.objects import Object
from informers.api.resources import Collection, Resource
from informers.cache.backlog import merge
from informers.cache.indexers import by_cluster, by_label, by_namespace
from informers.cache.informer import SharedInformer
from informers.cache.notices import Evidence, Notice
from informers.cache.policy import Policy
from informers.cache.pool import InformerPool
from informers.clock import VirtualClock
from informers.tasks import background
from tests.informers.cache.making import WIDGETS, key, widget
from tests.informers.cache.rig import Rig
from tests.informers.cache.scripted import Server


@pytest.fixture
def server() -> Server:
    server = Server(VirtualClock())
    for name in ("a", "b", "c"):
        server.put(name, labels={"app": "web"})
    return server


def told(notices: list[Notice[Any]]) -> list[str]:
    """Return notices in short: + for new, ~ for changed, - for gone, ! behind what is initial."""
    return [
        ("-" if n.new is None else "~" if n.old else "+") + n.key.name + ("!" if n.initial else "") for n in notices
    ]


# Handlers


async def test_the_store_is_changed_before_its_handlers_are_told(server: Server) -> None:
    rig = Rig(server, indexers={"app": by_label("app")})
    agreed: list[bool] = []

    def look(notice: Notice[Any]) -> None:
        found = rig.informer.store.get(notice.key)
        agreed.append(found is notice.new)
        indexed = rig.informer.store.by_index("app", "web")
        agreed.append((notice.new in indexed) == (notice.new is not None))

    rig.informer.add_handler(look)
    async with rig.running():
        server.put("a", labels={"app": "web"}, spec={"size": 2})
        server.delete("b")
        await rig.settle()

    assert len(agreed) == 10
    assert all(agreed)


async def test_events_of_one_chunk_are_told_in_one_step(server: Server) -> None:
    """Nobody gets a turn of the loop in between."""
    rig = Rig(server)
    turns = [0]
    seen: set[int] = set()

    async def count_turns() -> None:
        while True:
            turns[0] += 1
            await asyncio.sleep(0)

    rig.informer.add_handler(lambda notice: seen.add(turns[0]) if notice.key.name.startswith("x") else None)
    async with rig.running():
        lines = []
        for number in range(50):
            server.put(f"y-{number}")
            lines.append(server.history.pop()[1].replace(b'"y-', b'"x-'))
        for stream in server.open_streams:
            while not stream._items.empty():
                stream._items.get_nowait()
        counting = asyncio.ensure_future(count_turns())
        await asyncio.sleep(0)
        server.send(*lines)
        for _ in range(10):
            await asyncio.sleep(0)
        counting.cancel()

    assert len(seen) == 1


async def test_several_handlers_come_and_go_while_running(server: Server) -> None:
    rig = Rig(server)
    first: list[Notice[Any]] = []
    second: list[Notice[Any]] = []
    one = rig.informer.add_handler(first.append)
    async with rig.running():
        two = rig.informer.add_handler(second.append)
        await two.wait_synced()
        server.put("a")
        await rig.settle()
        one.remove()
        one.remove()
        server.put("b")
        await rig.settle()

    assert told(first) == ["+a!", "+b!", "+c!", "~a"]
    assert told(second) == ["+a!", "+b!", "+c!", "~a", "~b"]


async def test_a_handler_that_removes_itself_is_not_called_again(server: Server) -> None:
    rig = Rig(server)
    seen: list[Notice[Any]] = []

    def once(notice: Notice[Any]) -> None:
        seen.append(notice)
        registration.remove()

    registration = rig.informer.add_handler(once)
    async with rig.running():
        server.put("d")
        await rig.settle()

    assert len(seen) == 1


async def test_a_handler_that_raises_stops_nobody(server: Server) -> None:
    rig = Rig(server)
    before: list[Notice[Any]] = []
    after: list[Notice[Any]] = []
    rig.informer.add_handler(before.append)
    rig.informer.add_handler(lambda _: 1 / 0, name="broken")  # type: ignore[arg-type, return-value]
    rig.informer.add_handler(after.append)
    async with rig.running():
        server.delete("a")
        await rig.settle()
        [statistics] = [h for h in rig.informer.statistics().handlers if h.name == "broken"]

    assert told(before) == told(after) == ["+a!", "+b!", "+c!", "-a"]
    assert (statistics.failures, statistics.quarantined, statistics.synced) == (4, 2, True)


async def test_handlers_that_come_during_a_replace_start_from_the_new_content(server: Server) -> None:
    """Whoever came before gets what changed; nobody gets anything twice."""
    rig = Rig(server, Policy(slice=0.0))
    early: list[Notice[Any]] = []
    during: list[Notice[Any]] = []
    registrations = []
    rig.informer.add_handler(early.append)

    def join(notice: Notice[Any]) -> None:
        if notice.new is None and not registrations:
            registrations.append(rig.informer.add_handler(during.append))

    rig.informer.add_handler(join)
    async with rig.running():
        early.clear()
        server.cut()
        server.delete("a")
        server.delete("b")
        server.put("new")
        server.put("c")
        server.compact()
        rig.informer.force_relist()
        await rig.settle()

        assert registrations[0].synced
        assert sorted(told(early)) == ["+new", "-a", "-b", "~c"]
        assert sorted(told(during)) == ["+c!", "+new!"]


async def test_a_handler_that_catches_up_while_the_content_is_replaced_misses_nothing(server: Server) -> None:
    for number in range(30):
        server.put(f"w-{number:02}")
    rig = Rig(server, Policy(slice=0.0))
    view: dict[str, Object[Any]] = {}
    initial: list[str] = []

    def keep(notice: Notice[Any]) -> None:
        if notice.new is None:
            view.pop(notice.key.name, None)
            return
        assert notice.old is view.get(notice.key.name)
        initial.extend([notice.key.name] if notice.initial else [])
        view[notice.key.name] = notice.new

    async with rig.running():
        registration = rig.informer.add_handler(keep)
        for _ in range(10):
            await asyncio.sleep(0)
        assert 0 < registration.pending < 33
        rig.informer.force_relist()
        for number in range(30):
            server.put(f"w-{number:02}")
        server.delete("w-28")
        server.put("x")
        await rig.settle()

        assert registration.synced
        assert registration.failures == 0
        assert view == {obj.name: obj for obj in rig.informer.store}
        assert sorted([*initial, "w-28", "x"]) == sorted([*server.objects, "w-28"])


async def test_an_informer_without_objects_syncs_its_handlers_too() -> None:
    async with Rig(Server(VirtualClock())).running() as rig:
        late = rig.informer.add_handler(lambda _: None)
        await late.wait_synced()

        assert rig.registration.synced
        assert rig.informer.lister.complete() == []


# Slow consumers


async def test_a_backlog_merges_what_waits_for_a_key(server: Server) -> None:
    rig = Rig(server)
    with rig.informer.backlog() as backlog:
        async with rig.running():
            for size in range(5):
                server.put("a", spec={"size": size})
            server.put("d")
            server.delete("d")
            server.delete("b")
            await rig.settle()
            assert len(backlog) == 2
            notices = [await anext(backlog) for _ in range(2)]

    assert told(notices) == ["+a!", "+c!"]
    assert notices[0].new is not None
    assert notices[0].new.at("spec", "size") == 4


async def test_a_consumer_that_knows_an_object_is_told_of_its_deletion_and_its_return(server: Server) -> None:
    rig = Rig(server)
    with rig.informer.backlog() as backlog:
        async with rig.running():
            seen = [await anext(backlog) for _ in range(3)]
            server.delete("a")
            server.put("a", uid="another")
            server.put("a", uid="another", spec={"size": 2})
            await rig.settle()
            assert len(backlog) == 1
            seen += [await anext(backlog) for _ in range(2)]

    assert told(seen) == ["+a!", "+b!", "+c!", "-a", "+a"]
    assert seen[3].evidence is Evidence.DELETED_EVENT
    assert seen[4].new is not None
    assert seen[4].new.at("spec", "size") == 2


async def test_a_backlog_has_synced_when_its_consumer_has_dealt_with_everything_initial(server: Server) -> None:
    rig = Rig(server)
    backlog = rig.informer.backlog()
    async with rig.running():
        waiting = asyncio.ensure_future(backlog.wait_synced())
        for _ in range(3):
            await anext(backlog)
            assert not backlog.synced
        consuming = asyncio.ensure_future(anext(backlog))
        await rig.settle()

        assert backlog.synced
        assert waiting.done()
        backlog.close()
        with pytest.raises(StopAsyncIteration):
            await consuming


async def test_a_closed_backlog_hands_out_what_waits_and_ends(server: Server) -> None:
    rig = Rig(server)
    with rig.informer.backlog() as backlog:
        async with rig.running():
            pass
    server.put("d")

    assert told([notice async for notice in backlog]) == ["+a!", "+b!", "+c!"]


async def test_a_consumer_that_waits_for_nothing_else_lets_others_run(server: Server) -> None:
    rig = Rig(server, policy=Policy(slice=0))
    turns, seen = 0, list[int]()

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    with rig.informer.backlog() as backlog:
        async with rig.running():
            pass
    async with background(count()):
        async for _ in backlog:
            seen.append(turns)

    assert len(set(seen)) == 3


changes = st.lists(st.tuples(st.sampled_from(["put", "delete", "take"]), st.sampled_from("abc")), max_size=60)


@given(changes)
def test_a_consumer_of_a_backlog_ends_up_with_the_truth(steps: list[tuple[str, str]]) -> None:
    """Whenever it takes, its view is a state each object was in, in order, and nothing it knew goes missing."""
    waiting: dict[str, tuple[Notice[Any], ...]] = {}
    truth: dict[str, Object[Any]] = {}
    view: dict[str, Object[Any]] = {}
    revision = 0

    def take(name: str) -> None:
        for notice in waiting.pop(name, ()):
            if notice.new is None:
                assert notice.old is not None
                view.pop(name, None)
            else:
                assert notice.old is view.get(name)
                assert name not in view or int(view[name].rv) < int(notice.new.rv)
                view[name] = notice.new

    for verb, name in [*steps, *(("take", name) for name in "abc")]:
        revision += 1
        if verb == "take":
            take(name)
            continue
        old = truth.pop(name, None)
        if verb == "put":
            truth[name] = widget(name, rv=revision)
            notice = Notice(old, truth[name], key(name))
        elif old is None:
            continue
        else:
            notice = Notice(old, None, key(name), False, Evidence.DELETED_EVENT)
        merged = merge(waiting[name], notice) if name in waiting else (notice,)
        assert len(merged) <= 2
        waiting[name] = merged
        if not merged:
            del waiting[name]

    assert view == truth


# Indexes


async def test_an_index_added_while_running_is_built_in_slices_and_kept(server: Server) -> None:
    for number in range(30):
        server.put(f"w-{number}", labels={"app": "db"})
    async with Rig(server, Policy(slice=0.0)).running() as rig:
        rig.informer.add_indexer("app", by_label("app"))
        assert len(rig.informer.lister.by_index("app", "db")) == 30
        server.put("w-3", labels={"app": "web"})
        await rig.settle()

        assert len(rig.informer.lister.by_index("app", "db")) == 29
        assert rig.informer.store.index_sizes()["app"] == 2


async def test_an_index_that_raises_for_what_is_stored_sets_it_aside(server: Server) -> None:
    server.put("bad", labels={"app": "x"})

    def no_x(obj: Object[Any]) -> list[str]:
        if obj.labels["app"] == "x":
            raise ValueError("x")
        return ["fine"]

    async with Rig(server).running() as rig:
        rig.informer.add_indexer("late", no_x)
        await rig.settle()

        assert set(rig.informer.quarantined) == {key("bad")}
        assert len(rig.informer.lister.by_index("late", "fine")) == 3
        assert rig.informer.lister.get("bad").name == "bad"


async def test_informers_over_all_clusters_have_an_index_of_them() -> None:
    server = Server(VirtualClock())
    informer: SharedInformer[Any] = SharedInformer(server, Collection(WIDGETS, cluster="*"), clock=server.clock)

    assert informer.store.indexers == {"cluster": by_cluster}


# Statistics


async def test_a_long_list_shows_how_far_it_is(server: Server) -> None:
    server.latency = 1.0

    async with Rig(server, Policy(stream=False, page_size=1)).running(synced=False) as rig:
        await rig.clock.advance(2.5)
        statistics = rig.informer.statistics()
        assert (statistics.fetched, statistics.objects, statistics.synced) == (2, 0, False)
        await rig.clock.advance(1)
        statistics = rig.informer.statistics()

        assert (statistics.fetched, statistics.objects, statistics.synced) == (0, 3, True)


async def test_statistics_say_what_there_is(server: Server) -> None:
    async with Rig(server).running() as rig:
        server.put("d")
        server.delete("a")
        await rig.clock.advance(61)
        statistics = rig.informer.statistics()

        assert (statistics.state, statistics.synced, statistics.live) == ("Watching", True, True)
        assert (statistics.objects, statistics.revision, statistics.epoch) == (3, "105", 1)
        assert statistics.bytes == sum(map(len, server.objects.values()))
        assert statistics.events == {"ADDED": 1, "DELETED": 1, "BOOKMARK": 1}
        assert (statistics.lists, statistics.watches, statistics.checks) == (1, 1, 0)
        assert statistics.last_heard is not None
        assert (rig.clock.now() - statistics.last_heard).total_seconds() == 1.0


# The pool


async def test_everybody_who_asks_for_the_same_gets_the_same_informer(server: Server) -> None:
    pool = InformerPool(clock=server.clock)

    one = pool.informer("root", server, Collection(WIDGETS), indexers={"namespace": by_namespace})
    same = pool.informer("root", server, Collection(Resource("example.com", "v1", "widgets", kind="Widget")))
    others = [
        pool.informer("other", server, Collection(WIDGETS)),
        pool.informer("root", server, Collection(WIDGETS, cluster="*")),
        pool.informer("root", server, Collection(WIDGETS, namespace="n1")),
        pool.informer("root", server, Collection(WIDGETS, label_selector="app=x")),
        pool.informer("root", server, Collection(WIDGETS, field_selector="metadata.name=a")),
        pool.informer("root", server, Collection(Resource("example.com", "v2", "widgets"))),
        pool.informer("root", server, Collection(Resource("example.com", "v1", "widgets", identity="hash"))),
        pool.informer("root", server, Collection(Resource("example.com", "v1", "widgets", model=dict))),
        pool.informer("root", server, Collection(WIDGETS), transform=bytes.strip),
    ]

    assert one is same
    assert len({id(informer) for informer in [one, *others]}) == len(pool) == 10


async def test_the_second_to_ask_may_bring_more_indexes_but_no_other_under_the_same_name(server: Server) -> None:
    pool = InformerPool(clock=server.clock)
    informer = pool.informer("root", server, Collection(WIDGETS), indexers={"namespace": by_namespace})
    pool.informer("root", server, Collection(WIDGETS), indexers={"namespace": by_namespace, "app": by_label("app")})

    assert set(informer.store.indexers) == {"namespace", "app"}
    with pytest.raises(ConfigurationError):
        pool.informer("root", server, Collection(WIDGETS), indexers={"app": by_namespace})


async def test_a_pool_runs_its_informers_also_those_that_come_later(server: Server) -> None:
    pool = InformerPool(clock=server.clock)
    early = pool.informer("root", server, Collection(WIDGETS))
    async with background(pool.run()):
        await server.clock.run_until_idle()
        late = pool.informer("root", server, Collection(WIDGETS, namespace="n1"))
        await server.clock.run_until_idle()

        assert early.live
        assert late.live
    assert server.open_streams == []


async def test_an_informer_that_fails_ends_its_pool(server: Server) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    server.watch_batches = broken  # type: ignore[method-assign]
    pool = InformerPool(clock=server.clock)
    pool.informer("root", server, Collection(WIDGETS))

    with pytest.raises(ExceptionGroup) as caught:
        await pool.run()
    assert caught.group_contains(ZeroDivisionError)
