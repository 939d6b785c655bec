import asyncio
from datetime import timedelta

import pytest

from informers.api.errors import ConfigurationError, ConnectError
from informers.client.renewing import Renewal, Renewing, before
from informers.clock import VirtualClock
from informers.tasks import background


class Source:
    """Gives out numbered values, or the error that it is told; counts."""

    def __init__(self, clock, *, renew_in=60.0, lasts=None):
        self.clock = clock
        self.renew_in = renew_in
        self.lasts = lasts
        self.runs = 0
        self.error = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self):
        self.runs += 1
        await self.gate.wait()
        if self.error:
            raise self.error
        expires_at = self.clock.now() + timedelta(seconds=self.lasts) if self.lasts else None
        return Renewal(self.runs, self.renew_in, expires_at)


@pytest.fixture
def clock():
    return VirtualClock()


async def test_a_value_is_kept_until_it_is_due(clock):
    source = Source(clock)
    renewing = Renewing(source, clock)

    found = []
    for seconds in (0, 59, 1, 59, 1):
        await clock.advance(seconds)
        found.append(await renewing.get())

    assert found == [1, 1, 2, 2, 3]


async def test_a_refused_value_is_had_anew_once(clock):
    renewing = Renewing(Source(clock), clock)
    await renewing.get()

    renewing.invalidate()
    renewing.invalidate()

    assert [await renewing.get(), await renewing.get()] == [2, 2]


async def test_whoever_asks_during_a_renewal_shares_it(clock):
    source = Source(clock)
    source.gate.clear()
    renewing = Renewing(source, clock)

    async with background(*(renewing.get() for _ in range(50))) as tasks:
        await clock.run_until_idle()
        source.gate.set()
        found = [await task for task in tasks]

    assert (found, source.runs) == ([1] * 50, 1)


async def test_whoever_asks_during_a_renewal_shares_its_failure(clock):
    """Fifty requests must not start a failing plugin fifty times, one after the other."""
    source = Source(clock)
    source.gate.clear()
    source.error = ConfigurationError("no")
    renewing = Renewing(source, clock)

    async def failing():
        with pytest.raises(ConfigurationError):
            await renewing.get()

    async with background(*(failing() for _ in range(50))) as tasks:
        await clock.run_until_idle()
        source.gate.set()
        for task in tasks:
            await task

    assert source.runs == 1


async def test_a_shared_failure_does_not_collect_the_frames_of_all_who_hear_of_it(clock):
    source = Source(clock)
    source.gate.clear()
    source.error = ConfigurationError("no")
    renewing = Renewing(source, clock)
    depths = []

    async def failing():
        with pytest.raises(ConfigurationError) as caught:
            await renewing.get()
        depths.append(len(caught.traceback))

    async with background(*(failing() for _ in range(50))) as tasks:
        await clock.run_until_idle()
        source.gate.set()
        for task in tasks:
            await task

    assert max(depths) < 10


async def test_the_one_who_asked_first_takes_nothing_from_the_others_when_it_is_cancelled(clock):
    """A reconcile that times out must not end the login that somebody is busy with."""
    source = Source(clock)
    source.gate.clear()
    renewing = Renewing(source, clock)

    async with background(renewing.get(), renewing.get()) as [first, second]:
        await clock.run_until_idle()
        first.cancel()
        await clock.run_until_idle()
        source.gate.set()

        assert (await second, source.runs) == (1, 1)


async def test_a_renewal_ends_well_though_nobody_waits_any_more(clock):
    """The issuer may have taken the refresh token already: what it gave for it must not be lost."""
    source = Source(clock)
    source.gate.clear()
    renewing = Renewing(source, clock)

    async with background(renewing.get()):
        await clock.run_until_idle()
    source.gate.set()
    await clock.run_until_idle()

    assert (await renewing.get(), source.runs) == (1, 1)


async def test_closing_ends_the_renewal_under_way_and_says_so_to_those_who_wait(clock):
    source = Source(clock)
    source.gate.clear()
    renewing = Renewing(source, clock)

    async def waiting():
        with pytest.raises(ConnectError, match="closed while they were being renewed"):
            await renewing.get()

    async with background(waiting(), waiting()) as tasks:
        await clock.run_until_idle()
        await renewing.aclose()
        for task in tasks:
            await task

    assert len(asyncio.all_tasks()) == 1


async def test_a_value_that_is_refused_while_it_is_renewed_is_had_once_more(clock):
    """The renewal that runs may bring the very value that was refused: a certificate read before it was replaced."""
    source = Source(clock)
    source.gate.clear()
    renewing = Renewing(source, clock)

    async with background(renewing.get()) as [early]:
        await clock.run_until_idle()
        renewing.invalidate()
        async with background(renewing.get()) as [late]:
            await clock.run_until_idle()
            source.gate.set()

            assert [await early, await late, await renewing.get()] == [2, 2, 2]


async def test_a_failure_goes_unnoticed_while_the_old_value_is_good(clock):
    source = Source(clock, renew_in=60, lasts=100)
    renewing = Renewing(source, clock)
    await renewing.get()
    source.error = ConfigurationError("no")

    await clock.advance(60)
    assert [await renewing.get(), await renewing.get()] == [1, 1]
    assert source.runs == 2

    await clock.advance(40)
    with pytest.raises(ConfigurationError):
        await renewing.get()


async def test_a_failure_is_noticed_when_the_old_value_was_refused(clock):
    source = Source(clock)
    renewing = Renewing(source, clock)
    await renewing.get()
    source.error = ConfigurationError("no")

    renewing.invalidate()

    for _ in range(2):
        with pytest.raises(ConfigurationError):
            await renewing.get()


async def test_a_value_that_came_expired_by_the_wall_is_had_anew(clock):
    """A laptop that slept: the monotonic clock stood still, the wall clock did not."""
    source = Source(clock, renew_in=1e9, lasts=10)
    renewing = Renewing(source, clock)
    await renewing.get()

    await clock.advance(10)

    assert await renewing.get() == 2


@pytest.mark.parametrize(("lifetime", "renew_in"), [(3600, 3570), (150, 120), (100, 80), (5, 4)])
def test_renewal_comes_half_a_minute_early_or_when_a_fifth_is_left(clock, lifetime, renew_in):
    now = clock.now()

    assert before(now + timedelta(seconds=lifetime), now) == renew_in
