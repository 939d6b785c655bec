"""What a real kcp said of slices with partitions of all kinds, said by ours."""

from typing import Any

from controllers.endpointslice import PARTITION_VALID
from controllers.kinds import EXPORTS, PARTITIONS, SLICES
from informers.api.objects import Object
from tests.controllers.world import Knowledge, made, shard
from tests.golden import pairs

EXPORT = {"name": "things"}
TOLD = ("status", "reason", "severity", "message")


def recorded() -> tuple[dict[str, Any], dict[str, tuple[Any, dict[str, str]]]]:
    """Return the specs of all partitions, and each slice's spec with what was said of its partition first."""
    partitions: dict[str, Any] = {}
    slices: dict[str, tuple[Any, dict[str, str]]] = {}
    for record in pairs("kcp", "b-partitions-admission.jsonl"):
        sent = record["req"].get("body") if record["kind"] == "call" else None
        if isinstance(sent, dict) and sent.get("kind") == "Partition" and record["resp"]["status"] == 201:
            partitions.setdefault(sent["metadata"]["name"], sent["spec"])
        obj = record["event"]["object"] if record["kind"] == "watch-event" else {}
        if obj.get("kind") != "APIExportEndpointSlice" or obj["spec"]["export"] != EXPORT:
            continue
        for condition in obj.get("status", {}).get("conditions") or ():
            if condition["type"] == PARTITION_VALID:
                said = {name: condition.get(name, "") for name in TOLD}
                slices.setdefault(obj["metadata"]["name"], (obj["spec"], said))
    return partitions, slices


async def test_partitions_are_judged_in_the_words_of_a_real_kcp() -> None:
    partitions, slices = recorded()
    known = Knowledge()
    known.show(shard("amber", home="amber"))
    known.show(made(EXPORTS, EXPORT["name"]))
    for name, spec in partitions.items():
        if name != "missing":  # it was made only after the slice that names it
            known.show(made(PARTITIONS, name, spec=spec))

    found = {name: await judged(known, made(SLICES, name, spec=spec)) for name, (spec, _) in slices.items()}

    assert {said["reason"] for _, said in slices.values()} == {"", "PartitionInvalidReference"}
    assert found == {name: said for name, (_, said) in slices.items()}


async def judged(known: Knowledge, obj: Object[Any]) -> dict[str, str]:
    result = await known.slices()(obj, known.cluster())
    assert result is not None
    assert isinstance(result.status, dict)
    [condition] = [one for one in result.status["conditions"] if one["type"] == PARTITION_VALID]
    return {name: condition.get(name, "") for name in TOLD}
