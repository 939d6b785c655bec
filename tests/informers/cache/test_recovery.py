"""Promises of the recovery table, and of what it is asked with."""

from itertools import product
from random import Random

import pytest

from informers.api.errors import (
    ConfigurationError,
    ConnectError,
    ConnectionRefused,
    DecodeError,
    Disconnected,
    InformersError,
    ReadTimeout,
)
from informers.cache.backoff import Backoff
from informers.cache.policy import Policy
from informers.cache.pulse import Pulse
from informers.cache.recovery import RECOVERY, Action, Pause, Phase, Trouble, decide, trouble_of
from informers.cache.revisions import is_older
from informers.clock import VirtualClock
from tests.informers.cache.scripted import failure, too_large


@pytest.mark.parametrize(("phase", "trouble"), list(product(Phase, Trouble)))
def test_every_trouble_in_every_phase_has_a_rule(phase: Phase, trouble: Trouble) -> None:
    assert decide(phase, trouble).reason


def test_every_rule_is_the_first_for_something() -> None:
    """A row that another one hides would be a rule that is written and not kept."""
    used = {id(decide(phase, trouble)) for phase, trouble in product(Phase, Trouble)}

    assert used == {id(rule) for rule in RECOVERY}


def test_nothing_is_repeated_at_once_but_what_cannot_repeat_for_ever() -> None:
    """A rule without a pause leads on to another phase, drops the revision that was at fault, or applies once."""
    once = {(Phase.STREAM, Trouble.ENDED)}  # the second time it is ENDED_AGAIN
    lasting = {Trouble.ENDED_ON_TIME, Trouble.UNEVENTFUL, Trouble.ENDED, Trouble.BROKEN, Trouble.SILENT, Trouble.BEHIND}
    lasting |= {Trouble.REPLACED}  # without a pause it is found after a watch, or drops the revision
    slow = {Trouble.FORCED, *lasting}  # a watch that did not last a second is SHORT
    for phase, trouble in product(Phase, Trouble):
        rule = decide(phase, trouble)
        if rule.pause is not Pause.NONE or trouble in slow or (phase, trouble) in once:
            continue
        assert (phase, rule.action) in {
            (Phase.STREAM, Action.SYNC_AFRESH),
            (Phase.STREAM, Action.LIST),
            (Phase.LIST, Action.LIST_AFRESH),
            (Phase.PAGE, Action.LIST_WHOLE),
        }


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (failure(410, "Expired"), Trouble.EXPIRED),
        (failure(410), Trouble.EXPIRED),
        (failure(0, "Gone"), Trouble.EXPIRED),
        (failure(500, "Expired"), Trouble.EXPIRED),
        (too_large(5), Trouble.TOO_LARGE),
        (failure(504, "Timeout"), Trouble.FAILED),
        (failure(429), Trouble.THROTTLED),
        (failure(401), Trouble.DENIED),
        (failure(403), Trouble.DENIED),
        (failure(404), Trouble.MISSING),
        (failure(405), Trouble.REJECTED),
        (failure(422), Trouble.REJECTED),
        (failure(418), Trouble.REJECTED),
        (failure(500), Trouble.FAILED),
        (failure(503), Trouble.FAILED),
        (failure(599), Trouble.FAILED),
        (ConnectionRefused(""), Trouble.REFUSED),
        (ConnectError(""), Trouble.BROKEN),
        (Disconnected(""), Trouble.BROKEN),
        (ReadTimeout(""), Trouble.SILENT),
        (DecodeError(""), Trouble.NONSENSE),
        (ConfigurationError(""), Trouble.DENIED),
        (InformersError(""), Trouble.FAILED),
    ],
)
def test_errors_are_told_apart(error: InformersError, trouble: Trouble) -> None:
    assert trouble_of(error) is trouble


def test_a_request_without_a_revision_cannot_be_at_fault_for_one() -> None:
    assert trouble_of(failure(410), afresh=True) is Trouble.FAILED
    assert trouble_of(too_large(5), afresh=True) is Trouble.FAILED
    assert trouble_of(failure(404), afresh=True) is Trouble.MISSING


@pytest.mark.parametrize(
    ("one", "other", "older"),
    [
        ("9", "10", True),
        ("10", "9", False),
        ("10", "10", False),
        ("123456789012345678901234567890", "123456789012345678901234567891", True),
        ("", "1", False),
        ("a", "bb", False),
        ("9", "1x", False),
        ("0", "1", False),
        ("٣", "5", False),
    ],
)
def test_revisions_compare_as_numbers_of_any_length_or_not_at_all(one: str, other: str, *, older: bool) -> None:
    assert is_older(one, other) is older


async def test_a_backoff_that_succeeded_starts_over() -> None:
    backoff = Backoff(VirtualClock(), Random(1))
    for _ in range(10):
        backoff.next()

    backoff.reset()

    assert backoff.next() < 1.6


async def test_a_backoff_asked_every_two_minutes_goes_on() -> None:
    """Only more than two minutes without a failure reset it."""
    clock = VirtualClock()
    backoff = Backoff(clock, Random(1))
    delays = []
    for _ in range(8):
        await clock.advance(120)
        delays.append(backoff.next())

    assert delays[-1] >= 30


# Silence


def test_a_server_that_sends_no_bookmarks_may_be_silent_until_its_time_is_up() -> None:
    pulse = Pulse(Policy(margin=15))
    pulse.opened(0.0, 400.0)

    assert pulse.deadline() == 415.0


def test_a_server_that_sends_bookmarks_must_not_miss_them() -> None:
    pulse = Pulse(Policy())
    pulse.opened(0.0, 400.0)
    pulse.heard = 60.5
    pulse.bookmark(60.5)

    assert pulse.deadline() == 60.5 + 2.5 * 60.5


def test_rare_bookmarks_are_no_reason_to_expect_more() -> None:
    """A server that sends a single one, just before the end, is left alone until its time is up."""
    pulse = Pulse(Policy(margin=15))
    pulse.opened(0.0, 400.0)
    pulse.heard = 398.0
    pulse.bookmark(398.0)
    pulse.closed()
    pulse.opened(400.0, 800.0)

    assert pulse.deadline() == 815.0


def test_the_time_between_two_watches_is_no_bookmark_period() -> None:
    pulse = Pulse(Policy())
    pulse.opened(0.0, 400.0)
    pulse.bookmark(60.0)
    pulse.opened(400.0, 800.0)
    pulse.heard = 460.0
    pulse.bookmark(460.0)

    assert pulse.deadline() == 460.0 + 150.0


def test_bookmarks_that_follow_each_other_closely_promise_nothing() -> None:
    pulse = Pulse(Policy())
    pulse.opened(0.0, 400.0)
    pulse.heard = 1.0
    pulse.bookmark(1.0)

    assert pulse.deadline() == 1.0 + 150.0


def test_a_closed_watch_is_not_alive() -> None:
    pulse = Pulse(Policy())
    pulse.opened(0.0, 400.0)
    assert pulse.alive(10.0)

    pulse.closed()

    assert not pulse.alive(10.0)
