"""What a controller goes through at a real server; the same for ours and for kube-apiserver's own code."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import yaml

from informers import Client, Cluster, Controller, Manager, Object, Outcome, Reconciled, Resource, Result, Server
from informers import controller as controller_of
from tests.integration.watched import WIDGETS, Subject, make

EXAMPLES = Path(__file__).parents[2] / "examples"
TEAMS = Resource("example.com", "v1", "teams", kind="Team")


class Served(Protocol):
    """A running server."""

    @property
    def client(self) -> Client:
        """A client for the test."""

    def server(self) -> Server:
        """Return the server as a Manager uses it."""


Serving: TypeAlias = Callable[..., AbstractAsyncContextManager[Served]]
"""Runs a server that serves the definitions which it is called with."""
Journey: TypeAlias = Callable[[Serving], Awaitable[None]]


class Outcomes:
    """Waits for visits with an outcome."""

    def __init__(self) -> None:
        self.seen: asyncio.Queue[Reconciled] = asyncio.Queue()

    def notice(self, fact: Any) -> None:
        if isinstance(fact, Reconciled):
            self.seen.put_nowait(fact)

    async def one(self, outcome: Outcome) -> Reconciled:
        async with asyncio.timeout(30):
            while (fact := await self.seen.get()).outcome is not outcome:
                pass
        return fact

    def rest(self) -> list[Reconciled]:
        """Return the visits that nobody has waited for."""
        return [self.seen.get_nowait() for _ in range(self.seen.qsize())]


def definitions() -> list[dict[str, Any]]:
    """Return the definitions of Teams and Members."""
    return list(yaml.safe_load_all((EXAMPLES / "team/crds.yaml").read_text(encoding="utf-8")))


def wishing(result: Result) -> Controller[Any]:
    """Return a controller that always wishes for the same."""

    @controller_of(TEAMS, name="wishing")
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        return result

    return reconcile


def team(name: str = "blue") -> dict[str, Any]:
    """Return a Team."""
    return {"metadata": {"name": name, "namespace": "default"}}


async def a_status_without_its_subresource_says_what_the_definition_lacks(serving: Serving) -> None:
    """Servers answer as if the object were missing; one that is missing is no error."""
    [crd, _] = definitions()
    del crd["spec"]["versions"][0]["subresources"]
    outcomes = Outcomes()
    async with serving(crd) as served:

        @controller_of(TEAMS)
        async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
            if obj.name == "gone":
                await served.client.delete(TEAMS, "gone", namespace="default")
            return Result(status={"members": 1})

        for name in ("blue", "gone"):
            await served.client.create(TEAMS, team(name))
        async with Manager(served.server(), [reconcile], observers=[outcomes]):
            fact = await outcomes.one(Outcome.ERROR)

    assert fact.key.name == "blue"
    assert "add `subresources: {status: {}}`" in str(fact.error)
    assert not [fact for fact in outcomes.rest() if fact.key.name == "gone" and fact.outcome.failed]


async def removing_the_last_finalizer_lets_a_deleted_object_go_without_an_error(serving: Serving) -> None:
    """The status is not written to an object that went with its finalizer."""
    outcomes = Outcomes()

    @controller_of(TEAMS)
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        finalizers = [] if obj.deleting else ["example.com/held"]
        return Result(fields={"metadata": {"finalizers": finalizers or None}}, status={"members": 1})

    async with serving(*definitions()) as served:
        await served.client.create(TEAMS, team())
        async with Manager(served.server(), [reconcile], observers=[outcomes]):
            await outcomes.one(Outcome.SUCCESS)
            await served.client.delete(TEAMS, "blue", namespace="default")
            await outcomes.one(Outcome.GONE)

        assert await served.client.list(TEAMS) == []
    assert not [fact for fact in outcomes.rest() if fact.outcome.failed]


async def an_object_made_anew_under_the_same_name_is_not_written_for_the_old_one(serving: Serving) -> None:
    """What was wished for the old one is not written to the new one."""
    outcomes = Outcomes()
    seen: list[str] = []

    @controller_of(TEAMS)
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        seen.append(obj.uid)
        if len(seen) == 1:
            await cluster.client.delete(TEAMS, "blue", namespace="default")
            await cluster.client.create(TEAMS, team())
        return Result(status={"members": 1 + seen.index(obj.uid)})

    async with serving(*definitions()) as served:
        await served.client.create(TEAMS, team())
        async with Manager(served.server(), [reconcile], observers=[outcomes]):
            await outcomes.one(Outcome.SUCCESS)
            newest = await served.client.get(TEAMS, "blue", namespace="default")
            while newest.at("status", "members") is None:  # that was the old one's visit, which was known to be gone
                await outcomes.one(Outcome.SUCCESS)
                newest = await served.client.get(TEAMS, "blue", namespace="default")

    assert newest.uid == seen[-1] != seen[0]
    assert newest.at("status", "members") == 1 + seen.index(newest.uid)


async def a_status_that_the_schema_refuses_is_a_visible_error(serving: Serving) -> None:
    """It names the field, and the key is tried again."""
    outcomes = Outcomes()
    async with serving(*definitions()) as served:
        await served.client.create(TEAMS, team())
        async with Manager(served.server(), [wishing(Result(status={"members": -1}))], observers=[outcomes]):
            fact = await outcomes.one(Outcome.ERROR)

    assert "status.members" in str(fact.error)
    assert fact.retry_in is not None


async def a_misspelt_status_field_is_not_stored_and_the_write_says_so(serving: Serving) -> None:
    """Servers drop it, and warn."""
    outcomes = Outcomes()
    async with serving(*definitions()) as served:
        await served.client.create(TEAMS, team())
        wish = wishing(Result(status={"members": 1, "redyMembers": 1}))
        async with Manager(served.server(), [wish], observers=[outcomes]):
            fact = await outcomes.one(Outcome.SUCCESS)

    assert [write.warnings for write in fact.writes] == [('unknown field "status.redyMembers"',)]


JOURNEYS: tuple[Journey, ...] = (
    a_status_without_its_subresource_says_what_the_definition_lacks,
    removing_the_last_finalizer_lets_a_deleted_object_go_without_an_error,
    an_object_made_anew_under_the_same_name_is_not_written_for_the_old_one,
    a_status_that_the_schema_refuses_is_a_visible_error,
    a_misspelt_status_field_is_not_stored_and_the_write_says_so,
)


def name_of(journey: Journey) -> str:
    """Return what a test of the journey is called."""
    return getattr(journey, "__name__", "")


@controller_of(WIDGETS, name="marking")
async def marking(obj: Object[Any], cluster: Cluster) -> Result:
    """Mark each Widget as seen."""
    return Result(fields={"metadata": {"labels": {"seen": obj.name}}})


async def forgotten_history(subject: Subject) -> None:
    """A controller that was cut off for longer than history lasts finds what was made meanwhile, and then rests."""
    await make(subject.client, "a", "b")
    outcomes = Outcomes()
    async with Manager(subject.server, [marking], observers=[outcomes], clock=subject.clock):
        await subject.wait(marked(subject, "a", "b"))

        await subject.network.go_away()
        await make(subject.client, "new")
        await subject.client.patch(WIDGETS, "a", {"metadata": {"labels": {"seen": "wrong"}}}, namespace="default")
        await subject.client.delete(WIDGETS, "b", namespace="default")
        await subject.forget_history()
        subject.network.come_back()

        await subject.wait(marked(subject, "a", "new"))
        outcomes.rest()

    revisions = {obj.name: obj.rv for obj in await subject.client.list(WIDGETS)}
    async with Manager(subject.server, [marking], observers=[outcomes], clock=subject.clock) as manager:
        await subject.wait(manager.wait_synced())
        await subject.wait(manager.wait_idle())
    assert {obj.name: obj.rv for obj in await subject.client.list(WIDGETS)} == revisions, "the steady state is silent"
    assert [write for visit in outcomes.rest() for write in visit.writes] == []


async def marked(subject: Subject, *names: str) -> None:
    """Return once these Widgets, and no others, are there and marked."""
    wanted = {name: {"seen": name} for name in names}
    while {obj.name: dict(obj.labels) for obj in await subject.client.list(WIDGETS)} != wanted:
        await subject.clock.sleep(0.05)
