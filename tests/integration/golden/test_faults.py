"""What happened to kcp where nobody recorded the requests, done to the same exports, partitions and slices of ours."""

from collections.abc import AsyncIterator

import pytest

from controllers.kinds import EXPORTS, SLICES
from informers import Client
from tests.golden import golden_dir
from tests.integration.golden.scenarios import everything
from tests.integration.golden.stage import Stage, stage
from tests.integration.objects import REPLICATED, export, slice_of, url_of, urls
from tests.integration.site import Site

AMBER = 17
"""So many slices did the shard amber hold, all of which kcp emptied."""
WATCHED = 480.0
"""Seconds for which nothing was noticed."""


@pytest.fixture
async def ours(site: Site) -> AsyncIterator[Stage]:
    golden_dir()
    async with stage(site) as found:
        await everything(found)
        yield found


def home(ours: Stage, workspace: str) -> Client:
    """Return a client of one of the workspaces of the recordings, at the shard that it is on."""
    shard = {"prov": "amber", "prov2": "root"}[workspace]
    [cluster] = [
        ours.clusters[theirs] for theirs, name in ours.places.items() if name == workspace and theirs in ours.clusters
    ]
    return ours.site.shards[shard].client_of(cluster)


async def published(ours: Stage) -> dict[str, list[str]]:
    """Return what each slice of the provider's workspace publishes."""
    return {found.name: urls(found) for found in await home(ours, "prov").list(SLICES)}


async def copies(site: Site) -> set[tuple[str, str, str]]:
    """Return which copies are in the cache."""
    client = site.cache.client()
    return {(found.key.shard, found.cluster, found.name) for kind in REPLICATED for found in await client.list(kind)}


@pytest.mark.parametrize("revision", [None, 1], ids=["later revisions", "lower revisions"])
async def test_a_cache_that_comes_back_empty_is_noticed_at_once_and_filled_again(
    ours: Stage, site: Site, revision: int | None
) -> None:
    before = await published(ours), await copies(site)
    assert len(before[0]) == AMBER

    await site.restart_cache(empty=True, revision=revision)
    await site.clock.advance(2)

    assert (await published(ours), await copies(site)) == before
    await site.clock.advance(WATCHED)
    assert site.losses() == []


async def test_a_shard_that_restarts_over_an_emptied_cache_empties_none_of_its_slices(ours: Stage, site: Site) -> None:
    before = await published(ours)
    for shard in ("root", "amber", "beryl"):
        await ours.stop(shard)
    await site.restart_cache(empty=True)

    await ours.start("amber")
    await site.clock.advance(WATCHED)

    assert await published(ours) == before
    assert site.losses() == []


async def test_one_object_that_cannot_be_read_stops_nobody_from_hearing_of_the_others(ours: Stage, site: Site) -> None:
    for kind in REPLICATED:
        body = {"metadata": {"name": "broken", "uid": "1", "annotations": {"kcp.io/shard": "zinc"}}, "spec": "text"}
        await site.cache.client().shard("zinc").cluster("zz1").create(kind, body)
    await site.settle()

    await home(ours, "prov").create(EXPORTS, export("after"))
    await home(ours, "prov2").create(SLICES, slice_of("after", export="after", path="root:prov"))
    await site.clock.advance(2)

    assert len(urls(await home(ours, "prov2").get(SLICES, "after"))) == 3
    assert site.losses() == []


async def test_the_deletion_of_one_of_two_twins_leaves_the_other_and_its_shard_keeps_it_right(
    ours: Stage, site: Site
) -> None:
    cluster = (await home(ours, "prov").get(EXPORTS, "things")).cluster
    twins = site.cache.client()
    body = {"metadata": {"name": "things", "uid": "1", "annotations": {"kcp.io/shard": "zinc"}}, "spec": {}}
    await twins.shard("zinc").cluster(cluster).create(EXPORTS, body)
    await site.settle()

    await twins.shard("zinc").cluster(cluster).delete(EXPORTS, "things")
    await site.clock.advance(WATCHED)
    await home(ours, "prov").patch(EXPORTS, "things", {"metadata": {"labels": {"kept": "right"}}})
    await site.clock.advance(2)

    copy = await twins.shard("amber").cluster(cluster).get(EXPORTS, "things")
    assert copy.labels["kept"] == "right"
    assert site.losses() == []


async def test_a_shard_that_is_given_another_url_is_followed_without_any_other_event(ours: Stage, site: Site) -> None:
    before = await published(ours)
    theirs, mine = (f"{url_of(shard)}/" for shard in ("beryl", "elsewhere"))
    wanted = {name: sorted(url.replace(theirs, mine) for url in listed) for name, listed in before.items()}
    assert wanted != before

    await ours.stop("beryl")
    await ours.start("beryl", url=url_of("elsewhere"))
    await site.clock.advance(2)

    assert await published(ours) == wanted
