"""The decision table, row by row, in virtual time."""

from itertools import pairwise

import pytest

from informers.api.errors import Disconnected, ReadTimeout
from informers.cache.facts import Backed, Checked, FellBack, Listed, Relisted, WatchEnded, WatchStarted
from informers.cache.notices import Evidence
from informers.cache.policy import Policy
from informers.cache.recovery import Action, Phase, Trouble
from informers.clock import VirtualClock
from tests.informers.cache.making import body, key
from tests.informers.cache.rig import LISTING, Rig
from tests.informers.cache.scripted import EXPIRED, Server, bookmark_line, event_line, failure, status_line, too_large


@pytest.fixture
def server() -> Server:
    server = Server(VirtualClock())
    for name in ("a", "b"):
        server.put(name)
    return server


# Getting the state


async def test_the_state_comes_as_a_stream_and_the_watch_follows_in_it(server: Server) -> None:
    async with Rig(server).running() as rig:
        server.put("c")
        await rig.settle()

        [asked] = server.asked
        assert (asked.verb, asked.rv, asked.initial_events) == ("watch", None, True)
        assert rig.names == ["a", "b", "c"]
        rig.assert_converged()


async def test_initial_notices_are_marked_and_later_ones_are_not(server: Server) -> None:
    async with Rig(server).running() as rig:
        server.put("c")
        server.cut()
        server.compact()
        server.put("d")
        await rig.clock.advance(100)

        assert [(n.key.name, n.initial) for n in rig.notices] == [("a", True), ("b", True), ("c", False), ("d", False)]


async def test_without_streams_the_first_list_may_be_any_state_and_the_watch_starts_at_its_revision(
    server: Server,
) -> None:
    """The revision to watch from is the list's own, never that of an object in it."""
    server.revision = 150

    async with Rig(server, LISTING).running() as rig:
        await rig.settle()

        assert [(a.verb, a.rv, a.limit) for a in server.asked] == [("list", "0", 500), ("watch", "150", 0)]


async def test_a_refused_stream_falls_back_to_a_list_and_the_next_sync_tries_again(server: Server) -> None:
    server.streams_state = False

    async with Rig(server).running() as rig:
        assert [fact.reason for fact in rig.of(FellBack)] == [Trouble.REJECTED]
        assert [str(a) for a in server.asked] == ["watch rv=None", "list rv='0'", "watch rv='102'"]
        server.streams_state = True
        rig.forget_past()
        rig.informer.force_relist()
        await rig.settle()

        assert [a.initial_events for a in server.asked] == [True]


@pytest.mark.parametrize("lines", [[status_line(500)], [event_line("ADDED", b"{}"), status_line(500, "InternalError")]])
async def test_an_error_event_in_a_streamed_state_falls_back_to_a_list(server: Server, lines: list[bytes]) -> None:
    """Servers on an old etcd accept such a watch and then say 500."""
    server.fail_next("watch", lambda stream: stream.send(*lines))

    async with Rig(server).running() as rig:
        assert [fact.reason for fact in rig.of(FellBack)] == [Trouble.FAILED]
        rig.assert_converged()


async def test_a_stream_cut_halfway_leaves_no_trace_of_its_half(server: Server) -> None:
    """Neither its objects nor their revisions count: all ten come, from a list that starts from nothing."""
    for number in range(8):
        server.put(f"more-{number}")
    half = [event_line("ADDED", raw) for raw in list(server.objects.values())[:3]]
    server.fail_next("watch", lambda s: (s.send(*half), s.end(Disconnected("cut")))[0])

    async with Rig(server).running() as rig:
        assert len(rig.names) == 10
        assert [str(a) for a in server.asked][:2] == ["watch rv=None", "list rv='0'"]
        assert len(rig.notices) == 10


async def test_a_stream_that_ends_cleanly_before_its_mark_is_asked_for_once_more_then_listed(server: Server) -> None:
    one = event_line("ADDED", server.objects["a"])
    server.fail_next("watch", *[lambda s: (s.send(one), s.end())[0]] * 2)

    async with Rig(server).running() as rig:
        assert [str(a) for a in server.asked][:3] == ["watch rv=None", "watch rv=None", "list rv='0'"]
        assert [fact.reason for fact in rig.of(FellBack)] == [Trouble.ENDED_AGAIN]
        assert rig.clock.monotonic() == 0.0
        rig.assert_converged()


async def test_a_stream_that_ends_at_once_with_nothing_falls_back_to_a_list(server: Server) -> None:
    server.fail_next("watch", lambda s: s.end())

    async with Rig(server).running() as rig:
        assert [fact.reason for fact in rig.of(FellBack)] == [Trouble.SHORT]
        rig.assert_converged()


async def test_a_stream_that_repeats_itself_takes_no_object_back(server: Server) -> None:
    older, newer = (event_line("ADDED", body("x", rv=rv)) for rv in (50, 60))
    gone = event_line("DELETED", body("y", rv=70))
    again = event_line("ADDED", body("y", rv=65))
    lines = [newer, older, again, gone, again, bookmark_line(102, ends_state=True)]
    server.fail_next("state", lambda s: s.send(*lines))

    async with Rig(server).running() as rig:
        assert [(obj.name, obj.rv) for obj in rig.informer.store] == [("x", "60")]


async def test_a_stream_whose_end_is_never_marked_is_given_up_for_good(server: Server) -> None:
    """A server that takes the request and does not know the mark would let everybody wait for ever."""
    state = [event_line("ADDED", raw) for raw in server.objects.values()]
    server.fail_next("watch", lambda s: s.send(*state))

    async with Rig(server).running(synced=False) as rig:
        await rig.clock.advance(9.5)
        assert not rig.informer.synced
        await rig.clock.advance(1)
        assert rig.informer.synced
        assert [fact.reason for fact in rig.of(FellBack)] == [Trouble.UNMARKED]
        rig.assert_converged()
        rig.informer.force_relist()
        await rig.settle()

        assert sum(asked.initial_events for asked in server.asked) == 1


async def test_a_stream_that_never_stops_without_its_mark_is_given_up_too(server: Server) -> None:
    """Events keep coming, so there is no silence; there is a limit for the whole."""
    server.fail_next("watch", lambda s: None)

    async with Rig(server).running(synced=False) as rig:
        for number in range(70):
            await rig.clock.advance(5)
            server.put("busy", spec={"number": number})
        await rig.settle()

        assert rig.informer.synced
        assert [fact.reason for fact in rig.of(FellBack)] == [Trouble.UNMARKED]


@pytest.mark.parametrize("fault", [EXPIRED, too_large(1)])
async def test_a_revision_that_a_stream_cannot_start_from_is_dropped_at_once(server: Server, fault: Exception) -> None:
    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.fail_next("watch", failure(500), fault)  # the watch, then the stream of the sync that follows
        server.close_watches()
        await rig.clock.advance(10)

        assert [a.rv for a in server.of("watch")] == ["102", "102", None]


@pytest.mark.parametrize(("fault", "reason"), [(failure(429), Trouble.THROTTLED), (None, Trouble.REFUSED)])
async def test_a_stream_that_is_throttled_or_refused_is_tried_again_after_a_pause(
    server: Server, fault: Exception | None, reason: Trouble
) -> None:
    if fault is None:
        server.down = True
    else:
        server.fail_next("watch", fault)

    async with Rig(server).running(synced=False) as rig:
        await rig.settle()
        server.down = False
        await rig.clock.advance(2)

        assert [(fact.reason, fact.then) for fact in rig.of(Backed)] == [(reason, Action.SYNC)]
        assert [a.initial_events for a in server.asked] == [True, True]
        rig.assert_converged()


# Lists


async def test_1200_objects_come_in_pages_of_500(server: Server) -> None:
    for number in range(1198):
        server.put(f"w-{number:04}")

    async with Rig(server, LISTING).running() as rig:
        assert len(rig.view) == 1200
        assert [(a.limit, a.continue_) for a in server.of("list")] == [
            (500, ""),
            (500, f"{server.revision}/500"),
            (500, f"{server.revision}/1000"),
        ]
        assert all(asked.rv is None for asked in server.of("list")[1:])
        assert [fact.pages for fact in rig.of(Listed)] == [3]


async def test_pages_that_lead_nowhere_are_a_failure_and_no_endless_list(server: Server) -> None:
    async with Rig(server, LISTING).running() as rig:
        server.largest_page, server.stuck = 1, True
        rig.informer.force_relist()
        await rig.settle()

        assert len(server.of("list")) == 1 + 2
        assert [fact.reason for fact in rig.of(Backed)] == [Trouble.NONSENSE]


async def test_later_lists_ask_for_no_older_than_what_is_known_without_pages(server: Server) -> None:
    async with Rig(server, LISTING).running() as rig:
        server.put("c")
        await rig.settle()
        rig.forget_past()
        server.send(status_line(500))
        await rig.clock.advance(2)

        assert [(a.verb, a.rv, a.limit, a.match) for a in server.asked] == [
            ("list", "103", 0, ""),
            ("watch", "103", 0, ""),
        ]


async def test_a_server_that_pages_its_cached_list_is_asked_for_pages_ever_after(server: Server) -> None:
    for number in range(600):
        server.put(f"w-{number:04}")

    async with Rig(server, LISTING).running() as rig:
        rig.forget_past()
        server.send(status_line(500))
        await rig.clock.advance(2)

        first, *_ = server.of("list")
        assert (first.rv, first.limit, first.match) == ("702", 500, "NotOlderThan")


async def test_an_explicit_page_size_wins(server: Server) -> None:
    async with Rig(server, Policy(stream=False, page_size=1)).running() as rig:
        assert [a.limit for a in server.of("list")] == [1, 1]
        rig.assert_converged()


async def test_an_expired_continue_token_leads_to_one_full_list_at_the_revision_asked_for(server: Server) -> None:
    server.fail_next("list", lambda _: None, EXPIRED)

    async with Rig(server, Policy(stream=False, page_size=1)).running() as rig:
        assert [(a.rv, a.limit) for a in server.of("list")] == [("0", 1), (None, 1), ("0", 0)]
        assert rig.clock.monotonic() == 0.0
        rig.assert_converged()


@pytest.mark.parametrize("fault", [EXPIRED, failure(410, "Gone"), too_large(3)])
async def test_a_revision_that_cannot_be_listed_from_is_dropped_at_once_and_kept_dropped_until_success(
    server: Server, fault: Exception
) -> None:
    async with Rig(server, LISTING).running() as rig:
        rig.forget_past()
        server.fail_next("list", fault, failure(500))
        server.send(status_line(500))
        await rig.clock.advance(6)

        assert [a.rv for a in server.of("list")] == ["102", None, None]
        assert rig.of(Listed)[-1].afresh
        assert rig.informer.store.epoch == 2


async def test_a_server_that_calls_the_newest_state_expired_is_not_asked_in_a_loop(server: Server) -> None:
    server.fail_next("list", *[EXPIRED] * 4)

    async with Rig(server, LISTING).running(synced=False) as rig:
        await rig.settle()

        assert [a.rv for a in server.of("list")] == ["0", None]
        await rig.clock.advance(60)
        rig.assert_converged()


async def test_a_server_that_pages_everything_and_keeps_nothing_is_not_asked_in_a_loop(server: Server) -> None:
    server.largest_page = 1
    server.fail_next("list", *[lambda _: None, EXPIRED] * 20)

    async with Rig(server, LISTING).running(synced=False) as rig:
        await rig.settle()

        assert len(server.asked) == 4
        assert [(fact.phase, fact.reason) for fact in rig.of(Backed)] == [(Phase.PAGE, Trouble.FAILED)]
        await rig.clock.advance(600)
        rig.assert_converged()


async def test_a_list_that_goes_in_circles_is_nonsense(server: Server) -> None:
    """A server that hands out the same token again would keep the informer busy for ever."""
    broken = Rig(server, Policy(stream=False, page_size=1))
    pages = server.list_page

    async def circular(*args: object, **settings: object) -> object:
        page = await pages(*args, **settings)  # type: ignore[arg-type]
        return type(page)(page.objects, page.revision, "102/1") if server.revision == 102 else page

    server.list_page = circular  # type: ignore[method-assign, assignment]
    async with broken.running(synced=False) as rig:
        await rig.settle()

        assert [fact.reason for fact in rig.of(Backed)] == [Trouble.NONSENSE]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (failure(403, "Forbidden"), Trouble.DENIED),
        (failure(401, "Unauthorized"), Trouble.DENIED),
        (failure(503), Trouble.FAILED),
        (failure(405), Trouble.REJECTED),
        (Disconnected("cut"), Trouble.BROKEN),
    ],
)
async def test_a_list_that_fails_is_repeated_after_a_pause_and_says_why(
    server: Server, fault: Exception, reason: Trouble
) -> None:
    server.fail_next("list", fault)

    async with Rig(server, LISTING).running(synced=False) as rig:
        await rig.settle()
        assert not rig.informer.synced
        assert rig.informer.last_error is fault
        [backed] = rig.of(Backed)
        assert (backed.phase, backed.reason, backed.failures) == (Phase.LIST, reason, 1)
        await rig.clock.advance(2)

        assert rig.informer.last_error is None
        rig.assert_converged()


async def test_what_a_relist_does_not_show_went_on_weak_evidence(server: Server) -> None:
    async with Rig(server).running() as rig:
        rig.forget_past()
        server.cut()
        server.delete("a")
        server.compact()
        await rig.clock.advance(10)

        [notice] = rig.notices
        assert notice.evidence is Evidence.ABSENT_IN_NEW_HISTORY
        assert notice.old is not None
        assert notice.old.name == "a"
        rig.assert_converged()


async def test_what_a_watch_says_went_on_strong_evidence_in_its_last_state(server: Server) -> None:
    async with Rig(server).running() as rig:
        rig.forget_past()
        server.delete("a")
        await rig.settle()

        [notice] = rig.notices
        assert notice.evidence is Evidence.DELETED_EVENT
        assert notice.old is not None
        assert notice.old.rv == "103"


async def test_a_relist_does_not_hand_out_what_did_not_change(server: Server) -> None:
    async with Rig(server).running() as rig:
        rig.forget_past()
        rig.informer.force_relist()
        await rig.settle()

        assert len(rig.of(Listed)) == 1
        assert rig.notices == []


# Starting a watch


@pytest.mark.parametrize("fault", [failure(429), failure(429, retry_after=1)])
async def test_a_throttled_watch_is_started_again_after_a_pause_and_a_question(
    server: Server, fault: Exception
) -> None:
    """A whole list would only add to the load; but whoever waits may find another store."""
    async with Rig(server, LISTING).running() as rig:
        await rig.clock.advance(601)
        rig.forget_past()
        server.fail_next("watch", fault)
        await rig.clock.advance(601)

        assert {asked.limit for asked in server.of("list")} == {1}
        assert [fact.then for fact in rig.of(Backed)] == [Action.CHECK]
        assert rig.informer.live


@pytest.mark.parametrize("fault", [Disconnected("reset by a proxy"), ReadTimeout("silence")])
async def test_a_question_that_got_no_answer_is_asked_again_and_nothing_is_listed(
    server: Server, fault: Exception
) -> None:
    """Behind a proxy a server that is away breaks connections. A watch tells what was deleted; a list could not."""
    async with Rig(server, LISTING).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.cut()
        server.fail_next("list", fault)
        await rig.clock.advance(601)

        assert {asked.limit for asked in server.of("list")} == {1}
        assert rig.of(Listed) == []
        assert rig.informer.live


async def test_a_refused_watch_resumes_after_a_pause_once_the_server_proves_its_history(server: Server) -> None:
    async with Rig(server, LISTING).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.go_down()
        await rig.clock.advance(5)
        assert not rig.informer.live
        assert rig.informer.synced
        server.down = False
        server.put("c")
        await rig.clock.advance(60)

        answered = [a for a in server.asked if a.at > 15]
        assert [(a.verb, a.rv, a.limit) for a in answered[-2:]] == [("list", None, 1), ("watch", "102", 0)]
        assert rig.of(Listed) == []
        rig.assert_converged()


@pytest.mark.parametrize(
    "fault", [failure(500), failure(403), EXPIRED, Disconnected("cut"), failure(400), too_large(5), failure(404)]
)
async def test_a_watch_that_cannot_be_started_leads_to_a_list_after_a_pause(server: Server, fault: Exception) -> None:
    async with Rig(server, LISTING).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.fail_next("watch", fault)
        server.close_watches()
        await rig.settle()
        [backed] = rig.of(Backed)
        assert (backed.phase, backed.then) == (Phase.WATCH_START, Action.SYNC)
        assert [fact.phase for fact in rig.of(Relisted)] == [Phase.WATCH_START]
        await rig.clock.advance(5)

        assert server.of("list")[-1].rv == "102" or backed.reason is Trouble.MISSING
        rig.assert_converged()


async def test_a_watch_that_is_never_answered_is_given_up(server: Server) -> None:
    async with Rig(server, LISTING).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        entered = server.watch_batches

        def stuck(*args: object, **settings: object) -> object:
            server.watch_batches = entered  # type: ignore[method-assign]
            return _never_answered(server.clock)

        server.watch_batches = stuck  # type: ignore[method-assign, assignment]
        server.close_watches()
        await rig.clock.advance(29)
        assert rig.of(Backed) == []
        await rig.clock.advance(10)

        assert [fact.reason for fact in rig.of(Backed)] == [Trouble.SILENT]
        assert rig.informer.live


class _never_answered:  # noqa: N801 — stands for a function
    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock

    async def __aenter__(self) -> None:
        await self._clock.sleep(1e9)

    async def __aexit__(self, *_: object) -> None:
        raise AssertionError("it was never entered")


# Watching


async def test_a_watch_that_ends_on_time_is_resumed_at_once_and_without_question(server: Server) -> None:
    async with Rig(server).running() as rig:
        server.put("c")
        await rig.settle()
        rig.forget_past()
        await rig.clock.advance(600)

        assert [a.verb for a in server.asked] == ["watch"]
        assert server.asked[0].rv == "103"
        assert [fact.reason for fact in rig.of(WatchEnded)] == [Trouble.ENDED_ON_TIME]
        assert rig.of(Checked) == []
        assert rig.informer.live


async def test_a_watch_from_the_future_is_found_out_when_its_time_is_up(server: Server) -> None:
    """It was answered after the server had lost its history, without the connection being cut."""
    server.bookmarks = False

    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.latency = 1.0
        server.close_watches()
        await rig.clock.advance(1.5)
        server.lose_history()
        server.latency = 0.0
        await rig.clock.advance(10)
        assert rig.informer.live
        await rig.clock.advance(600)

        assert [fact.reason for fact in rig.of(WatchEnded)] == [Trouble.ENDED, Trouble.UNEVENTFUL]
        assert [fact.behind for fact in rig.of(Checked)] == [False, True]
        rig.assert_converged()


async def test_watches_end_at_random_times_between_five_and_ten_minutes(server: Server) -> None:
    async with Rig(server).running() as rig:
        await rig.clock.advance(6000)

        timeouts = {fact.timeout for fact in rig.of(WatchStarted)}
        assert len(timeouts) > 5
        assert all(300 <= timeout <= 600 for timeout in timeouts)


@pytest.mark.parametrize("how", ["cut", "close_watches"])
async def test_a_watch_that_ends_before_its_time_resumes_at_once_if_the_history_is_the_same(
    server: Server, how: str
) -> None:
    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        getattr(server, how)()
        server.put("c")
        await rig.settle()

        assert [(a.verb, a.rv, a.limit) for a in server.asked] == [("list", None, 1), ("watch", "102", 0)]
        assert [(fact.ours, fact.theirs, fact.behind) for fact in rig.of(Checked)] == [("102", "103", False)]
        rig.assert_converged()


async def test_a_server_that_comes_back_with_a_lower_revision_is_listed_anew(server: Server) -> None:
    """A watch from a revision ahead of the server would be accepted, and stay silent for ever."""
    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.lose_history()
        server.put("new")
        await rig.settle()

        assert [(fact.theirs, fact.behind) for fact in rig.of(Checked)] == [("4", True)]
        assert [fact.reason for fact in rig.of(Relisted)] == [Trouble.BEHIND]
        assert rig.informer.store.revision == "4"
        assert rig.informer.store.epoch == 2
        rig.assert_converged()
        server.put("newer")
        await rig.settle()
        rig.assert_converged()


async def test_an_empty_server_does_not_delete_it_loses(server: Server) -> None:
    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.objects.clear()
        server.lose_history()
        await rig.settle()

        assert {notice.evidence for notice in rig.notices} == {Evidence.ABSENT_IN_NEW_HISTORY}
        assert rig.names == []


async def test_a_bookmark_from_before_our_time_makes_us_ask(server: Server) -> None:
    """A proxy may keep our connection while the server behind it was exchanged."""
    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.send(bookmark_line(7))
        await rig.settle()

        assert [fact.reason for fact in rig.of(WatchEnded)] == [Trouble.BEHIND]
        assert [fact.behind for fact in rig.of(Checked)] == [False]
        assert rig.informer.live


async def test_a_watch_that_ends_at_once_with_nothing_backs_off_and_lists(server: Server) -> None:
    async with Rig(server, LISTING).running() as rig:
        rig.forget_past()
        server.close_watches()
        await rig.settle()

        [backed] = rig.of(Backed)
        assert (backed.reason, backed.then) == (Trouble.SHORT, Action.SYNC)
        assert server.asked == []


async def test_a_watch_that_ends_at_once_but_brought_something_is_resumed(server: Server) -> None:
    async with Rig(server, LISTING).running() as rig:
        rig.forget_past()
        server.put("c")
        server.close_watches()
        await rig.settle()

        assert rig.of(Backed) == []
        assert server.of("watch")[0].rv == "103"


async def test_a_bookmark_alone_does_not_make_a_short_watch_good(server: Server) -> None:
    """A server that sends one and closes would else be asked as fast as the network allows."""
    async with Rig(server, LISTING).running() as rig:
        rig.forget_past()
        server.revision += 1
        server.send(bookmark_line(server.revision))
        server.close_watches()
        await rig.settle()

        assert [fact.reason for fact in rig.of(Backed)] == [Trouble.SHORT]


@pytest.mark.parametrize("reason", ["Expired", "Gone"])
async def test_an_expired_event_leads_to_a_list_after_a_pause(server: Server, reason: str) -> None:
    async with Rig(server, LISTING).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.send(status_line(410, reason))
        await rig.settle()
        assert [(fact.reason, fact.then) for fact in rig.of(Backed)] == [(Trouble.EXPIRED, Action.SYNC)]
        await rig.clock.advance(2)

        assert server.of("list")[0].rv == "102"
        rig.assert_converged()


async def test_a_throttling_event_leads_to_another_watch_after_a_pause_and_a_question(server: Server) -> None:
    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.send(status_line(429, "TooManyRequests"))
        await rig.clock.advance(2)

        assert [(a.verb, a.rv, a.limit) for a in server.asked] == [("list", None, 1), ("watch", "102", 0)]


@pytest.mark.parametrize("code", [500, 503, 403, 404, 400])
async def test_any_other_error_event_leads_to_a_list_after_a_pause(server: Server, code: int) -> None:
    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.send(status_line(code))
        await rig.settle()
        assert [(fact.phase, fact.then) for fact in rig.of(Backed)] == [(Phase.WATCH, Action.SYNC)]
        await rig.clock.advance(2)

        assert [a.initial_events for a in server.asked] == [True]
        assert rig.informer.live


@pytest.mark.parametrize("line", [b"not json", b'{"type":"ADDED"}', b'{"type":"ERROR","object":[]}', b"[]"])
async def test_a_line_that_is_no_event_leads_to_a_list_after_a_pause(server: Server, line: bytes) -> None:
    async with Rig(server).running() as rig:
        await rig.clock.advance(10)
        rig.forget_past()
        server.send(line)
        await rig.settle()

        assert [fact.reason for fact in rig.of(Backed)] == [Trouble.NONSENSE]
        await rig.clock.advance(2)
        rig.assert_converged()


async def test_events_before_an_error_in_the_same_chunk_are_applied(server: Server) -> None:
    async with Rig(server).running() as rig:
        server.put("c")
        server.send(status_line(500))
        await rig.settle()

        assert rig.names == ["a", "b", "c"]


async def test_an_unknown_event_type_moves_the_revision_on(server: Server) -> None:
    async with Rig(server).running() as rig:
        server.revision += 1
        server.send(event_line("INVENTED", server.objects["a"].replace(b'"101"', b'"103"')))
        await rig.settle()

        assert rig.informer.store.revision == "103"
        assert rig.informer.statistics().events["INVENTED"] == 1
        assert len(rig.notices) == 2


async def test_a_bookmark_moves_the_revision_on(server: Server) -> None:
    async with Rig(server).running() as rig:
        server.revision = 500
        await rig.clock.advance(61)

        assert rig.informer.store.revision == "500"
        server.cut()
        await rig.settle()
        assert server.of("watch")[-1].rv == "500"


async def test_a_repeated_event_takes_no_object_back_in_time_or_to_life(server: Server) -> None:
    async with Rig(server).running() as rig:
        old_a, old_b = server.objects["a"], server.objects["b"]
        server.put("a", spec={"size": 2})
        server.delete("b")
        await rig.settle()
        rig.forget_past()
        server.send(event_line("MODIFIED", old_a), event_line("ADDED", old_b))
        await rig.settle()

        assert rig.notices == []
        assert rig.informer.statistics().repeats == 2
        rig.assert_converged()


async def test_a_deletion_at_the_objects_own_revision_counts(server: Server) -> None:
    """Servers before 1.19 sent no revision of the deletion."""
    async with Rig(server).running() as rig:
        server.put("c")
        raw = server.objects.pop("a")
        server.send(event_line("DELETED", raw))
        await rig.settle()

        rig.assert_converged()


async def test_a_deletion_of_something_unknown_is_told_all_the_same(server: Server) -> None:
    async with Rig(server).running() as rig:
        rig.forget_past()
        server.revision += 1
        server.send(event_line("DELETED", server.objects["a"].replace(b'"a"', b'"x"').replace(b'"101"', b'"103"')))
        await rig.settle()

        [notice] = rig.notices
        assert (notice.key, notice.new, notice.evidence) == (key("x"), None, Evidence.DELETED_EVENT)


# Backing off


async def test_the_pauses_are_those_of_client_go(server: Server) -> None:
    """0.8 s doubling to 30 s, each times [1, 2)."""
    server.down = True

    async with Rig(server, LISTING).running(synced=False) as rig:
        await rig.clock.advance(600)

        pauses = [fact.seconds for fact in rig.of(Backed)]
        for pause, base in zip(pauses, [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0, 30.0], strict=False):
            assert base <= pause < 2 * base
        assert [fact.failures for fact in rig.of(Backed)] == list(range(1, len(pauses) + 1))
        times = [asked.at for asked in server.asked]
        assert [b - a for a, b in pairwise(times)] == pytest.approx(pauses[: len(times) - 1])


async def test_two_quiet_minutes_reset_the_pauses(server: Server) -> None:
    async with Rig(server, LISTING).running() as rig:
        for _ in range(5):
            server.send(status_line(500))
            await rig.clock.advance(60)
        assert rig.of(Backed)[-1].seconds > 5
        await rig.clock.advance(121)
        server.send(status_line(500))
        await rig.settle()

        assert rig.of(Backed)[-1].seconds < 1.6


@pytest.mark.parametrize(("asked_for", "kept"), [(30, 30.0), (86_400, 120.0)])
async def test_retry_after_is_heeded_within_reason(server: Server, asked_for: int, kept: float) -> None:
    server.fail_next("list", failure(429, retry_after=asked_for))

    async with Rig(server, LISTING).running(synced=False) as rig:
        await rig.clock.advance(kept - 0.5)
        assert len(server.asked) == 1
        await rig.clock.advance(1)

        assert rig.informer.synced


async def test_a_short_retry_after_does_not_undercut_the_backoff(server: Server) -> None:
    server.fail_next("list", *[failure(503, retry_after=1)] * 8)

    async with Rig(server, LISTING).running(synced=False) as rig:
        await rig.clock.advance(300)

        assert rig.of(Backed)[-1].seconds > 30


# Forcing


@pytest.mark.parametrize("policy", [Policy(), LISTING])
async def test_a_forced_list_gets_the_newest_state_and_a_new_epoch(server: Server, policy: Policy) -> None:
    async with Rig(server, policy).running() as rig:
        rig.forget_past()
        rig.informer.force_relist()
        await rig.settle()

        assert server.asked[0].rv is None
        assert rig.informer.store.epoch == 2
        assert [fact.reason for fact in rig.of(Relisted)] == [Trouble.FORCED]
        assert rig.informer.last_error is None
        assert rig.informer.live
        assert len(server.open_streams) == 1


async def test_a_forced_list_ends_a_pause(server: Server) -> None:
    async with Rig(server, LISTING).running() as rig:
        server.go_down()
        await rig.clock.advance(1000)
        server.down = False
        before = rig.clock.monotonic()
        rig.informer.force_relist()
        await rig.settle()

        assert rig.clock.monotonic() == before
        assert rig.informer.live


async def test_a_pause_that_is_hurried_is_over(server: Server) -> None:
    async with Rig(server).running() as rig:
        server.go_down()
        await rig.clock.advance(1000)
        server.down = False
        before = rig.clock.monotonic()
        rig.informer.hurry()
        await rig.settle()

        assert rig.clock.monotonic() == before
        assert rig.informer.live


async def test_hurrying_one_that_has_nothing_to_wait_for_leaves_its_next_pause_as_it_is(server: Server) -> None:
    async with Rig(server).running() as rig:
        rig.informer.hurry()
        server.go_down()
        await rig.settle()
        server.down = False

        assert rig.of(Backed)
        assert not rig.informer.live


async def test_a_forced_list_during_a_list_starts_that_anew(server: Server) -> None:
    """What has been fetched so far may be what the caller knows to be outdated."""
    async with Rig(server, LISTING).running() as rig:
        rig.forget_past()
        server.latency = 3.0
        rig.informer.force_relist()
        await rig.clock.advance(2)
        rig.informer.force_relist()
        await rig.clock.advance(5)

        assert [a.rv for a in server.of("list")] == [None, None]
        assert len(rig.of(Listed)) == 1


async def test_a_handler_may_force_a_list(server: Server) -> None:
    rig = Rig(server)
    forced: list[str] = []

    def on_c(notice: object) -> None:
        if "c" in rig.names and not forced:
            forced.append("c")
            rig.informer.force_relist()

    rig.informer.add_handler(on_c)
    async with rig.running():
        server.put("c")
        server.put("d")
        await rig.settle()

        assert len(rig.of(Listed)) == 2
        rig.assert_converged()
