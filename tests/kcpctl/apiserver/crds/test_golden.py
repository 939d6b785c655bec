"""What a real kube-apiserver said about a definition and its objects, asked again of ours, in the same order."""

from datetime import UTC, datetime
from typing import Any

from informers.clock import VirtualClock
from informers.tasks import background
from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.builtin import BUILT_IN
from kcpctl.apiserver.crds.admission import refuse_while_terminating
from kcpctl.apiserver.crds.catalog import CrdCatalog
from kcpctl.apiserver.crds.definition import DEFINITIONS
from kcpctl.apiserver.crds.lifecycle import Lifecycle
from kcpctl.apiserver.exchange import User
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.http.inprocess import InProcess
from kcpctl.apiserver.mounts import Mount, Single
from kcpctl.apiserver.storage.memory import MemoryStorage
from kcpctl.apiserver.world import World
from tests.golden import pairs
from tests.kcpctl.apiserver.replaying import Replay
from tests.kcpctl.apiserver.sameness import differences

LEFT_OUT = frozenset(("managedFields", "description"))
"""Nothing tracks the managers of fields yet; descriptions are in our own words."""

NOT_ASKED = {
    **dict.fromkeys(("crd bad cel", "crd cel msgexpr cost", "crd cel cost"), "validation rules are not built"),
    **dict.fromkeys(("cr create cel", "cr create float int", "cr mp immut change"), "validation rules are not built"),
    **dict.fromkeys(("crd dollar ref", "cr create proto"), "the recorded server crashed"),
    "watch crd": "was recorded beside the other requests, not after them",
}
ANSWERED_OTHERWISE = {
    "crd poll": "the first of them saw a state in between that lasts no longer here than the request that made it",
    "crd two storage": "names the versions, where the real server prints 70 kB of its own structs",
    **dict.fromkeys(
        (
            "cr create invalid many",
            "cr create missing spec",
            "cr create missing size",
            "cr create null size",
            "cr create wrong type",
            "cr status invalid",
        ),
        "there are no validation rules of which it could be said that they were not looked at",
    ),
    "cr create wrong version": "does not call fields unknown whose version is not served",
    "cr disc agg": "shows groups that are not served here",
    "cr openapi v3": "refers to Scale and lists in other words",
    **dict.fromkeys(("cr get proto", "cr get pom proto"), "custom resources are not answered in protobuf"),
}


def without_rules(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_rules(v) for name, v in value.items() if name != "x-kubernetes-validations"}
    return [without_rules(item) for item in value] if isinstance(value, list) else value


async def test_answers_are_those_of_a_real_server_but_for_known_reasons() -> None:
    clock = VirtualClock(datetime(2026, 12, 1, 1, 12, 24, tzinfo=UTC))
    catalog = CrdCatalog((*BUILT_IN, DEFINITIONS))
    rules = [refuse_while_terminating(catalog)]
    world = World(MemoryStorage(revision=1, clock=clock), catalog, clock=clock, admission=rules)
    tokens = {"admintoken": User("admin", groups=("system:masters",))}
    app = ApiServer({"": Mount(world, Single())}, Authentication(tokens), clock=clock)
    lifecycle = Lifecycle(world, catalog)
    await lifecycle.load()
    replay = Replay(InProcess(app, user=None), clock)
    found: dict[str, list[str]] = {}

    async with background(lifecycle.run()):
        for pair in pairs("golden.jsonl"):
            name = pair["id"]
            is_ours = name == "ns create" or name.startswith(("crd ", "cr "))
            if not is_ours or name in NOT_ASKED or name.startswith("cr ssa "):
                continue
            pair = without_rules(pair)
            found.setdefault(name, []).extend(differences(pair["resp"], await replay.answer(pair), leave_out=LEFT_OUT))
            await lifecycle.wait_at_rest()

    assert {name: unlike for name, unlike in found.items() if unlike and name not in ANSWERED_OTHERWISE} == {}
    assert [name for name in ANSWERED_OTHERWISE if not found[name]] == []
