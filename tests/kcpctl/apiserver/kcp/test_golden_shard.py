"""What real kcp shards answered to their administrators, asked again of ours in the same order."""

from datetime import UTC, datetime
from typing import Any

import pytest

from informers.clock import VirtualClock
from informers.tasks import background
from kcpctl.apiserver import stored
from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.assembly import ShardServer
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.http.inprocess import InProcess
from kcpctl.apiserver.kcp.kinds import KINDS
from kcpctl.apiserver.keys import object_key
from kcpctl.apiserver.storage.base import Storage
from kcpctl.apiserver.storage.memory import MemoryStorage
from tests.kcpctl.apiserver.kcp.recorded import TOKENS, calls, cluster_of, distinct, served_part
from tests.kcpctl.apiserver.replaying import Replay
from tests.kcpctl.apiserver.sameness import differences

FILES = ("a-discovery.jsonl", "a-wildcard-identity.jsonl")
LEFT_OUT = frozenset(("managedFields", "description"))
"""Nothing tracks the managers of fields yet; descriptions are in our own words."""

WITHOUT_IDENTITY = "kinds of kcp are the same for all here, so no identity is needed to list them across clusters"
NOT_SERVED = "the form of 0.11 is v1alpha1 alone, and nothing binds yet"
ANSWERED_OTHERWISE = {
    **dict.fromkeys(("A.lc.amber.shard-admin", "A.lc.beryl.shard-admin"), "each shard has a root of its own"),
    "A.root.wrongshard": "each shard has a root of its own, which serves all of kcp's kinds",
    **dict.fromkeys((f"A.wild.root.shard-admin.{kind}" for kind in ("apiexports", "apibindings")), NOT_SERVED),
    **dict.fromkeys(("A.wild.get.export", "A.wild.limit1", "A2.exports"), NOT_SERVED),
    **dict.fromkeys(
        (f"A.wild.root.shard-admin.{kind}" for kind in ("partitions", "shards", "workspaces")), WITHOUT_IDENTITY
    ),
    **dict.fromkeys(
        (f"A.wild.{about}" for about in ("badrv", "fieldsel", "future", "labelsel", "rv0", "table")), WITHOUT_IDENTITY
    ),
    **dict.fromkeys((f"A.watch.{about}" for about in ("future", "old", "plain", "rv0")), WITHOUT_IDENTITY),
    **dict.fromkeys((f"A.watch.sie{about}" for about in ("", ".nobookmark", ".nomatch")), WITHOUT_IDENTITY),
    "A.wild.discovery": "shows the groups that are served here, as kube-apiserver does",
    "A.wild.namespaces": "the namespaces of the recorded clusters were not recorded",
    "A.wild.partial": "an object's metadata is the same in every form",
    "A2.del-orphan": "a cluster that is not here is refused, also to masters",
    "A2.shards.table": "a table across clusters says which",
    "A2.watch.bookmark70": "bookmarks come each minute and at the end, as kube-apiserver sends them",
}
UNRECORDED = "resourceVersion=605"
"""The revision of a list that is not in the recordings."""


async def store(storage: Storage, obj: dict[str, Any]) -> None:
    """Store an object as it was."""
    kind = next(kind for kind in KINDS if (kind.api_version, kind.kind) == (obj["apiVersion"], obj["kind"]))
    scope = Scope(cluster_of(obj))
    await storage.create(object_key(kind, scope, "", obj["metadata"]["name"]), stored.encode(obj, scope))


@pytest.mark.parametrize("shard", ["root", "amber", "beryl"])
async def test_answers_are_those_of_a_real_shard_but_for_known_reasons(shard: str) -> None:
    recorded = [pair for name in FILES for pair in calls(name)]
    bodies = {pair["id"]: pair["resp"].get("body") for pair in recorded}
    clock = VirtualClock(datetime(2026, 12, 1, 4, 25, 30, tzinfo=UTC))
    storage = MemoryStorage(revision=1, clock=clock)
    there = [f"A.lc.{shard}.shard-admin"]
    if shard == "root":
        there += ["A2.slices", "A2.exports.v1", "A2.shards", "A2.ws.tenancy"]
    for item in distinct(*(bodies[name] for name in there)):
        await store(storage, item)
    server = ShardServer(storage, name=shard, url="https://127.0.0.1:7443", clock=clock)
    await server.load()
    replay = Replay(InProcess(ApiServer(server.mounts, Authentication(TOKENS), clock=clock), user=None), clock)
    found: dict[str, list[str]] = {}

    async with background(server.run()):
        for pair in recorded:
            if (pair["server"], pair["as"]) != (shard, "shard-admin"):
                continue
            current = f"resourceVersion={(await storage.range('/registry/')).revision}"
            asked = pair["req"] | {"path": pair["req"]["path"].replace(UNRECORDED, current)}
            answer = await replay.answer(pair | {"req": asked})
            found[pair["id"]] = differences(served_part(pair["resp"], answer), answer, leave_out=LEFT_OUT)

    assert found
    assert {name: unlike for name, unlike in found.items() if unlike and name not in ANSWERED_OTHERWISE} == {}
    assert [name for name in ANSWERED_OTHERWISE if name in found and not found[name]] == []
