"""A report says of each endpoint where it is from and how old that is, and of the cache since when it is gone."""

from datetime import UTC, datetime, timedelta

from controllers.kinds import EXPORTS, SLICES
from kcpctl.collecting import collect
from kcpctl.quarantines import Quarantines
from kcpctl.report import Process, Report
from tests.integration.objects import export, slice_of
from tests.integration.site import ShardProcess, Site

PROCESS = Process("0.1.0", 1, datetime(2026, 1, 1, tzinfo=UTC), "/data", "amber")


def report_of(shard: ShardProcess) -> Report:
    return collect(PROCESS, shard.running.manager, shard.ours, Quarantines())


def sources(report: Report) -> list[tuple[str, str]]:
    return [(endpoint.shard, endpoint.source) for one in report.slices for endpoint in one.endpoints]


async def with_a_slice(site: Site, shard: ShardProcess, *, away: tuple[str, ...] = ()) -> None:
    await shard.client.create(EXPORTS, export())
    await shard.client.create(SLICES, slice_of())
    await site.settle(away=away)


async def test_endpoints_are_local_or_from_the_cache_and_as_old_as_what_was_last_heard(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber, site.shard("violet"):
        await with_a_slice(site, amber)

        report = report_of(amber)

        assert sources(report) == [("amber", "local"), ("violet", "cache")]
        assert all(endpoint.since == site.clock.now() for endpoint in report.slices[0].endpoints)
        assert report.slices[0].complete
        assert (report.slices[0].cluster, report.slices[0].path) == (amber.workspace, "root:example")
        assert report.cache is not None
        assert report.cache.reachable
        amber_view, violet_view = report.shards
        assert (amber_view.name, amber_view.labels) == ("amber", {"name": "amber", "region": "eu"})
        assert [source.source for source in amber_view.sources] == ["local", "cache"]
        assert [source.source for source in violet_view.sources] == ["cache"]


async def test_a_cache_that_went_away_is_stale_since_it_was_last_heard(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet"):
        await with_a_slice(site, amber)
        gone = site.clock.now()
        await amber.cache.go_away()
        await site.clock.advance(100)

        report = report_of(amber)

        assert report.cache is not None
        assert (report.cache.synced, report.cache.reachable) == (True, False)
        assert report.cache.stale_since == gone
        assert report.slices[0].complete
        assert sources(report) == [("amber", "local"), ("violet", "cache")]
        assert report.slices[0].endpoints[1].since == gone
        assert report.slices[0].endpoints[0].since >= gone + timedelta(seconds=60)  # type: ignore[operator]
        assert any("ConnectionRefused" in one.last_error for one in report.informers if one.server == "cache")


async def test_before_the_cache_was_ever_reached_a_view_is_not_complete(site: Site) -> None:
    async with site.shard("amber", cache="away") as amber:
        await site.clock.advance(3)
        await with_a_slice(site, amber, away=("cache",))

        report = report_of(amber)

        assert report.cache is not None
        assert (report.cache.synced, report.cache.reachable, report.cache.stale_since) == (False, False, None)
        assert not report.slices[0].complete
        assert sources(report) == [("amber", "local")]


async def test_a_url_that_no_known_shard_has_is_held(site: Site) -> None:
    async with site.shard("amber") as amber:
        await with_a_slice(site, amber)
        stale = {"status": {"endpoints": [{"url": "https://gone.example.com/services/apiexport/x/widgets"}]}}
        await amber.client.patch(SLICES, "widgets", stale, subresource="status")
        await site.settle()

        assert ("", "held") in sources(report_of(amber))
