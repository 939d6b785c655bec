"""Promises of histories: what is lost with a server's data is never said to have been deleted."""

from typing import Any

import pytest

from informers.api.errors import ConnectionRefused
from informers.api.histories import UNTOLD, Lineage
from informers.cache.facts import Listed, Relisted
from informers.cache.histories import Continuity
from informers.cache.notices import Evidence
from informers.cache.policy import Policy
from informers.cache.recovery import Phase, Trouble
from informers.clock import VirtualClock
from tests.informers.cache.making import body
from tests.informers.cache.rig import LISTING, STREAMING, Rig
from tests.informers.cache.scripted import EXPIRED, Fault, Server, failure, status_line, too_large

OURS = Lineage("store-1", (("term-0", 90),))
OTHER = Lineage("store-2", (("term-0", 90),))
REVISION = 102
LOWER, EQUAL, HIGHER = 50, REVISION, 900


@pytest.fixture
def server() -> Server:
    """Widgets a and b, the latter at revision 102, on a server that says nothing of its store."""
    found = Server(VirtualClock(), begun=100)
    found.put("a")
    found.put("b")
    return found


@pytest.fixture
def ours(server: Server) -> Server:
    """The same on a server that says which store it has."""
    server.lineage = OURS
    return server


def gone(rig: Rig) -> dict[str, Evidence]:
    """Return how it is known of objects that they went."""
    return {notice.key.name: notice.evidence for notice in rig.notices if notice.new is None}


def number(rig: Rig) -> int:
    """Return which history is followed."""
    assert rig.informer.history is not None
    return rig.informer.history.number


# A server that says which store it has


@pytest.mark.parametrize("policy", [LISTING, STREAMING])
@pytest.mark.parametrize("revision", [LOWER, EQUAL, HIGHER])
async def test_another_store_begins_a_history_whatever_its_revision(
    ours: Server, revision: int, policy: Policy
) -> None:
    async with Rig(ours, policy).running() as rig:
        await rig.clock.advance(10)
        ours.be_replaced(revision, OTHER)
        await rig.clock.advance(40)

        assert gone(rig) == dict.fromkeys("ab", Evidence.ABSENT_IN_NEW_HISTORY)
        assert number(rig) == 2
        assert ours.of("exact") == []
        rig.assert_converged()


async def test_a_restart_over_the_same_data_goes_on_with_the_history(ours: Server) -> None:
    async with Rig(ours).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        ours.restart()
        ours.delete("a")
        await rig.clock.advance(40)

        assert gone(rig) == {"a": Evidence.DELETED_EVENT}
        assert number(rig) == 1
        assert rig.of(Listed) == []


async def test_what_a_copy_does_not_have_was_lost_with_the_original_however_far_the_copy_has_come(
    ours: Server,
) -> None:
    """The revision alone would tell nothing: the copy has used the same ones for other things."""
    restore = ours.copied()
    async with Rig(ours).running() as rig:
        ours.put("lost")
        await rig.clock.advance(10)
        ours.go_down()
        restore()
        for _ in range(3):
            ours.put("new")
        ours.down = False
        await rig.clock.advance(60)

        assert gone(rig) == {"lost": Evidence.ABSENT_IN_NEW_HISTORY}
        assert number(rig) == 2
        rig.assert_converged()


async def test_a_copy_that_misses_nothing_goes_on_with_the_history(ours: Server) -> None:
    async with Rig(ours).running() as rig:
        await rig.clock.advance(10)
        ours.copied()()
        ours.delete("a")
        await rig.clock.advance(40)

        assert gone(rig) == {"a": Evidence.DELETED_EVENT}
        assert number(rig) == 1


@pytest.mark.parametrize("policy", [LISTING, STREAMING])
async def test_compaction_is_no_new_history(ours: Server, policy: Policy) -> None:
    async with Rig(ours, policy).running() as rig:
        await rig.clock.advance(10)
        ours.go_down()
        ours.delete("a")
        ours.compact()
        ours.down = False
        await rig.clock.advance(90)

        assert gone(rig) == {"a": Evidence.ABSENT_FROM_LIST}
        assert number(rig) == 1
        assert [fact.continuity for fact in rig.of(Listed)] == [Continuity.NEW, Continuity.SAME]


async def test_a_forced_list_is_no_new_history(ours: Server) -> None:
    async with Rig(ours).running() as rig:
        ours.open_streams[0].mute()
        ours.delete("a")
        rig.informer.force_relist()
        await rig.settle()

        assert gone(rig) == {"a": Evidence.ABSENT_FROM_LIST}
        assert number(rig) == 1


async def test_a_store_that_is_replaced_between_question_and_watch_is_found_at_the_watch(ours: Server) -> None:
    async with Rig(ours).running() as rig:
        await rig.clock.advance(10)
        ours.latency = 1.0
        ours.cut()
        await rig.clock.advance(1.5)
        ours.be_replaced(HIGHER, OTHER, a=body("a", rv=101))
        await rig.clock.advance(60)

        assert rig.informer.statistics().troubles[Phase.PROVE, Trouble.REPLACED] == 1
        assert gone(rig) == {"b": Evidence.ABSENT_IN_NEW_HISTORY}
        rig.assert_converged()


async def test_equal_revisions_of_another_store_are_no_equal_objects(ours: Server) -> None:
    async with Rig(ours, LISTING).running() as rig:
        await rig.clock.advance(10)
        ours.send(status_line(500))
        ours.be_replaced(EQUAL, OTHER, a=body("a", rv=101, spec={"other": True}), b=ours.objects["b"])
        await rig.clock.advance(40)

        rig.assert_converged()


async def test_pages_of_two_stores_are_no_list(ours: Server) -> None:
    ours.largest_page = 1
    async with Rig(ours, LISTING).running() as rig:
        await rig.clock.advance(10)
        ours.latency = 1.0
        rig.informer.force_relist()
        await rig.clock.advance(1.5)
        ours.be_replaced(EQUAL, OTHER, a=body("a", rv=101), c=body("c", rv=102))
        await rig.clock.advance(60)

        assert rig.informer.statistics().troubles[Phase.PAGE, Trouble.REPLACED] == 1
        assert gone(rig) == {"b": Evidence.ABSENT_IN_NEW_HISTORY}
        rig.assert_converged()


async def test_two_stores_that_take_turns_are_asked_at_the_pace_of_the_backoff(ours: Server) -> None:
    async with Rig(ours, LISTING).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        swap = iter([OTHER, OURS] * 1000)
        told = ours.watch_batches

        def watch_batches(*args: Any, **kwargs: Any) -> Any:
            ours.lineage = next(swap)
            return told(*args, **kwargs)

        ours.watch_batches = watch_batches  # type: ignore[method-assign]
        ours.cut()
        await rig.clock.advance(600)

        assert len(ours.asked) < 150


# A server that says nothing of it, and an informer that is careful


@pytest.mark.parametrize("policy", [LISTING, STREAMING])
@pytest.mark.parametrize("revision", [LOWER, EQUAL, HIGHER])
async def test_an_emptied_server_is_found_out_by_what_it_does_not_show(
    server: Server, revision: int, policy: Policy
) -> None:
    async with Rig(server, policy, careful=True).running() as rig:
        await rig.clock.advance(10)
        server.be_replaced(revision)
        await rig.clock.advance(40)

        assert gone(rig) == dict.fromkeys("ab", Evidence.ABSENT_IN_NEW_HISTORY)
        assert number(rig) == 2
        why = (Phase.CHECK, Trouble.BEHIND) if revision == LOWER else (Phase.PROVE, Trouble.REPLACED)
        assert [(fact.phase, fact.reason) for fact in rig.of(Relisted)] == [why]
        assert [fact.continuity for fact in rig.of(Listed)] == [Continuity.NEW, Continuity.NEW]
        rig.assert_converged()


@pytest.mark.parametrize("revision", [LOWER, EQUAL, HIGHER])
async def test_a_server_that_accepts_a_watch_from_the_future_and_stays_silent_is_found_out(
    server: Server, revision: int
) -> None:
    """So does kcp's cache server, which sends no bookmarks either."""
    server.bookmarks = server.streams_state = False
    async with Rig(server, careful=True).running() as rig:
        await rig.clock.advance(10)
        server.be_replaced(revision)
        await rig.clock.advance(5)
        server.put("new")
        await rig.clock.advance(1)

        assert gone(rig) == dict.fromkeys("ab", Evidence.ABSENT_IN_NEW_HISTORY)
        rig.assert_converged()


async def test_a_break_is_no_new_history_where_the_server_shows_what_we_hold(server: Server) -> None:
    async with Rig(server, careful=True).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.cut()
        server.delete("a")
        await rig.settle()

        assert [(a.verb, a.rv, a.limit) for a in server.asked] == [
            ("list", None, 1),
            ("watch", "102", 0),
            ("exact", "102", 500),
        ]
        assert server.of("exact")[0].metadata_only
        assert gone(rig) == {"a": Evidence.DELETED_EVENT}
        assert (number(rig), rig.of(Listed)) == (1, [])


async def test_what_a_later_list_does_not_show_was_deleted_if_the_server_still_shows_what_we_held(
    server: Server,
) -> None:
    async with Rig(server, careful=True).running() as rig:
        await rig.clock.advance(10)
        server.send(status_line(500))
        server.delete("a")
        await rig.clock.advance(5)

        assert gone(rig) == {"a": Evidence.ABSENT_FROM_LIST}
        assert number(rig) == 1
        verbs = [asked.verb for asked in server.asked if asked.at >= 10]
        assert verbs.index("exact") > 0, "what is asked before the list says nothing of the server that is listed"


async def test_a_watch_that_ended_on_time_is_resumed_without_a_question(server: Server) -> None:
    async with Rig(server, careful=True).running() as rig:
        rig.forget_past()
        await rig.clock.advance(1300)

        assert {asked.verb for asked in server.asked} == {"watch"}


@pytest.mark.parametrize(
    "answer", [EXPIRED, too_large(5), failure(400), failure(422, "Invalid"), failure(406)], ids=str
)
async def test_a_server_that_cannot_show_the_past_has_a_new_history(server: Server, answer: Fault) -> None:
    async with Rig(server, careful=True).running() as rig:
        await rig.clock.advance(10)
        server.fail_next("exact", answer, answer)
        server.delete("a")
        server.put("a", uid="another")
        server.cut()
        await rig.clock.advance(5)

        assert number(rig) == 2
        rig.assert_converged()


async def test_history_that_was_compacted_at_such_a_server_is_another_one(server: Server) -> None:
    async with Rig(server, careful=True).running() as rig:
        await rig.clock.advance(10)
        server.go_down()
        server.delete("a")
        server.compact()
        server.down = False
        await rig.clock.advance(90)

        assert gone(rig) == {"a": Evidence.ABSENT_IN_NEW_HISTORY}
        assert number(rig) == 2


@pytest.mark.parametrize("answer", [failure(429), ConnectionRefused("scripted"), failure(403), failure(503)], ids=str)
async def test_who_does_not_answer_is_asked_again(server: Server, answer: Fault) -> None:
    async with Rig(server, careful=True).running() as rig:
        await rig.clock.advance(10)
        server.fail_next("exact", answer)
        server.cut()
        server.delete("a")
        await rig.clock.advance(30)

        assert gone(rig) == {"a": Evidence.ABSENT_FROM_LIST}
        assert number(rig) == 1


async def test_a_server_that_always_fails_to_show_the_past_does_not_keep_us_from_its_present(server: Server) -> None:
    async with Rig(server, careful=True).running() as rig:
        await rig.clock.advance(10)
        server.fail_next("exact", *[failure(500)] * 1000)
        server.cut()
        server.delete("a")
        await rig.clock.advance(60)

        assert gone(rig) == {"a": Evidence.ABSENT_IN_NEW_HISTORY}
        assert rig.informer.live
        rig.assert_converged()


async def test_a_collection_of_many_pages_is_shown_in_pages(server: Server) -> None:
    server.largest_page = 1
    async with Rig(server, LISTING, careful=True).running() as rig:
        await rig.clock.advance(10)
        server.cut()
        await rig.settle()

        assert len(server.of("exact")) == 2
        assert number(rig) == 1


async def test_pages_that_lead_nowhere_show_nothing(server: Server) -> None:
    async with Rig(server, LISTING, careful=True).running() as rig:
        await rig.clock.advance(10)
        server.largest_page, server.stuck, server.compacted = 1, True, 0
        server.cut()
        await rig.clock.advance(1)

        assert len(server.of("exact")) == 2
        assert [(fact.phase, fact.reason) for fact in rig.of(Relisted)] == [(Phase.PROVE, Trouble.REPLACED)]


async def test_one_that_is_set_aside_is_no_reason_for_doubt(server: Server) -> None:
    async with Rig(server, careful=True).running() as rig:
        server.put_raw("a", b'{"metadata":{"name":"a","uid":"uid-of-a","resourceVersion":"103","labels":5}}')
        server.put_raw("new", b'{"metadata":{"name":"new","resourceVersion":"104","labels":5}}')
        await rig.clock.advance(10)
        server.cut()
        await rig.clock.advance(10)

        assert {key.name for key in rig.informer.quarantined} == {"a", "new"}
        assert number(rig) == 1


async def test_one_that_is_set_aside_can_be_lost_as_well(server: Server) -> None:
    async with Rig(server, careful=True).running() as rig:
        server.put_raw("a", b'{"metadata":{"name":"a","uid":"uid-of-a","resourceVersion":"103","labels":5}}')
        await rig.clock.advance(10)
        server.be_replaced(HIGHER, b=server.objects["b"])
        await rig.clock.advance(40)

        assert gone(rig) == {"a": Evidence.ABSENT_IN_NEW_HISTORY}


async def test_a_server_that_ceases_to_name_its_store_is_another_one(ours: Server) -> None:
    async with Rig(ours).running() as rig:
        await rig.clock.advance(10)
        ours.be_replaced(HIGHER)
        await rig.clock.advance(40)

        assert gone(rig) == dict.fromkeys("ab", Evidence.ABSENT_IN_NEW_HISTORY)
        assert number(rig) == 2


# Informers that are not careful


@pytest.mark.parametrize("revision", [LOWER, EQUAL, HIGHER])
async def test_without_care_nothing_is_asked_and_nothing_is_said_to_have_been_deleted(
    server: Server, revision: int
) -> None:
    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        server.be_replaced(revision)
        await rig.clock.advance(40)
        rig.informer.force_relist()
        await rig.settle()

        assert gone(rig) == dict.fromkeys("ab", Evidence.ABSENT_IN_NEW_HISTORY)
        assert server.of("exact") == []


async def test_care_may_come_later(server: Server) -> None:
    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        rig.informer.be_careful()
        server.be_replaced(EQUAL)
        await rig.clock.advance(40)

        assert number(rig) == 2


async def test_a_history_says_how_far_it_is_followed_and_since_when(ours: Server) -> None:
    rig = Rig(ours)
    assert rig.informer.history is None
    async with rig.running():
        began = rig.clock.now()
        await rig.clock.advance(10)
        ours.put("c")
        await rig.settle()
        history = rig.informer.history

        assert history is not None
        assert (history.store, history.term, history.revision) == ("store-1", "term-0", "103")
        assert (history.began, history.number) == (began, 1)
        assert rig.informer.statistics().history == history


async def test_a_history_that_was_noted_in_another_process_is_known_again(ours: Server) -> None:
    async with Rig(ours).running() as rig:
        noted = rig.informer.history
    assert noted is not None
    ours.restart()
    ours.put("c")

    later = Rig(ours)
    assert not later.informer.continues(noted)
    async with later.running():
        assert later.informer.continues(noted)


@pytest.mark.parametrize("revision", [LOWER, EQUAL, HIGHER])
@pytest.mark.parametrize("lineage", [OTHER, UNTOLD])
async def test_a_history_of_another_store_is_not_the_one_that_was_noted(
    ours: Server, lineage: Lineage, revision: int
) -> None:
    async with Rig(ours).running() as rig:
        noted = rig.informer.history
    assert noted is not None
    ours.be_replaced(revision, lineage)

    async with Rig(ours).running() as later:
        assert not later.informer.continues(noted)


async def test_a_copy_from_before_a_noted_history_does_not_go_on_with_it_however_far_it_comes(ours: Server) -> None:
    restore = ours.copied()
    ours.put("c")
    async with Rig(ours).running() as rig:
        noted = rig.informer.history
    assert noted is not None
    restore()

    async with Rig(ours).running() as later:
        assert not later.informer.continues(noted)
        for _ in range(5):
            ours.put("d")
        await later.settle()
        assert not later.informer.continues(noted)


async def test_a_server_that_names_no_store_proves_nothing_to_another_process(server: Server) -> None:
    async with Rig(server, careful=True).running() as rig:
        noted = rig.informer.history
        assert noted is not None
        assert not rig.informer.continues(noted)
