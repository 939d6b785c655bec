"""Another process that has the segment is watched, and who waits for it says so once."""

from datetime import UTC, datetime
from typing import Any

import pytest

from controllers.copies import HOLDER
from controllers.entries import Moment
from controllers.holding import Holder
from controllers.kinds import SHARDS
from controllers.rivals import Rivals, Waiting
from informers import ConfigurationError, Object, VirtualClock
from tests.controllers.world import made


def copy(*, minute: int = 0, released: bool = False) -> Object[Any]:
    holder = Holder(Moment("store"), "process", datetime(2026, 1, 1, 0, minute, tzinfo=UTC), released=released)
    return made(SHARDS, "amber", "root", annotations={HOLDER: holder.text})


@pytest.mark.parametrize("released", [True, False])
async def test_it_is_silent_after_fifteen_seconds_whether_it_said_that_it_stops_or_not(released: bool) -> None:
    clock, told = VirtualClock(), list[Any]()
    rivals = Rivals("amber", clock, told.append)

    for _ in range(15):
        assert not rivals.is_silent(copy(released=released))
        assert rivals.may_return()
        await clock.advance(1)

    assert rivals.is_silent(copy(released=released))
    assert not rivals.may_return()
    assert told == [Waiting("amber", 15.0, released, "an unknown URL")], "once"


async def test_time_in_which_nobody_could_see_it_does_not_count() -> None:
    clock = VirtualClock()
    rivals = Rivals("amber", clock, lambda fact: None)
    assert not rivals.is_silent(copy())

    await clock.advance(5)
    assert rivals.remaining == 10
    rivals.lose_sight()
    await clock.advance(60)
    assert rivals.remaining == 15, "and to ask does not begin it"

    assert not rivals.is_silent(copy())
    await clock.advance(15)
    assert rivals.is_silent(copy())


async def test_once_it_shows_life_the_other_one_ends() -> None:
    rivals = Rivals("amber", VirtualClock(), lambda fact: None)
    assert not rivals.is_silent(copy(released=True))

    with pytest.raises(ConfigurationError, match="expected to be the only shard named 'amber'"):
        rivals.is_silent(copy(minute=1))
