"""Controllers against the real API server in this process: what only a server with all the rules can show."""

import asyncio
from typing import Any

from informers.api.objects import Object
from informers.runtime.cluster import Cluster
from informers.runtime.controller import Controller, controller
from informers.runtime.facts import Outcome, Reconciled
from informers.runtime.manager import Manager
from informers.runtime.result import Result
from tests.informers.runtime.apiserver import TEAMS, manifests, serving


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


def wishing(result: Result) -> Controller[Any]:
    @controller(TEAMS, name="wishing")
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        return result

    return reconcile


def team(name: str = "blue") -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}}


async def test_a_status_without_its_subresource_says_what_the_definition_lacks() -> None:
    [crd, _] = manifests("team/crds.yaml")
    del crd["spec"]["versions"][0]["subresources"]
    outcomes = Outcomes()
    async with serving(crd) as served:
        await served.client.create(TEAMS, team())
        async with Manager(served.server(), [wishing(Result(status={"members": 1}))], observers=[outcomes]):
            fact = await outcomes.one(Outcome.ERROR)

    assert "add `subresources: {status: {}}`" in str(fact.error)


async def test_removing_the_last_finalizer_lets_a_deleted_object_go_without_an_error() -> None:
    outcomes = Outcomes()

    @controller(TEAMS)
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        finalizers = [] if obj.deleting else ["example.com/held"]
        return Result(fields={"metadata": {"finalizers": finalizers or None}}, status={"members": 1})

    async with serving() as served:
        await served.client.create(TEAMS, team())
        async with Manager(served.server(), [reconcile], observers=[outcomes]):
            await outcomes.one(Outcome.SUCCESS)
            await served.client.delete(TEAMS, "blue", namespace="default")
            await outcomes.one(Outcome.GONE)

        assert await served.client.list(TEAMS) == []
    assert not [fact for fact in drained(outcomes) if fact.outcome.failed]


async def test_an_object_made_anew_under_the_same_name_is_not_written_for_the_old_one() -> None:
    outcomes = Outcomes()
    seen: list[str] = []

    @controller(TEAMS)
    async def reconcile(obj: Object[Any], cluster: Cluster) -> Result:
        seen.append(obj.uid)
        if len(seen) == 1:
            await cluster.client.delete(TEAMS, "blue", namespace="default")
            await cluster.client.create(TEAMS, team())
        return Result(status={"members": len(seen)})

    async with serving() as served:
        await served.client.create(TEAMS, team())
        async with Manager(served.server(), [reconcile], observers=[outcomes]):
            await outcomes.one(Outcome.SUCCESS)
        newest = await served.client.get(TEAMS, "blue", namespace="default")

    assert newest.uid == seen[-1] != seen[0]
    assert newest.at("status", "members") == len(seen)


async def test_a_status_that_the_schema_refuses_is_a_visible_error() -> None:
    outcomes = Outcomes()
    async with serving() as served:
        await served.client.create(TEAMS, team())
        async with Manager(served.server(), [wishing(Result(status={"members": -1}))], observers=[outcomes]):
            fact = await outcomes.one(Outcome.ERROR)

    assert "status.members" in str(fact.error)
    assert fact.retry_in is not None


async def test_a_misspelt_status_field_is_not_stored_and_the_write_says_so() -> None:
    outcomes = Outcomes()
    async with serving() as served:
        await served.client.create(TEAMS, team())
        wish = wishing(Result(status={"members": 1, "redyMembers": 1}))
        async with Manager(served.server(), [wish], observers=[outcomes]):
            fact = await outcomes.one(Outcome.SUCCESS)

    assert [write.warnings for write in fact.writes] == [('unknown field "status.redyMembers"',)]


def drained(outcomes: Outcomes) -> list[Reconciled]:
    return [outcomes.seen.get_nowait() for _ in range(outcomes.seen.qsize())]
