"""What was there when each recording began, made from what the recordings themselves show of it."""

from collections.abc import Awaitable, Callable

from tests.integration.golden.likeness import in_older_form
from tests.integration.golden.recording import answer, moments, workspaces
from tests.integration.golden.stage import Stage
from tests.integration.objects import JSON

PARTITIONS = "b-partitions-admission"
REPLICATION = "d-replication"


async def nothing(stage: Stage) -> None:
    """Begin with three shards that hold nothing."""


async def exports(stage: Stage) -> None:
    """Begin with the exports that the life of a slice has left."""
    cluster, _ = workspaces()["prov"]
    for moment in moments("b-slice-lifecycle"):
        if moment.id in ("B.export.again", "B.export.v1create", "B.export.skip"):
            body = moment.record["req"]["body"]
            notes = {"kcp.io/cluster": cluster, **body["metadata"].get("annotations", {})}
            await stage.create(body | {"metadata": body["metadata"] | {"annotations": notes}})


async def everything(stage: Stage) -> None:
    """Begin with all partitions, exports and slices."""
    for partition in partitions():
        await stage.create(partition)
    for plural in ("apiexports", "apiexportendpointslices"):
        for item in answer(REPLICATION, f"D.list.{plural}.apis.kcp.io")["items"]:
            await stage.create(in_older_form(item))
    await stage.site.settle()


def partitions() -> list[JSON]:
    """Return the partitions that the scenario about them has left."""
    calls = [m.record for m in moments(PARTITIONS) if m.kind == "call" and m.path.endswith("/partitions")]
    made = [call["resp"]["body"] for call in calls if call["resp"]["status"] == 201]
    return list({one["metadata"]["name"]: one for one in made}.values())


SCENARIOS: dict[str, Callable[[Stage], Awaitable[None]]] = {
    "b-slice-lifecycle": nothing,
    PARTITIONS: exports,
    "b-shard-object-reregistered": everything,
    REPLICATION: everything,
    "e-faults": everything,
}
"""What is made before each recording is played."""
