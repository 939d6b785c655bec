"""What happens becomes log events with fixed names; trouble is told once, and so is its end."""

import io
import json
import logging
import subprocess
import sys
from typing import Any

import pytest
import structlog

from controllers import records
from controllers.entries import Removal
from informers.api.errors import ConnectionRefused, Forbidden, TerminalError
from informers.api.objects import Key
from informers.api.resources import Collection, Resource
from informers.api.status import Status
from informers.cache import facts as cache
from informers.cache.recovery import Action, Phase, Trouble
from informers.client.records import WarningReceived
from informers.runtime.facts import LeftBehind, Outcome, Reconciled, Stopping, Undone
from kcpctl.logs import configure
from kcpctl.overheard import Overheard
from kcpctl.streaks import Streaks
from kcpctl.telling import LogObserver

ORIGIN = cache.Origin("local", Collection(Resource("example.com", "v1", "things"), cluster="*"))
REFUSED = ConnectionRefused("nobody listens at 127.0.0.1:1")


def backed(reason: Trouble = Trouble.REFUSED, failures: int = 1) -> cache.Backed:
    return cache.Backed(ORIGIN, Phase.LIST, reason, REFUSED, 0.8, Action.LIST, failures)


def visited(outcome: Outcome, error: Exception | None = None) -> Reconciled:
    return Reconciled("thing", Key("", "c1", "", "a"), 2, 0.00123, outcome, retry_in=0.01, error=error)


def told(*facts: Any, level: str = "info") -> list[dict[str, Any]]:
    with structlog.testing.capture_logs() as events:
        observer = LogObserver(structlog.get_logger())
        for fact in facts:
            observer.notice(fact)
    levels = ["debug", "info", "warning", "error"]
    return [dict(e) for e in events if levels.index(e["log_level"]) >= levels.index(level)]


def test_a_failed_visit_names_controller_cluster_key_and_attempt() -> None:
    [event] = told(visited(Outcome.ERROR, ValueError("no")))

    assert event["event"] == "reconcile failed"
    assert (event["controller"], event["cluster"], event["key"], event["attempt"]) == ("thing", "c1", "c1|a", 2)
    assert event["retry_in"] == 0.01


@pytest.mark.parametrize("outcome", [Outcome.SUCCESS, Outcome.CONFLICT, Outcome.REQUEUED, Outcome.GONE])
def test_what_goes_well_is_quiet(outcome: Outcome) -> None:
    assert told(visited(outcome)) == []


def test_trouble_is_told_once_until_it_changes() -> None:
    events = told(backed(), backed(failures=2), backed(failures=3))

    assert [e["event"] for e in events] == ["informer has trouble"]
    assert len(told(backed(), backed(Trouble.SILENT))) == 2


def test_a_resource_that_a_server_does_not_serve_is_one_line_that_says_what_goes_on() -> None:
    [event] = told(backed(Trouble.MISSING), backed(Trouble.MISSING, 2))

    assert event == {
        "event": "resource is not served there, asking until it is",
        "log_level": "warning",
        "server": "local",
        "resource": "*/things.v1.example.com",
        "retry_in": 0.8,
    }


def test_the_end_of_trouble_is_told() -> None:
    started = cache.WatchStarted(ORIGIN, "7", 300.0)

    assert [e["event"] for e in told(backed(), started)] == ["informer has trouble", "informer is well again"]
    assert told(started) == []


def test_a_slow_first_sync_is_told_and_a_quick_one_is_not() -> None:
    def listed(took: float) -> cache.Listed:
        return cache.Listed(ORIGIN, "7", 5, 0, 1, took, True, True)

    assert told(listed(0.1)) == []
    assert [e["objects"] for e in told(listed(1.5))] == [5]


def failures(*errors: Exception | None) -> list[int]:
    """Return which visits of one key, each with its error or none, are told of as failed, by their count in a row."""
    facts = [visited(Outcome.ERROR if error else Outcome.SUCCESS, error) for error in errors]
    return [event["failures"] for event in told(*facts)]


def test_of_many_equal_failures_in_a_row_the_first_second_fourth_and_eighth_are_told() -> None:
    assert failures(*[ValueError("no")] * 20) == [1, 2, 4, 8, 16]


def test_a_key_that_changes_wake_to_the_same_end_again_and_again_is_told_of_ever_less_often() -> None:
    events = told(*[visited(Outcome.TERMINAL, TerminalError("never"))] * 9)

    assert [(event["log_level"], event["failures"]) for event in events] == [("error", n) for n in (1, 2, 4, 8)]


def test_a_success_ends_the_row_and_another_error_is_told_at_once() -> None:
    no = ValueError("no")

    assert failures(no, no, no, None, no) == [1, 2, 1]
    assert failures(*[no] * 3, KeyError("other"), KeyError("other")) == [1, 2, 4]


def test_rows_without_end_are_not_all_remembered() -> None:
    streaks = Streaks()
    for number in range(10_001):
        streaks.failed(number, "how")

    assert streaks.failed(0, "how") == (1, True)
    assert streaks.failed(10_000, "how") == (2, True)


def test_a_list_that_somebody_asked_for_is_told_once_and_is_no_error() -> None:
    forced = cache.Relisted(ORIGIN, Phase.LIST, Trouble.FORCED, REFUSED)
    started = cache.WatchStarted(ORIGIN, "7", 300.0)

    [first, second] = told(forced, forced, started, forced)

    assert first == second
    assert first["event"] == "listing again"
    assert "error" not in first
    [other] = told(cache.Relisted(ORIGIN, Phase.CHECK, Trouble.BEHIND, REFUSED))
    assert other["error"] is REFUSED


@pytest.mark.parametrize("form", ["console", "json"])
def test_moments_are_printed_as_kubernetes_prints_them(form: str) -> None:
    script = f"""
from datetime import UTC, datetime
from kcpctl.logs import configure, logger
configure("{form}", 0)
logger().warning("it was taken", since=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC))
"""
    heard = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert "2026-01-02T03:04:05Z" in heard.stderr
    assert "datetime" not in heard.stderr


def test_facts_of_other_kinds_are_left_alone() -> None:
    assert told(object(), level="debug") == []


def test_json_lines_hold_one_line_a_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr("sys.stderr", out)
    monkeypatch.setattr("logging.lastResort", None)  # is put back, too
    before = structlog.get_config()
    try:
        configure("json", 0)
        LogObserver().notice(visited(Outcome.ERROR, ValueError("one\ntwo")))
    finally:
        structlog.configure(**before)

    line = json.loads(out.getvalue())
    assert line["error"] == "ValueError: one; two"
    assert line["level"] == "warning"


def test_what_a_library_logs_is_one_line_of_the_same_form() -> None:
    script = """
import logging
from kcpctl.logs import configure
configure("json", 0)
try:
    raise ValueError("one\\ntwo")
except ValueError:
    logging.getLogger("lib.part").exception("lost %s\\nof it", "all")
logging.getLogger("lib").info("hello")
"""
    heard = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    line = json.loads(heard.stderr)
    assert line.items() >= {"level": "error", "library": "lib.part", "said": "lost all; of it"}.items()
    assert line["error"] == "ValueError: one; two"


def test_a_library_that_says_something_wrong_is_heard_as_far_as_it_can_be() -> None:
    with structlog.testing.capture_logs() as events:
        overheard = Overheard(structlog.get_logger())
        overheard.handle(logging.LogRecord("lib", logging.WARNING, __file__, 1, "%d of %d", ("some",), None))

    assert [(event["log_level"], event["said"]) for event in events] == [("warning", "%d of %d")]


def test_what_a_library_logs_goes_only_where_it_was_sent() -> None:
    script = """
import logging, sys
from kcpctl.logs import configure
logging.basicConfig(stream=sys.stdout, format="%(message)s")
configure("json", 0)
logging.getLogger("lib").warning("mine")
"""
    heard = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert (heard.stdout, heard.stderr) == ("mine\n", "")


def test_a_stop_names_a_few_of_the_visits_that_it_waits_for_and_counts_the_others() -> None:
    visits = tuple(("team", Key("", "", "default", f"t{number}")) for number in range(20))

    [event] = told(Stopping(10.0, visits))

    assert event["waiting_for"] == [*(f"team default/t{number}" for number in range(5)), "15 more"]


def test_a_failed_visit_says_where_in_the_controller_it_failed() -> None:
    try:
        dict[str, int]()["nmae"]
    except KeyError as error:
        event, detail = told(visited(Outcome.ERROR, error), level="debug")

    assert event["at"].rpartition(":")[0] == __file__
    assert "KeyError: 'nmae'" in detail["trace"]


def test_visits_that_cannot_be_ended_are_named() -> None:
    [event] = told(LeftBehind((("thing", Key("", "c1", "", "a")),)))

    assert (event["log_level"], event["visits"]) == ("error", ["thing c1|a"])


def warned(text: str, name: str = "red", server: str = "local") -> WarningReceived:
    return WarningReceived(server, "PATCH", f"/apis/example.com/v1/teams/{name}/status", text)


def test_a_warning_of_a_server_is_passed_on_once_for_each_text() -> None:
    events = told(warned("no a"), warned("no a", "blue"), warned("no b"), warned("no a", server="cache"))

    assert [(e["server"], e["warning"]) for e in events] == [("local", "no a"), ("local", "no b"), ("cache", "no a")]
    assert (events[0]["event"], events[0]["log_level"], events[0]["method"]) == ("server warns", "warning", "PATCH")
    assert events[0]["target"] == "/apis/example.com/v1/teams/red/status"


def test_warnings_without_end_are_not_all_remembered() -> None:
    observer = LogObserver(structlog.get_logger())
    with structlog.testing.capture_logs() as events:
        for number in range(1001):
            observer.notice(warned(f"no {number}"))
        events.clear()
        observer.notice(warned("no 1000"))
        observer.notice(warned("no 0"))

    assert [event["log_level"] for event in events] == ["debug", "warning"]


def test_what_becomes_of_removals_is_told_and_that_the_cache_is_away_is_not_told_twice() -> None:
    removal = Removal("shards", "amber", "root", "amber", "u1")
    about = {"resource": "shards", "shard": "amber", "cluster": "root", "name": "amber"}

    events = told(
        records.Acknowledged(removal, 3),
        records.Disproved(removal),
        records.NotAcknowledged(REFUSED, 2.04),
        records.NotFollowed(REFUSED, 2.0),
        records.NotFollowed(Forbidden(Status(code=403, message="no")), 2.0),
    )

    assert events[0] == {"event": "a removal was acted upon", "log_level": "info", "let_go": 3} | about
    assert about.items() <= events[1].items()
    assert [event["event"] for event in events[2:]] == [
        "removals cannot be acknowledged",
        "removals are not followed yet",
    ]


def test_two_writers_of_one_field_are_told_of_with_what_to_do() -> None:
    fields = tuple(f"status.f{n}" for n in range(7))
    [event] = told(Undone("thing", Key("", "c1", "", "a"), fields, 10, 0.01234, 1.0))

    assert event["log_level"] == "warning"
    assert "let one writer set each field" in event["event"]
    assert (event["controller"], event["cluster"], event["key"]) == ("thing", "c1", "c1|a")
    assert event["fields"] == [*fields[:5], "2 more"]
    assert (event["writes"], event["within"], event["retry_in"]) == (10, 0.012, 1.0)
