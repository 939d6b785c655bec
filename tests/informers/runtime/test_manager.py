"""The Manager over an in-memory server: from a change to a status, and from start to stop."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from informers.api.errors import ConfigurationError, NotSynced
from informers.api.objects import Key, Object
from informers.cache.facts import Listed
from informers.client.addresses import Scope
from informers.clock import VirtualClock
from informers.runtime.cluster import Cluster
from informers.runtime.controller import Controller, controller
from informers.runtime.facts import (
    ControllerStarted,
    FilterFailed,
    GraceOver,
    LeftBehind,
    ObserverDropped,
    Outcome,
    Reconciled,
    SourceArrived,
    Stopping,
)
from informers.runtime.filters import event_filter, generation_changed
from informers.runtime.manager import Manager
from informers.runtime.result import Result
from informers.runtime.sources import EveryKey, Read, Watch, same_key
from informers.tasks import background
from tests.informers.runtime.memory import MemoryServer
from tests.informers.runtime.objects import MEMBERS, TEAMS, owned_by

BLUE, RED = Key("", "", "default", "blue"), Key("", "", "default", "red")


class Listening:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.facts: list[Any] = []

    def notice(self, fact: Any) -> None:
        self.facts.append(fact)

    def of(self, kind: type[Any]) -> list[Any]:
        return [fact for fact in self.facts if isinstance(fact, kind)]

    @property
    def visited(self) -> list[str]:
        return [fact.key.name for fact in self.of(Reconciled)]


@controller(TEAMS, where=generation_changed, owns=[MEMBERS])
async def team(obj: Object[Any], cluster: Cluster) -> Result:
    members = cluster.lister(MEMBERS).owned_by(obj)
    return Result(status={"members": len(members), "readyMembers": sum(m.is_true("Ready") for m in members)})


def recording(**options: Any) -> Controller[Any]:
    @controller(TEAMS, name="recording", **options)
    async def reconcile(obj: Object[Any], cluster: Cluster) -> None: ...

    return reconcile


Running = Callable[..., Any]


@pytest.fixture
def running(memory: MemoryServer, clock: VirtualClock) -> Running:
    """Return what runs controllers against the server for a block, at rest when the block begins."""

    @asynccontextmanager
    async def run(*controllers: Controller[Any], **options: Any) -> AsyncIterator[tuple[Manager, Listening]]:
        listening = Listening()
        servers = options.pop("servers", None) or memory.server()
        manager = Manager(servers, controllers, observers=[listening], clock=clock, **options)
        async with manager:
            await clock.run_until_idle()
            yield manager, listening

    return run


def member(memory: MemoryServer, name: str, owner: str = "blue", ready: str = "True", **more: Any) -> None:
    conditions = [{"type": "Ready", "status": ready}]
    memory.put(name, "members", kind="Member", metadata=owned_by(owner), status={"conditions": conditions}, **more)


# From a change to a status


async def test_what_is_there_at_the_start_gets_a_status_and_then_nothing_is_written_any_more(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    memory.put("blue")
    memory.put("red")
    member(memory, "ann")
    member(memory, "bob", ready="False")

    async with running(team) as (manager, _):
        await manager.wait_synced()
        await manager.wait_idle()
        assert memory.get("blue")["status"] == {"members": 2, "readyMembers": 1}
        assert memory.get("red")["status"] == {"members": 0, "readyMembers": 0}
        assert len(memory.writes) == 2
        await clock.advance(3600)

    async with running(team):
        await clock.advance(3600)
    assert len(memory.writes) == 2, "neither time nor a restart is a reason to write"


async def test_an_owned_object_wakes_its_owner_when_it_comes_changes_and_goes(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    memory.put("blue")
    async with running(team) as (_, seen):
        member(memory, "ann", ready="False")
        await clock.run_until_idle()
        assert memory.get("blue")["status"] == {"members": 1, "readyMembers": 0}

        member(memory, "ann")
        await clock.run_until_idle()
        assert memory.get("blue")["status"] == {"members": 1, "readyMembers": 1}

        memory.drop("ann", "members")
        await clock.run_until_idle()
        assert memory.get("blue")["status"] == {"members": 0, "readyMembers": 0}

    assert seen.visited == ["blue"] * 4, "the echo of its own status wakes nobody"


async def test_what_a_visit_has_committed_wakes_a_controller_without_echoes_no_more_and_all_else_does(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    memory.put("blue", spec={"size": 1})

    @controller(TEAMS, echoes=False)
    async def sized(obj: Object[Any], cluster: Cluster) -> Result:
        return Result(status={"size": obj.at("spec", "size")}, fields={"metadata": {"labels": {"size": "any"}}})

    async with running(sized) as (_, seen):
        assert memory.get("blue")["status"] == {"size": 1}
        before = len(seen.visited)
        memory.put("blue", spec={"size": 2}, **_without_spec(memory.get("blue")))
        await clock.run_until_idle()
        assert memory.get("blue")["status"] == {"size": 2}
        assert len(seen.visited) == before + 1

        memory.put("blue", spec={"size": 2}, **_without_spec(memory.get("blue")) | {"status": {"size": 7}})
        await clock.run_until_idle()
        assert memory.get("blue")["status"] == {"size": 2}, "what others write into it is put right"
        assert len(seen.visited) == before + 2


def _without_spec(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in ("apiVersion", "kind", "spec")}


async def test_a_reconciler_that_goes_on_from_what_it_wrote_is_woken_by_that(
    memory: MemoryServer, running: Running
) -> None:
    memory.put("blue")

    @controller(TEAMS)
    async def stepping(obj: Object[Any], cluster: Cluster) -> Result:
        return Result(status={"step": min(obj.at("status", "step", default=0) + 1, 3)})

    async with running(stepping):
        assert memory.get("blue")["status"] == {"step": 3}


async def test_ten_events_are_one_visit(memory: MemoryServer, running: Running, clock: VirtualClock) -> None:
    async with running(recording()) as (_, seen):
        for size in range(10):
            memory.put("blue", spec={"size": size})
        await clock.run_until_idle()

    assert seen.visited == ["blue"]


async def test_each_cluster_sees_its_own_objects_only(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    for cluster, count in (("a", 1), ("b", 2)):
        memory.put("blue", cluster=cluster)
        for number in range(count):
            notes = {**owned_by("blue"), "uid": f"{cluster}{number}"}
            memory.put(f"m{number}", "members", kind="Member", cluster=cluster, metadata=notes)

    async with running(team, servers=memory.server(scope=Scope.ALL)):
        pass

    assert memory.get("blue", cluster="a")["status"]["members"] == 1
    assert memory.get("blue", cluster="b")["status"]["members"] == 2
    assert {path for _, path, _ in memory.writes} == {
        f"/clusters/{c}/apis/example.com/v1/namespaces/default/teams/blue/status" for c in "ab"
    }


async def test_a_conflict_ends_with_the_right_status_and_no_error(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    async def meddle(obj: Object[Any], cluster: Cluster) -> Result:
        if "touched" not in memory.get("blue").get("spec", {}):
            memory.put("blue", spec={"touched": True})
        return Result(status={"seen": obj.generation})

    memory.put("blue")
    async with running(controller(TEAMS, where=generation_changed)(meddle)) as (_, seen):
        await clock.advance(1)

    assert memory.get("blue")["status"] == {"seen": 2}
    assert seen.of(Reconciled)[0].outcome is Outcome.CONFLICT
    assert not any(fact.outcome.failed for fact in seen.of(Reconciled))


# What wakes a controller


async def test_filters_decide_and_one_that_raises_keeps(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    @event_filter
    def only_red(old: Object[Any] | None, new: Object[Any] | None) -> bool:
        assert new is not None
        return bool(new.body["spec"]["colour"] == "red")

    memory.put("blue", spec={"colour": "blue"})
    memory.put("red", spec={"colour": "red"})
    async with running(recording(where=only_red)) as (_, seen):
        assert seen.visited == ["red"]
        memory.put("blue", spec={})
        await clock.run_until_idle()

    assert seen.visited == ["red", "blue"]
    [failed] = seen.of(FilterFailed)
    assert (failed.controller, failed.key, type(failed.error)) == ("recording", BLUE, KeyError)


async def test_a_mapping_function_that_raises_sets_that_object_aside_and_the_rest_goes_on(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    def mapper(notice: Any) -> list[Key]:
        return [Key("", "", "default", notice.new.body["spec"]["team"])]

    memory.put("blue")
    async with running(recording(watches=[Watch(MEMBERS, to=mapper)])) as (manager, seen):
        memory.put("bad", "members", kind="Member")
        memory.put("good", "members", kind="Member", spec={"team": "blue"})
        await clock.run_until_idle()

        [handler] = manager.informer(MEMBERS).statistics().handlers
        assert (handler.name, handler.failures, handler.quarantined) == ("recording", 1, 1)

    assert seen.visited == ["blue", "blue"]


async def test_a_watched_change_can_wake_every_key(memory: MemoryServer, running: Running, clock: VirtualClock) -> None:
    memory.put("blue")
    memory.put("red")
    async with running(recording(watches=[Watch(MEMBERS, to=EveryKey())])) as (_, seen):
        memory.put("ann", "members", kind="Member")
        await clock.run_until_idle()

    assert seen.visited == ["blue", "red"] * 2


async def test_controllers_share_one_informer_for_one_resource(memory: MemoryServer, running: Running) -> None:
    async with running(team, recording(reads=[MEMBERS])) as (manager, seen):
        assert len(manager.informers) == 2
        assert manager.informer(TEAMS) is manager.informers[0]

    assert len(seen.of(Listed)) == 2
    assert [informer.statistics().handlers for informer in manager.informers] == [(), ()]


# Several servers


def with_cache(memory: MemoryServer, cache: MemoryServer) -> dict[str, Any]:
    return {"main": memory.server("main"), "cache": cache.server("cache", scope=Scope.CACHE)}


async def test_an_informer_is_careful_if_one_of_its_users_wants_it(memory: MemoryServer) -> None:
    @controller(TEAMS, name="careful", reads=[Read(MEMBERS, careful=True)])
    async def careful(obj: Object[Any], cluster: Cluster) -> None: ...

    manager = Manager(memory.server(), [recording(owns=[MEMBERS]), careful])

    assert manager.informer(MEMBERS).careful
    assert not manager.informer(TEAMS).careful


async def test_workers_wait_for_every_source_without_patience(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    memory.put("blue")
    cache = MemoryServer()
    cache.down = True
    servers = with_cache(memory, cache)
    async with running(recording(reads=[Read(TEAMS, server="cache")]), servers=servers) as (manager, seen):
        await clock.advance(60)
        assert seen.visited == []
        assert manager.statistics().controllers["recording"].missing == (f"cache:*/*/{TEAMS}",)

        cache.down = False
        await clock.advance(60)
        await manager.wait_synced()
        await clock.run_until_idle()
        assert seen.visited == ["blue"]


async def test_a_source_that_cannot_be_reached_does_not_hold_up_a_controller_with_patience(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    memory.put("blue")
    cache = MemoryServer()
    cache.down = True
    watch = Watch(TEAMS, to=same_key, server="cache", patience=2)
    async with running(recording(watches=[watch]), servers=with_cache(memory, cache)) as (_, seen):
        assert seen.visited == ["blue"], "the first contact has failed, so that waiting longer is no use"
        [started] = seen.of(ControllerStarted)
        assert (started.waited, started.missing) == (0, (f"cache:*/*/{TEAMS}",))

        cache.down = False
        await clock.advance(60)
        assert seen.visited == ["blue", "blue"], "what was visited without it is visited again"
        [arrived] = seen.of(SourceArrived)
        assert arrived.source == f"cache:*/*/{TEAMS}"


async def test_waiting_for_the_beginning_ends_in_time_and_names_what_is_missing_and_why(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    cache = MemoryServer()
    cache.down = True
    made = recording(reads=[Read(TEAMS, server="cache")])
    async with running(made, servers=with_cache(memory, cache)) as (manager, _):
        with pytest.raises(NotSynced) as told:
            await clock.run(manager.wait_synced(timeout=5))

        assert str(told.value) == (
            f"expected controllers to begin within 5 s, found 'recording' waiting for */*/{TEAMS} of server 'cache' "
            "(ConnectionRefused: expected a server, found none)"
        )
        cache.down = False
        await clock.run(manager.wait_synced(timeout=60))


async def test_waiting_takes_no_longer_than_the_beginning(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    async with running(recording()) as (manager, _):
        before = clock.monotonic()
        await manager.wait_synced(timeout=5)

        assert clock.monotonic() == before


class Silent(MemoryServer):
    """Never answers."""

    async def send(self, request: Any) -> Any:
        await asyncio.Event().wait()


async def test_a_source_that_is_silent_is_waited_for_no_longer_than_the_patience(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    memory.put("blue")
    read = Read(TEAMS, server="cache", patience=2)
    async with running(recording(reads=[read]), servers=with_cache(memory, Silent())) as (_, seen):
        await clock.advance(1.9)
        assert seen.visited == []
        await clock.advance(0.1)
        assert seen.visited == ["blue"]


async def test_writes_go_to_the_server_that_is_named(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    @controller(TEAMS, reads=[Read(TEAMS, server="cache")])
    async def copy(obj: Object[Any], cluster: Cluster) -> None:
        if cluster.lister(TEAMS, server="cache").find(obj.name, obj.namespace) is None:
            client = cluster.client_of("cache").shard("s").cluster("c")
            await client.create(TEAMS, {"metadata": {"name": obj.name, "namespace": "default"}})

    memory.put("blue")
    cache = MemoryServer()
    async with running(copy, servers=with_cache(memory, cache)) as (manager, _):
        assert [(method, path) for method, path, _ in cache.writes] == [
            ("POST", "/services/cache/shards/s/clusters/c/apis/example.com/v1/namespaces/default/teams")
        ]
        [write] = manager.controller("copy").notes.of(BLUE)
        assert (write.verb, write.key.shard) == ("create", "s")
        assert manager.statistics().controllers["copy"].notes.writes == 1


async def test_a_controller_may_live_on_another_server_than_the_first(memory: MemoryServer, running: Running) -> None:
    @controller(TEAMS, server="cache")
    async def seen(obj: Object[Any], cluster: Cluster) -> Result:
        return Result(status={"shard": obj.key.shard})

    cache = MemoryServer()
    cache.put("blue", cluster="c", shard="s")
    async with running(seen, servers=with_cache(memory, cache)):
        pass

    [(_, path, _)] = cache.writes
    assert path == "/services/cache/shards/s/clusters/c/apis/example.com/v1/namespaces/default/teams/blue/status"
    assert memory.writes == []


# Start, stop, crash


def slow(clock: VirtualClock, finished: list[str], seconds: float = 3) -> Controller[Any]:
    @controller(TEAMS, name="slow")
    async def reconcile(obj: Object[Any], cluster: Cluster) -> None:
        await clock.sleep(seconds)
        cluster.lister(TEAMS).get(obj.name, obj.namespace)
        finished.append(obj.name)

    return reconcile


async def test_a_stop_lets_workers_finish_the_key_in_hand_and_take_no_more(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    memory.put("blue")
    memory.put("red")
    finished: list[str] = []
    stop = asyncio.Event()
    listening = Listening()
    manager = Manager(memory.server(), [slow(clock, finished)], observers=[listening], clock=clock)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(manager.run(stop))
        await clock.advance(1)
        stop.set()
        await clock.advance(1.9)
        assert not task.done()
        await clock.advance(0.1)
        assert task.done()

    assert finished == ["blue"]
    assert listening.of(Stopping) == [Stopping(10.0, (("slow", BLUE),))]
    assert listening.of(GraceOver) == []


async def test_after_the_grace_period_visits_are_cancelled_and_named(memory: MemoryServer, clock: VirtualClock) -> None:
    memory.put("blue")
    finished: list[str] = []
    stop = asyncio.Event()
    listening = Listening()
    manager = Manager(memory.server(), [slow(clock, finished, 60)], observers=[listening], clock=clock, grace=5)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(manager.run(stop))
        await clock.advance(1)
        stop.set()
        await clock.advance(5)
        assert task.done()

    assert finished == []
    assert listening.of(GraceOver) == [GraceOver((("slow", BLUE),))]


async def test_a_reconciler_that_swallows_its_cancellation_is_named_and_left_behind(
    memory: MemoryServer, clock: VirtualClock
) -> None:
    memory.put("blue")
    let_go = asyncio.Event()

    @controller(TEAMS)
    async def stubborn(obj: Object[Any], cluster: Cluster) -> None:
        while not let_go.is_set():
            with suppress(asyncio.CancelledError):
                await let_go.wait()

    stop, before = asyncio.Event(), asyncio.all_tasks()
    listening = Listening()
    manager = Manager(memory.server(), [stubborn], observers=[listening], clock=clock, grace=5)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(manager.run(stop))
        await clock.advance(1)
        stop.set()
        await clock.advance(5.9)
        assert not task.done()
        await clock.advance(0.1)
        assert task.done()

    assert listening.of(GraceOver) == [GraceOver((("stubborn", BLUE),))]
    assert listening.of(LeftBehind) == [LeftBehind((("stubborn", BLUE),))]
    let_go.set()
    await clock.run_until_idle()
    assert asyncio.all_tasks() == before


async def test_a_reconciler_that_fails_while_it_cleans_up_is_heard(memory: MemoryServer, clock: VirtualClock) -> None:
    memory.put("blue")

    @controller(TEAMS)
    async def careless(obj: Object[Any], cluster: Cluster) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await clock.sleep(0.5)
            raise LookupError("while cleaning up")

    listening = Listening()
    async with Manager(memory.server(), [careless], observers=[listening], clock=clock, grace=0):
        await clock.run_until_idle()
        stopping = asyncio.ensure_future(clock.advance(0.5))
    await stopping

    assert [str(fact.error) for fact in listening.of(Reconciled)] == ["while cleaning up"]
    assert listening.of(LeftBehind) == []


async def test_a_stop_with_nothing_in_hand_takes_no_time(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    memory.put("blue")
    async with running(recording()) as (_, seen):
        pass

    assert clock.monotonic() == 0
    assert seen.of(Stopping) == []


async def test_a_stop_before_the_sources_are_there_ends_at_once(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    memory.down = True
    async with running(recording()):
        pass

    assert clock.monotonic() == 0


async def test_a_cancelled_manager_ends_at_once_and_leaves_no_task(memory: MemoryServer, clock: VirtualClock) -> None:
    memory.put("blue")
    before = asyncio.all_tasks()
    manager = Manager(memory.server(), [slow(clock, [])], clock=clock)
    task = asyncio.ensure_future(manager.run(asyncio.Event()))
    await clock.advance(1)
    task.cancel()
    await clock.run_until_idle()

    assert task.cancelled()
    assert asyncio.all_tasks() == before


async def test_a_block_beside_the_controllers_ends_with_the_error_of_what_died(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    class Fatal(BaseException):
        """What no retry is for."""

    @controller(TEAMS)
    async def reconcile(obj: Object[Any], cluster: Cluster) -> None:
        raise Fatal

    async def program() -> None:
        async with running(reconcile):
            memory.put("blue")
            await asyncio.Event().wait()

    with pytest.raises(Fatal):
        await program()


async def test_a_block_that_raises_stops_as_any_other_and_its_error_comes_out(
    memory: MemoryServer, clock: VirtualClock
) -> None:
    finished: list[str] = []

    async def program() -> None:
        async with Manager(memory.server(), [slow(clock, finished)], clock=clock):
            await clock.sleep(1)
            raise LookupError("mine")

    memory.put("blue")
    with pytest.raises(LookupError, match="mine"):
        await clock.run(program())
    assert finished == ["blue"]


async def test_an_observer_that_raises_is_dropped_and_the_work_goes_on(
    memory: MemoryServer, clock: VirtualClock
) -> None:
    class Broken:
        def notice(self, fact: Any) -> None:
            raise RuntimeError("broken")

    memory.put("blue")
    listening = Listening()
    async with Manager(memory.server(), [team], observers=[Broken(), listening], clock=clock) as manager:
        await clock.run_until_idle()
        [dropped] = manager.statistics().dropped_observers
        assert dropped.observer.endswith("Broken")

    assert memory.get("blue")["status"] == {"members": 0, "readyMembers": 0}
    assert listening.of(ObserverDropped) == [dropped]


async def test_embedding_touches_neither_signals_nor_logging_nor_the_loop(
    memory: MemoryServer, running: Running
) -> None:
    def surroundings() -> Any:
        loop = asyncio.get_running_loop()
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        return handlers, logging.root.handlers[:], logging.root.level, loop.get_exception_handler(), loop.get_debug()

    memory.put("blue")
    before = surroundings()
    async with running(team):
        assert surroundings() == before
    assert surroundings() == before


# Declarations


async def test_declarations_that_cannot_work_are_refused_before_the_start(
    memory: MemoryServer, clock: VirtualClock
) -> None:
    manager = Manager(memory.server("main"), [team], clock=clock)

    with pytest.raises(ConfigurationError, match="found two named 'team'"):
        manager.add_controller(team)
    with pytest.raises(ConfigurationError, match="'recording': expected a server of 'main', found 'cache'"):
        manager.add_controller(recording(reads=[Read(TEAMS, server="cache")]))
    with pytest.raises(ConfigurationError, match="server of 'main' to watch teams on, found 'other'"):
        manager.informer(TEAMS, "other")
    with pytest.raises(ConfigurationError, match="at least one Server"):
        Manager({})


async def test_a_manager_runs_once_and_takes_no_controllers_once_it_has_begun(
    memory: MemoryServer, clock: VirtualClock
) -> None:
    manager = Manager(memory.server(), clock=clock)
    async with manager:
        await clock.run_until_idle()
        with pytest.raises(ConfigurationError, match="not begun yet"):
            manager.add_controller(team)
    with pytest.raises(RuntimeError, match="make a new one"):
        await manager.run(asyncio.Event())


async def test_statistics_tell_what_each_controller_and_informer_did(
    memory: MemoryServer, running: Running, clock: VirtualClock
) -> None:
    memory.put("blue")
    async with running(team) as (manager, _):
        seen = manager.statistics()

    found = seen.controllers["team"]
    assert (found.started, found.missing, found.outcomes) == (True, (), {Outcome.SUCCESS: 1})
    assert (found.queue.visits, found.queue.closed, found.notes.writes) == (1, False, 1)
    assert [(each.origin.server, each.objects, each.synced) for each in seen.informers] == [
        ("memory", 1, True),
        ("memory", 0, True),
    ]


async def test_whoever_waits_for_a_start_that_never_comes_is_told_when_the_manager_stops(
    memory: MemoryServer, clock: VirtualClock
) -> None:
    memory.down = True
    manager, stop = Manager(memory.server(), [team], clock=clock), asyncio.Event()

    async def wait() -> None:
        with pytest.raises(NotSynced, match="expected controller 'team' to begin, found it stopped"):
            await manager.wait_synced()

    async with background(manager.run(stop), wait()) as [_, waiting]:
        await clock.run_until_idle()
        assert not waiting.done()
        stop.set()
        await clock.run_until_idle()
        assert waiting.done()
