"""A controller that measures the loop it runs on, from inside the process that is measured.

It waits for a ConfigMap `loop` whose `phase` is `begin`, follows all ConfigMaps of its workspace with an informer of
its own, and makes the phase `measuring`. From then on until the phase is `end` a task ticks every millisecond, while
the informer fetches everything anew. What was found is then in the ConfigMap, and the phase is `measured`.
"""

import asyncio
from asyncio import Event
from typing import Any

from informers import Cluster, Notice, Object, Resource, SharedInformer, controller
from informers.api.resources import Collection
from informers.tasks import background
from tests.bench.measure import Ticker

NAME = "loop"
CONFIGMAPS = Resource("", "v1", "configmaps")


def begins(old: Object[Any] | None, new: Object[Any] | None) -> bool:
    """Keep the ConfigMap that asks for a measurement."""
    return _phase(new) == "begin"


@controller(CONFIGMAPS, where=begins)
async def loop(asked: Object[Any], cluster: Cluster) -> None:
    """Measure until told to end."""
    if _phase(asked) != "begin":
        return

    async def say(**data: str) -> None:
        await cluster.client.patch(CONFIGMAPS, NAME, {"data": data}, namespace=asked.namespace)

    def notice(change: Notice[Any]) -> None:
        if _phase(change.new) == "end":
            ended.set()

    ended, ticker = Event(), Ticker()
    informer = SharedInformer(cluster.client, Collection(CONFIGMAPS, cluster=cluster.name))
    informer.add_handler(notice)
    async with background(informer.run()):
        await informer.wait_synced()
        epoch = informer.store.epoch
        async with background(ticker.run()):
            await say(phase="measuring")
            informer.force_relist()
            while informer.store.epoch == epoch:
                await asyncio.sleep(0.01)
            await ended.wait()
    await say(phase="measured", block_ms=str(ticker.longest * 1e3), work_ms=str(ticker.longest_work * 1e3))


def _phase(obj: Object[Any] | None) -> str:
    return str(obj.at("data", "phase")) if obj is not None and obj.name == NAME else ""
