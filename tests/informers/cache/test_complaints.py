"""What users of other runtimes complain about most, as far as it concerns informers: none of it happens here."""

import asyncio
import json
from typing import Any

import pytest

from informers.api.errors import Disconnected, NotSynced
from informers.api.objects import Object
from informers.api.resources import Collection
from informers.cache.facts import Backed, Checked, Listed, Quarantined, Released, WatchEnded
from informers.cache.informer import SharedInformer
from informers.cache.notices import Evidence, Notice
from informers.cache.policy import Policy
from informers.cache.recovery import Trouble
from informers.clock import VirtualClock
from informers.tasks import background
from tests.informers.cache.making import WIDGETS, body, key
from tests.informers.cache.rig import LISTING, STREAMING, Rig
from tests.informers.cache.scripted import EXPIRED, Server, Stream, event_line, failure, status_line, too_large


@pytest.fixture
def server() -> Server:
    server = Server(VirtualClock())
    for name in ("a", "b", "c"):
        server.put(name)
    return server


# 1 A connection is half open: the watch never fails, the cache is frozen, and nothing shows it


async def test_1_a_watch_that_misses_its_bookmarks_is_given_up_and_resumed(server: Server) -> None:
    async with Rig(server).running() as rig:
        await rig.clock.advance(62)
        server.streams[0].mute()
        server.put("d")
        await rig.clock.advance(140)
        assert rig.informer.live
        await rig.clock.advance(15)

        assert [fact.reason for fact in rig.of(WatchEnded)] == [Trouble.SILENT]
        assert rig.informer.live
        rig.assert_converged()


async def test_1_without_bookmarks_a_dead_watch_is_given_up_when_its_time_is_over(server: Server) -> None:
    server.bookmarks = False

    async with Rig(server).running() as rig:
        server.streams[0].mute()
        server.put("d")
        timeout = server.asked[0].timeout
        await rig.clock.advance(timeout + 14)
        assert rig.of(WatchEnded) == []
        await rig.clock.advance(2)

        rig.assert_converged()


async def test_1_an_idle_watch_of_a_server_without_bookmarks_is_left_alone(server: Server) -> None:
    server.bookmarks = False

    async with Rig(server).running() as rig:
        await rig.clock.advance(3600)

        assert {fact.reason for fact in rig.of(WatchEnded)} == {Trouble.UNEVENTFUL}
        assert rig.of(Backed) == []


async def test_1_synced_is_not_live(server: Server) -> None:
    async with Rig(server).running() as rig:
        await rig.clock.advance(30)
        server.go_down()
        await rig.clock.advance(400)

        assert rig.informer.synced
        assert not rig.informer.live
        assert rig.informer.last_heard is not None
        assert (rig.clock.now() - rig.informer.last_heard).total_seconds() == 430
        assert "nobody listens" in str(rig.informer.last_error)
        assert rig.informer.statistics().failures > 3


# 2 The task that watches dies, and the process looks healthy


async def test_2_an_error_in_the_program_comes_out_of_run(server: Server) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    server.list_page = broken  # type: ignore[method-assign]
    rig = Rig(server, LISTING)

    with pytest.raises(ZeroDivisionError):
        await rig.clock.run(rig.informer.run())
    assert rig.informer.statistics().state == "Stopped"
    assert not rig.informer.live


async def test_2_nobody_waits_for_an_informer_that_has_ended(server: Server) -> None:
    server.down = True
    rig = Rig(server)

    waiting = [asyncio.ensure_future(rig.informer.wait_synced()), asyncio.ensure_future(rig.registration.wait_synced())]

    async with rig.running(synced=False):
        await rig.clock.advance(100)
        assert not any(task.done() for task in waiting)

    for task in waiting:
        with pytest.raises(NotSynced, match="stopped before it had"):
            await task


async def test_2_an_informer_runs_once(server: Server) -> None:
    rig = Rig(server)
    async with rig.running():
        pass

    with pytest.raises(RuntimeError, match="run once"):
        await rig.informer.run()


# 3 Every watch breaks after five minutes, in the middle of a line


async def test_3_a_watch_that_breaks_inside_a_line_resumes_without_loss(server: Server) -> None:
    async with Rig(server).running() as rig:
        for number in range(5):
            await rig.clock.advance(300)
            server.put(f"before-{number}")
            server._end_all(Disconnected("the stream ended inside a message"))
            server.put(f"after-{number}")
        await rig.settle()

        rig.assert_converged()
        assert len(rig.of(Listed)) == 1


# 6 The watch starts from the revision of the last object listed


async def test_6_a_watch_starts_from_the_lists_revision_not_from_an_objects(server: Server) -> None:
    """Lists are not in the order of revisions: history would come again, or have expired."""
    server.put("a")
    server.objects = dict(sorted(server.objects.items(), reverse=True))
    server.revision = 999

    async with Rig(server, LISTING).running() as rig:
        await rig.settle()

        assert [a.rv for a in server.of("watch")] == ["999"]


async def test_6_a_stream_cut_before_its_end_mark_gives_no_revision(server: Server) -> None:
    state = [event_line("ADDED", raw) for raw in server.objects.values()]
    server.fail_next("state", lambda s: (s.send(*state), s.end(Disconnected("cut")))[0])

    async with Rig(server).running() as rig:
        await rig.settle()

        assert [a.rv for a in server.of("list")] == ["0"]
        rig.assert_converged()


# 7 An ERROR event in a 200 answer is taken for an object, or retried for ever


@pytest.mark.parametrize("policy", [STREAMING, LISTING])
async def test_7_an_expired_watch_lists_and_finds_what_was_deleted_meanwhile(server: Server, policy: Policy) -> None:
    """No ghost stays, and the deletion is told."""
    async with Rig(server, policy).running() as rig:
        await rig.clock.advance(10)
        server.cut()
        server.delete("a")
        server.delete("b")
        server.compact()
        await rig.clock.advance(10)

        assert rig.names == ["c"]
        gone = [(n.key.name, n.evidence) for n in rig.notices if n.new is None]
        assert gone == [("a", Evidence.ABSENT_IN_NEW_HISTORY), ("b", Evidence.ABSENT_IN_NEW_HISTORY)]


# 8 What was only on its way to the handlers when it went is never told


async def test_8_a_deletion_between_list_and_watch_is_told(server: Server) -> None:
    """It is in no list and in no store, only in a backlog."""
    rig = Rig(server)
    with rig.informer.backlog() as backlog:
        async with rig.running():
            seen = [await anext(backlog) for _ in range(3)]
            server.put("d")
            await rig.settle()
            seen.append(await anext(backlog))
            server.cut()
            server.delete("d")
            server.compact()
            await rig.clock.advance(10)
            seen.append(await anext(backlog))

    assert [(n.key.name, n.new is None) for n in seen[3:]] == [("d", False), ("d", True)]


# 10 After a restore from a backup: "too large", "too old", for ever


async def test_10_a_restored_server_is_listed_once_with_no_revision(server: Server) -> None:
    server.refuses_future = True

    async with Rig(server, LISTING).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.lose_history()
        await rig.clock.advance(1)

        assert [a.rv for a in server.asked] == [None, None, "4"]
        rig.assert_converged()


@pytest.mark.parametrize("fault", [EXPIRED, too_large(1)])
async def test_10_a_server_that_refuses_every_revision_is_asked_at_the_pace_of_the_backoff(
    server: Server, fault: Exception
) -> None:
    async with Rig(server, LISTING).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.fail_next("list", *[fault] * 100)
        server.send(status_line(410, "Expired"))
        await rig.clock.advance(600)

        assert len(server.asked) < 30


# 13 A slow handler lets memory grow


async def test_13_a_consumer_that_never_comes_costs_one_notice_an_object(server: Server) -> None:
    rig = Rig(server)
    with rig.informer.backlog() as backlog:
        async with rig.running():
            for number in range(300):
                server.put("a", spec={"number": number})
                server.put(f"short-lived-{number}")
                server.delete(f"short-lived-{number}")
                await rig.settle()

            assert len(backlog) == 3
            first = await anext(backlog)
            assert first.new is not None
            assert first.new.at("spec", "number") == 299


# 14 A handler that raises on an initial object never counts as synced


async def test_14_a_handler_that_raises_counts_as_synced_and_all_others_go_on(server: Server) -> None:
    rig = Rig(server)

    def moody(notice: Notice[Any]) -> None:
        if notice.new is not None and notice.new.at("spec", "bad", default=notice.initial):
            raise ValueError("not this one")

    registration = rig.informer.add_handler(moody, name="moody")
    async with rig.running():
        assert registration.synced
        assert set(registration.quarantined) == {key("a"), key("b"), key("c")}
        assert registration.failures == 3
        assert registration.quarantined[key("a")] == "handler moody: ValueError: not this one"
        assert [fact.handler for fact in rig.of(Quarantined)] == ["moody"] * 3
        assert rig.informer.quarantined == {}
        rig.assert_converged()

        server.put("a", spec={"bad": False})
        server.delete("b")
        await rig.settle()
        assert set(registration.quarantined) == {key("c")}
        assert [fact.key.name for fact in rig.of(Released)] == ["a", "b"]


# 15 The resource was removed: the informer asks for it for ever, and floods the log


async def test_15_a_missing_collection_is_asked_for_ever_less_often_and_shows(server: Server) -> None:
    missing = failure(404, "NotFound", "the server could not find the requested resource")
    server.fail_next("list", *[missing] * 1000)
    server.fail_next("watch", *[missing] * 1000)

    async with Rig(server).running(synced=False) as rig:
        await rig.clock.advance(3600)

        pauses = [fact.seconds for fact in rig.of(Backed)]
        assert 2 <= pauses[0] < 4
        assert all(60 <= pause < 120 for pause in pauses[6:])
        assert len(pauses) < 60
        assert rig.informer.last_error is missing
        assert rig.informer.statistics().state == "Backing"


async def test_15_what_was_known_of_a_removed_collection_stays_until_it_is_listed_again(server: Server) -> None:
    """The server knows nothing of the collection; that is not the same as knowing that it is empty."""
    missing = failure(404, "NotFound")

    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.fail_next("list", *[missing] * 3)
        server.fail_next("state", *[missing] * 2)
        server.close_watches()
        await rig.clock.advance(5)
        assert rig.names == ["a", "b", "c"]
        assert rig.notices == []
        server.objects.clear()
        await rig.clock.advance(120)

        assert rig.names == []


async def test_15_asking_for_a_list_ends_the_wait_for_a_missing_collection(server: Server) -> None:
    server.fail_next("list", failure(404))

    async with Rig(server, LISTING).running(synced=False) as rig:
        await rig.settle()
        assert not rig.informer.synced
        rig.informer.force_relist()
        await rig.settle()

        assert rig.informer.synced


# 16 One object that cannot be read stops the whole collection


MALFORMED = b'{"metadata":{"name":"bad","labels":5,"resourceVersion":"%d"}}'


@pytest.mark.parametrize("policy", [STREAMING, LISTING])
async def test_16_a_malformed_object_is_set_aside_and_the_rest_goes_on(server: Server, policy: Policy) -> None:
    server.put_raw("bad", MALFORMED % 104)

    async with Rig(server, policy).running() as rig:
        assert rig.names == ["a", "b", "c"]
        assert "labels" in rig.informer.quarantined[key("bad")] or "object" in rig.informer.quarantined[key("bad")]
        assert [fact.key for fact in rig.of(Quarantined)] == [key("bad")]
        server.put("d")
        server.put("bad")
        await rig.settle()

        assert rig.informer.quarantined == {}
        assert [fact.key for fact in rig.of(Released)] == [key("bad")]
        rig.assert_converged()


@pytest.mark.parametrize("policy", [STREAMING, LISTING])
async def test_16_an_object_that_becomes_malformed_keeps_its_last_good_state(server: Server, policy: Policy) -> None:
    """Neither an event nor a list that shows it malformed takes it away from anybody."""
    server.put("bad", spec={"good": True})

    async with Rig(server, policy).running() as rig:
        rig.forget_past()
        server.put_raw("bad", MALFORMED % 105)
        await rig.settle()
        rig.informer.force_relist()
        await rig.settle()

        assert rig.notices == []
        found = rig.informer.lister.get("bad")
        assert found.at("spec", "good")
        assert key("bad") in rig.informer.quarantined
        assert rig.informer.statistics().quarantined == 1


async def test_16_a_malformed_object_that_goes_leaves_the_quarantine_and_the_store(server: Server) -> None:
    server.put("bad")

    async with Rig(server).running() as rig:
        server.put_raw("bad", MALFORMED % 105)
        server.delete("bad")
        await rig.settle()

        assert rig.notices[-1].evidence is Evidence.DELETED_EVENT
        assert rig.informer.quarantined == {}
        rig.assert_converged()


async def test_16_an_object_that_an_indexer_raises_for_is_set_aside(server: Server) -> None:
    def by_size(obj: Object[Any]) -> list[str]:
        return [str(int(obj.at("spec", "size", default=0)))]

    async with Rig(server, indexers={"size": by_size}).running() as rig:
        server.put("a", spec={"size": "many"})
        server.put("b", spec={"size": 7})
        await rig.settle()

        assert rig.informer.quarantined[key("a")].startswith("index 'size' of a: ValueError")
        assert [obj.name for obj in rig.informer.lister.by_index("size", "7")] == ["b"]
        assert [obj.name for obj in rig.informer.lister.by_index("size", "0")] == ["a", "c"]
        rig.informer.force_relist()
        await rig.settle()
        assert [obj.name for obj in rig.informer.lister.by_index("size", "0")] == ["a", "c"]
        assert key("a") in rig.informer.quarantined


async def test_16_a_deletion_of_nobody_knows_what_leads_to_a_list(server: Server) -> None:
    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        del server.objects["a"]
        server.send(event_line("DELETED", b"{}"))
        await rig.clock.advance(3)

        assert [fact.reason for fact in rig.of(Backed)] == [Trouble.NONSENSE]
        rig.assert_converged()


async def test_16_a_table_is_no_list(server: Server) -> None:
    real = server.list_page

    async def table(*_: Any, **settings: Any) -> Any:
        return settings["reader"].page(b'{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}')

    server.list_page = table  # type: ignore[method-assign]
    async with Rig(server, LISTING).running(synced=False) as rig:
        await rig.settle()
        assert [fact.reason for fact in rig.of(Backed)] == [Trouble.NONSENSE]
        assert "found a Table" in str(rig.informer.last_error)
        server.list_page = real  # type: ignore[method-assign]
        await rig.clock.advance(2)
        rig.assert_converged()


# 20 What happens before a handler is ready is lost


async def test_20_a_late_handler_is_told_of_everything_once_in_its_newest_state(server: Server) -> None:
    """Also of what changes while it is being told."""
    rig = Rig(server, Policy(slice=0.0))
    for number in range(50):
        server.put(f"w-{number}")
    seen: list[Notice[Any]] = []
    async with rig.running():
        registration = rig.informer.add_handler(seen.append, name="late")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not registration.synced
        server.put("w-40", spec={"new": True})
        server.delete("w-41")
        server.put("w-99")
        await rig.settle()

        assert registration.synced
        told = {notice.key.name: notice for notice in seen}
        assert len(seen) == len(told)
        assert set(told) == {*server.objects, "w-41"}
        assert told["w-40"].initial
        assert told["w-40"].new is not None
        assert told["w-40"].new.at("spec", "new")
        assert told["w-41"].new is None
        assert not told["w-99"].initial


# 22 Readers see half a list; a reconnect sends everything again; an error sticks


@pytest.mark.parametrize("policy", [Policy(slice=0.0), Policy(stream=False, slice=0.0, page_size=7)])
async def test_22_readers_see_the_old_state_or_the_new_one_at_every_turn_of_the_loop(
    server: Server, policy: Policy
) -> None:
    for number in range(97):
        server.put(f"old-{number}")
    seen: list[frozenset[str]] = []
    rig = Rig(server, policy)

    async def reader() -> None:
        while True:
            seen.append(frozenset(obj.name for obj in rig.informer.store))
            await asyncio.sleep(0)

    async with rig.running():
        old = frozenset(server.objects)
        server.objects.clear()
        server.cut()
        server.revision += 1
        for number in range(50):
            server.put(f"new-{number}")
        server.compact()
        rig.informer.force_relist()
        reading = asyncio.ensure_future(reader())
        for _ in range(2000):
            await asyncio.sleep(0)
        reading.cancel()

    assert set(seen) == {old, frozenset(server.objects)}


async def test_22_a_reconnect_tells_nothing_again(server: Server) -> None:
    async with Rig(server).running() as rig:
        rig.forget_past()
        for _ in range(5):
            await rig.clock.advance(10)
            server.cut()
        await rig.settle()

        assert rig.notices == []


async def test_22_an_error_is_forgotten_once_all_is_well(server: Server) -> None:
    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        server.send(status_line(500))
        await rig.settle()
        assert rig.informer.last_error is not None
        await rig.clock.advance(10)

        assert rig.informer.last_error is None
        assert rig.informer.statistics().failures == 0


# 24 A transform runs twice, or on an object that is in the store already


@pytest.mark.parametrize("policy", [STREAMING, LISTING])
async def test_24_a_transform_runs_once_for_each_object_that_arrives(server: Server, policy: Policy) -> None:
    seen: list[bytes] = []

    def strip(raw: bytes) -> bytes:
        seen.append(raw)
        obj = json.loads(raw)
        obj.pop("spec", None)
        return json.dumps(obj).encode()

    async with Rig(server, policy, transform=strip).running() as rig:
        server.put("a", spec={"large": "x" * 1000})
        await rig.settle()

        assert len(seen) == 4
        assert all("spec" not in obj.body for obj in rig.informer.store)
        assert rig.informer.lister.get("a").rv == "104"


async def test_24_what_a_transform_raises_for_or_makes_into_another_object_is_set_aside(server: Server) -> None:
    def odd(raw: bytes) -> bytes:
        if b'"a"' in raw:
            raise ValueError("no")
        return raw.replace(b'"b"', b'"z"')

    async with Rig(server, transform=odd).running() as rig:
        assert rig.names == ["c"]
        assert rig.informer.quarantined[key("a")] == "transform: ValueError: no"
        assert "expected identity and revision to stay" in rig.informer.quarantined[key("b")]
        server.delete("a")
        await rig.settle()

        assert set(rig.informer.quarantined) == {key("b")}


# 25 A logical cluster moves to another shard: foreign revisions, twins that overwrite each other


async def test_25_same_names_in_many_clusters_and_shards_are_kept_apart_in_a_stream() -> None:
    server = Server(VirtualClock())
    for cluster in ("c1", "c2", "c3"):
        for shard in ("amber", "beryl"):
            server.put(f"{cluster}-{shard}")
            server.objects[f"{cluster}-{shard}"] = body("same", cluster=cluster, shard=shard, rv=server.revision)

    async with Rig(server).running() as rig:
        assert len(rig.informer.store) == 6
        assert len(rig.view) == 6


async def test_25_a_move_to_a_shard_with_lower_revisions_is_a_new_epoch() -> None:
    """The front proxy cuts, answers 503 and then 410; objects have the other shard's revisions afterwards."""
    server = Server(VirtualClock(), revision=90_000)
    server.put("a")

    async with Rig(server, LISTING).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.fail_next("list", failure(503, retry_after=1), failure(503, retry_after=1), EXPIRED)
        server.lose_history(17)
        await rig.clock.advance(10)

        assert rig.informer.store.revision == "18"
        assert rig.informer.store.epoch == 2
        assert [(n.old.rv, n.new.rv) for n in rig.notices if n.old and n.new] == [("90001", "18")]
        server.put("a")
        await rig.settle()
        rig.assert_converged()


# Storms


@pytest.mark.parametrize("how", [Stream.end, lambda s: s.end(Disconnected("cut"))])
async def test_a_server_that_closes_every_watch_at_once_is_not_stormed(server: Server, how: Any) -> None:
    """Others ask thousands of times in three seconds."""
    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.fail_next("watch", *[how] * 1000)
        server.close_watches()
        await rig.clock.advance(3)

        assert len(server.asked) < 10


async def test_a_first_list_that_fails_is_tried_again() -> None:
    server = Server(VirtualClock())
    server.put("a")
    server.fail_next("list", *[failure(503)] * 5)

    async with Rig(server, LISTING).running() as rig:
        rig.assert_converged()


async def test_two_informers_do_not_wait_for_each_other(server: Server) -> None:
    """One that cannot sync holds nobody up."""
    other = Server(server.clock)
    other.down = True
    stuck: SharedInformer[Any] = SharedInformer(other, Collection(WIDGETS), clock=server.clock)

    async with background(stuck.run()), Rig(server).running() as rig:
        assert rig.informer.live
        assert not stuck.synced
        assert rig.of(Checked) == []
