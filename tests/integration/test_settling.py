"""A removal settles on real clocks as well: their timers go off a little early, and they go on while one looks."""

from collections.abc import Callable

import pytest

from controllers.kinds import EXPORTS, SHARDS, SLICES
from informers import VirtualClock
from informers.clock import Timer
from tests.integration.objects import export, published, slice_of, urls
from tests.integration.site import Site

_STEP = 1e-7
"""Seconds that pass between two looks."""


class Hasty(VirtualClock):
    """Sets timers off so many looks before they are due."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self._looks = looks
        self._passed = 0.0

    def monotonic(self) -> float:
        self._passed += _STEP
        return super().monotonic() + self._passed

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        return super().call_at(when - self._passed - self._looks * _STEP, callback)


@pytest.mark.parametrize("looks", range(10))
async def test_a_removal_settles_although_the_timer_for_it_goes_off_early(looks: int) -> None:
    site = Site(Hasty(looks))
    async with site.shard("amber") as amber, site.shard("violet") as violet:
        await amber.client.create(EXPORTS, export())
        await amber.client.create(SLICES, slice_of())
        await site.clock.advance(30)
        await violet.cache.go_away()
        await site.cache.client().shard("violet").cluster("root").delete(SHARDS, "violet")

        await site.clock.advance(30)

        assert amber.ours.view.held() == []
        assert urls(await amber.client.get(SLICES, "widgets")) == published(amber.workspace, "amber")
