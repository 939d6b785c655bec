"""What a real kube-apiserver answered, asked again of ours: the same answers, but for what differs by nature."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from informers.clock import VirtualClock
from informers.tasks import background
from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.aside import Aside
from kcpctl.apiserver.assembly import PlainServer
from kcpctl.apiserver.builtin import BUILT_IN
from kcpctl.apiserver.crds.catalog import CrdCatalog
from kcpctl.apiserver.crds.definition import DEFINITIONS
from kcpctl.apiserver.exchange import Incoming, User
from kcpctl.apiserver.http.auth import Authentication
from kcpctl.apiserver.http.discovery import Discovery
from kcpctl.apiserver.http.inprocess import InProcess
from kcpctl.apiserver.storage.memory import MemoryStorage
from tests.golden import pairs
from tests.kcpctl.apiserver.replaying import Replay
from tests.kcpctl.apiserver.sameness import differences

T = TypeVar("T")
ADMIN = User("admin", groups=("system:masters",))
SERVED = (*BUILT_IN, DEFINITIONS)
TOKENS = {"admintoken": ADMIN, "bobtoken": User("bob")}
LEFT_OUT = frozenset(("managedFields", "description", "x-kubernetes-validations"))
"""Nothing tracks the managers of fields yet, nor evaluates CEL; descriptions are in our own words."""


UNCHECKED = (
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
UNASKED = ("list bad bool", "cr create cel", "cr create float int", "cr mp immut change")
"""A watch without an end, which would make everything else an hour older; writes that only CEL refuses."""


EQUAL = Path(__file__).with_name("golden_equal.txt")
"""The pairs that are answered alike, one id a line; the list only grows."""


async def test_what_was_answered_alike_still_is() -> None:
    expected = EQUAL.read_text(encoding="utf-8").splitlines()

    found = await replayed()

    assert {name: found[name] for name in expected if found[name]} == {}


async def test_served_kinds_are_discovered_as_on_a_real_server() -> None:
    recorded = {pair["id"]: pair["resp"].get("body") for pair in pairs("golden.jsonl")}
    discovery = Discovery(CrdCatalog(SERVED))
    core = msgspec.json.decode(discovery.legacy("root", ("api", "v1"), ""))
    groups = msgspec.json.decode(discovery.legacy("root", ("apis",), ""))

    assert core["resources"] == those_in(core["resources"], recorded["disc /api/v1"]["resources"], "name")
    assert by(groups["groups"], "name") == by(
        those_in(groups["groups"], recorded["disc /apis"]["groups"], "name"), "name"
    )


@pytest.mark.parametrize(("core", "name"), [(True, "disc agg /api"), (False, "disc agg /apis")])
async def test_one_document_shows_served_kinds_as_on_a_real_server(core: bool, name: str) -> None:
    recorded = {pair["id"]: pair["resp"].get("body") for pair in pairs("golden.jsonl")}

    document = msgspec.json.decode(Discovery(CrdCatalog(SERVED)).aggregated("root", core=core).body)

    theirs = {item["metadata"].get("name"): item for item in recorded[name]["items"]}
    for item in document["items"]:
        same = theirs[item["metadata"].get("name")]
        for ours, real in zip(item["versions"], same["versions"], strict=True):
            assert ours["resources"] == those_in(ours["resources"], real["resources"], "resource")
            assert ours["version"] == real["version"]


def those_in(ours: list[dict[str, Any]], theirs: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """Return the recorded entries that ours also have, without subresources that are not served."""
    served = by(ours, key)
    return [_served_part(entry, served[entry[key]]) for entry in theirs if entry[key] in served]


def _served_part(entry: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    if "subresources" in entry and "subresources" not in ours:
        return {name: value for name, value in entry.items() if name != "subresources"}
    return entry


def by(entries: list[dict[str, Any]], key: str) -> dict[str, dict[str, Any]]:
    return {entry[key]: entry for entry in entries}


class AtOnce(Aside):
    """Does everything at once: virtual time would not wait for a thread."""

    async def do(self, size: int, job: Callable[[], T]) -> T:
        del size
        return job()


async def replayed() -> dict[str, list[str]]:
    """Return the differences of every pair, by its id."""
    clock = VirtualClock(datetime(2026, 12, 1, 1, 12, tzinfo=UTC))
    server = PlainServer(MemoryStorage(revision=1, clock=clock), clock=clock)
    server.world.aside = AtOnce()
    await server.load()
    app = ApiServer(server.mounts, Authentication(TOKENS), clock=clock)
    async with AsyncExitStack() as work:
        await work.enter_async_context(background(server.run()))
        return await answers(app, clock, stop_working=work.aclose)


async def answers(
    app: ApiServer, clock: VirtualClock, *, stop_working: Callable[[], Awaitable[None]]
) -> dict[str, list[str]]:
    replay = Replay(InProcess(app, user=None), clock)
    found: dict[str, list[str]] = {}
    for pair in pairs("golden.jsonl"):
        if pair["id"] in UNASKED:
            continue
        if pair["id"] == "ns delete":  # whoever emptied the real namespace was slower than those who asked about it
            await stop_working()
        if pair["id"].startswith("crd "):
            pair["req"]["body"] = without_rules(pair["req"]["body"])
        without_rules_unchecked(pair["resp"].get("body"))
        unlike = differences(pair["resp"], await replay.answer(pair), leave_out=LEFT_OUT)
        found.setdefault(pair["id"], []).extend(unlike)
        if pair["id"] == "ssa m1 drop all":
            await create(app, "/api/v1/namespaces/g1/configmaps", applied(pair))
        if pair["id"] == "ssa by kubectl after csa":
            await patch(app, pair["req"]["path"], pair["resp"]["body"])
        await clock.run_until_idle()  # what follows from a definition has followed
    return found


def without_rules(schema: Any) -> Any:
    """Return a definition without CEL, which is refused until it is built."""
    if isinstance(schema, dict):
        return {name: without_rules(inner) for name, inner in schema.items() if name != "x-kubernetes-validations"}
    return [without_rules(item) for item in schema] if isinstance(schema, list) else schema


def without_rules_unchecked(status: Any) -> None:
    """Take out of a recorded refusal, in place, that rules in CEL were not evaluated: here there are none."""
    if not isinstance(status, dict) or UNCHECKED not in status.get("message", ""):
        return
    causes = [cause for cause in status["details"]["causes"] if cause["message"] != UNCHECKED]
    status["details"]["causes"] = causes
    message = status["message"].replace(f", <nil>: {UNCHECKED}", "")
    status["message"] = message.replace(": [", ": ", 1).removesuffix("]") if len(causes) == 1 else message


async def create(app: ApiServer, path: str, obj: dict[str, Any]) -> None:
    answer = await app(Incoming("POST", path, body=msgspec.json.encode(obj), peer=ADMIN))
    assert answer.status == 201


async def patch(app: ApiServer, path: str, made: dict[str, Any]) -> None:
    """Make an object what server-side apply made of it, had it been built."""
    change = {"metadata": {"annotations": made["metadata"]["annotations"]}, "data": {"b": None} | made["data"]}
    headers = {"content-type": "application/merge-patch+json"}
    path, _, query = path.partition("?")
    answer = await app(Incoming("PATCH", path, query, headers, msgspec.json.encode(change), ADMIN))
    assert answer.status == 200


def applied(pair: dict[str, Any]) -> dict[str, Any]:
    """Return what server-side apply would have made, had it been built, so that later lists show it."""
    made = pair["resp"]["body"]
    metadata = {"name": made["metadata"]["name"]}
    return {"apiVersion": "v1", "kind": made["kind"], "metadata": metadata, "data": made["data"]}
