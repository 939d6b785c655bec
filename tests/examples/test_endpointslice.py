"""examples/endpointslice: an export, a slice of it, and a partition that may be used."""

from pathlib import Path
from typing import Any

import pytest

from controllers.kinds import EXPORTS, PARTITIONS, SLICES
from informers import Resource
from kcpctl.testing.manifests import read_manifests
from tests.integration.objects import conditions, published, urls
from tests.integration.site import Site

MANIFESTS = Path(__file__).parents[2] / "examples/endpointslice"
KINDS: dict[str, Resource[Any]] = {resource.kind: resource for resource in (EXPORTS, PARTITIONS, SLICES)}


@pytest.fixture
def site() -> Site:
    return Site()


async def test_the_slice_lists_every_shard_and_the_ones_in_europe_when_it_names_that_partition(site: Site) -> None:
    async with site.shard("amber", labels=("region=eu",)) as amber, site.shard("violet"):
        for manifest in read_manifests(MANIFESTS):
            await amber.client.create(KINDS[manifest["kind"]], manifest)
        await site.settle()

        found = await amber.client.get(SLICES, "widgets")
        assert urls(found) == published(amber.workspace, "amber", "violet")
        assert set(conditions(found).values()) == {("True", "")}

        await amber.client.patch(SLICES, "widgets", {"spec": {"partition": "europe"}})
        await site.settle()
        assert urls(await amber.client.get(SLICES, "widgets")) == published(amber.workspace, "amber")

        site.forget_requests()
        await site.clock.advance(1200)
        await site.settle()
        assert site.writes == []
