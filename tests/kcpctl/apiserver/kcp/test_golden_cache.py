"""What a real cache server answered, asked again of ours in the same order."""

from datetime import UTC, datetime
from typing import Any

import yaml

from informers.clock import VirtualClock
from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.assembly import CacheServer
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.http.inprocess import InProcess
from kcpctl.apiserver.storage.memory import MemoryStorage
from tests.kcpctl.apiserver.asking import Client
from tests.kcpctl.apiserver.kcp.conftest import SLICES
from tests.kcpctl.apiserver.kcp.recorded import TOKENS, calls, cluster_of, distinct, served_part, shard_of
from tests.kcpctl.apiserver.replaying import Replay
from tests.kcpctl.apiserver.sameness import differences

LEFT_OUT = frozenset(("managedFields", "description"))
"""Nothing tracks the managers of fields yet; descriptions are in our own words."""

ZINC = f"/shards/zinc/clusters/zz1{SLICES}"
AFTER_HIDDEN_WRITES = "C.list.zinc"
"""The first call that shows what unrecorded writes left in the shard `zinc`."""

ANSWERED_OTHERWISE = {
    "C.auth.metrics": "metrics belong to the process, not to the API server",
    "C.auth.version": "a client may ask for the version without naming a shard",
    "C.auth.openapi": "lists what is served here, in links that keep the prefix: without it nobody can follow them",
    **dict.fromkeys(
        ("C.url.nocluster", "C.url.cluster.[]"), "a missing cluster is the client's error, not the server's"
    ),
    **dict.fromkeys(("C.url.shardonly2", "C.url.cl", "C.url.cl2"), "says what is missing in the path"),
    "C.url.cl3": "lists what is served here",
    **dict.fromkeys(("C.disc.apis", "C.disc.api", "C.disc.agg"), "discovery is served as everywhere"),
    **dict.fromkeys(("C.crds", "C.crds.wild"), "the kinds are built in, there are no definitions of them"),
    **dict.fromkeys(("C.disc.group2", "C.kind.apiexports.apis.kcp.io.v1alpha2"), "the form of 0.11 is v1alpha1 alone"),
    **dict.fromkeys(("C.list.*.c1ebp51iqfpdkely", "C.list.*.root"), "a named cluster narrows a list of all shards"),
    "C.list.table": "a table across shards and clusters says which; slices have two columns more",
    "C.get.table": "slices have two columns more",
}


class TimesAsText(yaml.SafeLoader):
    """Reads times as what they look like."""


TimesAsText.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in found if tag != "tag:yaml.org,2002:timestamp"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def without_wild(value: Any) -> Any:
    """Drop what the real server stored under a cluster or shard named `*`; ours refuses to."""
    if isinstance(value, dict):
        return {name: without_wild(inner) for name, inner in value.items()}
    return [without_wild(item) for item in value if not is_wild(item)] if isinstance(value, list) else value


def is_wild(item: Any) -> bool:
    found = item.get("object", item) if isinstance(item, dict) else {}
    annotations = (found.get("metadata") or {}).get("annotations") or {}
    return annotations.get("kcp.io/cluster") == ""


async def test_answers_are_those_of_a_real_cache_server_but_for_known_reasons() -> None:
    recorded = [without_wild(pair) for pair in calls("c-cache-server.jsonl")]
    clock = VirtualClock(datetime(2026, 12, 1, 4, 32, 30, tzinfo=UTC))
    server = CacheServer(MemoryStorage(revision=1, clock=clock), clock=clock)
    app = ApiServer(server.mounts, Authentication(TOKENS), clock=clock)
    client = Client(app)
    bodies = {pair["id"]: pair["resp"].get("body") for pair in recorded}
    shards = yaml.load(bodies["C.list.yaml"], TimesAsText)
    for item in distinct(bodies["C.list.*.*"], bodies["C.kind.apiexports.apis.kcp.io.v1alpha1"], shards):
        await store(client, item)
    replay = Replay(InProcess(app, user=None), clock)
    found: dict[str, list[str]] = {}

    for pair in recorded:
        if pair["id"] == AFTER_HIDDEN_WRITES:
            await make_equal(client, bodies[AFTER_HIDDEN_WRITES])
        answer = await replay.answer(pair)
        found.setdefault(pair["id"], []).extend(
            differences(served_part(pair["resp"], answer), answer, leave_out=LEFT_OUT)
        )

    assert len(found) > 100
    assert {name: unlike for name, unlike in found.items() if unlike and name not in ANSWERED_OTHERWISE} == {}
    assert [name for name in ANSWERED_OTHERWISE if not found[name]] == []


async def make_equal(client: Client, listed: dict[str, Any]) -> None:
    """Leave in the shard `zinc` what a recorded list of it shows."""
    await client.delete(ZINC)
    for item in distinct(listed):
        await store(client, item)


async def store(client: Client, obj: dict[str, Any]) -> None:
    """Store an object where it was, as it was."""
    plural = {"APIExportEndpointSlice": "apiexportendpointslices", "APIExport": "apiexports", "Shard": "shards"}
    path = f"/shards/{shard_of(obj)}/clusters/{cluster_of(obj)}/apis/{obj['apiVersion']}/{plural[obj['kind']]}"
    metadata = {name: value for name, value in obj["metadata"].items() if name != "resourceVersion"}
    made = await client.post(path, obj | {"metadata": metadata})
    assert made.status == 201, made.body
