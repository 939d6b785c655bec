"""What is held shows in the metrics, as it does in conditions and in the status."""

from controllers.kinds import EXPORTS, SHARDS, SLICES
from kcpctl.figures import figures_of
from kcpctl.metrics import Metrics
from tests.integration.objects import export, slice_of
from tests.integration.site import ShardProcess, Site


def figures(shard: ShardProcess) -> dict[str, str]:
    """Return what the shard's metrics say now."""
    text = Metrics(*figures_of(shard.running.manager, shard.ours)).text().decode()
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


async def test_what_is_held_is_counted_and_counts_no_more_when_it_is_back(site: Site) -> None:
    async with site.shard("amber") as amber:
        async with site.shard("violet", is_killed=True) as violet:
            await violet.client.create(EXPORTS, export("of-violet"))
            for name in ("one", "two"):
                await amber.client.create(SLICES, slice_of(name))
            await amber.client.create(SLICES, slice_of("far", path=violet.workspace, export="of-violet"))
            await amber.client.create(EXPORTS, export())
            await site.settle()
            assert "kcpctl_held_objects" not in str(figures(amber))
        await site.restart_cache(empty=True)
        await site.settle()

        found = figures(amber)

        assert found['kcpctl_held_objects{kind="shards",source="cache",state="held"}'] == "1"
        assert found['kcpctl_held_objects{kind="apiexports",source="cache",state="held"}'] == "1"
        assert found["kcpctl_held_endpoints"] == "4", "one each, and both of the slice whose export is held"

        async with site.shard("violet"):
            await site.settle()
            assert figures(amber)["kcpctl_held_endpoints"] == "0"


async def test_informers_controllers_and_the_lease_show_as_they_are(site: Site) -> None:
    async with site.shard("amber") as amber, site.shard("violet"):
        await site.settle()
        await amber.cache.go_away()
        await site.clock.advance(60)

        found = figures(amber)

        copies = f'{{server="cache",resource="{SHARDS}"}}'
        assert [found[f"kcpctl_informer_{what}{copies}"] for what in ("synced", "live", "objects")] == ["1", "0", "2"]
        assert found["kcpctl_lease_held"] == "0"
        assert found["kcpctl_view_complete"] == "1"
        assert found['kcpctl_controller_keys{controller="shard-registration",state="active"}'] == "0"
        visits = 'kcpctl_controller_visits_total{controller="shard-registration",outcome="'
        assert sum(int(value) for name, value in found.items() if name.startswith(visits)) > 0
