"""Quiet is the moment at which nothing is left to be done: not before, and not later than need be."""

import asyncio
from typing import Any

import pytest

from informers import (
    Client,
    Cluster,
    Key,
    Object,
    Outcome,
    Resource,
    Result,
    Server,
    TerminalError,
    VirtualClock,
    Watch,
    controller,
)
from informers.cache.facts import Backed
from informers.client.transport import Request, Response
from informers.tasks import background
from kcpctl.testing import ControllerFailed, InProcessServer, Managers, NeverQuiet, serving
from tests.kcpctl.testing.witness import Witness
from tests.kcpctl.testing.worlds import CRDS, TEAMS, counting, member, status, team

CONFIGMAPS = Resource("", "v1", "configmaps", kind="ConfigMap")
NAMESPACES = Resource("", "v1", "namespaces", kind="Namespace")


@pytest.fixture(autouse=True)
async def teams(apiserver: InProcessServer) -> None:
    await apiserver.apply(CRDS)


# What is waited for


async def test_whatever_was_written_before_has_been_dealt_with(
    apiserver: InProcessServer, client: Client, manager: Managers
) -> None:
    [blue] = await apiserver.apply(team())
    async with manager(counting) as running:
        for number in range(1, 20):
            await apiserver.apply(member(f"m{number}", blue, ready=number % 2 == 0))

            await running.wait_quiet()

            assert await status(client) == {"members": number, "readyMembers": number // 2}


async def test_controllers_that_wake_each_other_are_waited_for_to_the_end(
    apiserver: InProcessServer, client: Client, manager: Managers
) -> None:
    def passing_on(link: int) -> Any:
        @controller(TEAMS, name=f"link-{link}")
        async def reconcile(obj: Object, cluster: Cluster) -> Result | None:
            if obj.at("spec", "purpose") != str(link):
                return None
            await cluster.client.create(CONFIGMAPS, {"metadata": {"name": f"link-{link}", "namespace": "default"}})
            return Result(fields={"spec": {"purpose": str(link + 1)}})

        return reconcile

    await apiserver.apply({**team(), "spec": {"purpose": "0"}})

    visits = await manager.run_until_quiet(*map(passing_on, range(6)))

    assert (await client.get(TEAMS, "blue", namespace="default")).at("spec", "purpose") == "6"
    assert [v.controller for v in visits if v.writes] == [f"link-{n}" for n in range(6)]


async def test_a_conflict_is_waited_for_until_it_is_settled(apiserver: InProcessServer, manager: Managers) -> None:
    await apiserver.apply(team())
    raced: list[str] = []

    @controller(TEAMS)
    async def racing(obj: Object, cluster: Cluster) -> Result:
        if not raced:
            raced.append(obj.rv)
            await apiserver.apply(team(labels={"a": "1"}))
        return Result(fields={"metadata": {"annotations": {"example.com/seen": "yes"}}})

    visits = await manager.run_until_quiet(racing)

    assert Outcome.CONFLICT in [visit.outcome for visit in visits]
    assert visits[-1].outcome is Outcome.SUCCESS


async def test_a_controller_that_fails_for_a_while_is_retried(apiserver: InProcessServer, manager: Managers) -> None:
    await apiserver.apply(team())

    visits = await manager.run_until_quiet(failing(times=3))

    assert [visit.outcome for visit in visits] == [Outcome.ERROR] * 3 + [Outcome.SUCCESS]


async def test_a_namespace_that_is_emptied_and_what_follows_from_it_are_waited_for(
    apiserver: InProcessServer, client: Client, manager: Managers
) -> None:
    gone: list[Key] = []

    async def note(key: Key, cluster: Cluster) -> None:
        gone.append(key)

    @controller(TEAMS, gone=note)
    async def reconcile(obj: Object, cluster: Cluster) -> Result:
        return Result(status={"members": 0})

    await apiserver.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}, team(namespace="n")])
    async with manager(reconcile) as running:
        await running.wait_quiet()
        await client.delete(NAMESPACES, "n")

        await running.wait_quiet()

        assert "n" not in [obj.name for obj in await client.list(NAMESPACES)]
        assert gone == [Key("", "", "n", "blue")]


class Gated:
    """A transport to a server that does not answer before `gate` is set."""

    def __init__(self, server: Server) -> None:
        self.gate = asyncio.Event()
        self._transport = server.transport

    async def send(self, request: Request) -> Response:
        await self.gate.wait()
        return await self._transport.send(request)

    async def aclose(self) -> None:
        await self._transport.aclose()


def looking_far(*, patience: float) -> Any:
    """Return a controller that counts the ConfigMaps of another server, once they are known."""

    @controller(TEAMS, watches=[Watch(CONFIGMAPS, to=lambda notice: (), server="far", patience=patience)])
    async def looking_far(obj: Object, cluster: Cluster) -> Result:
        found = cluster.lister(CONFIGMAPS, "far")
        return Result(status={"members": len(found.list()) if found.synced else 0})

    return looking_far


async def test_a_source_that_arrives_late_has_all_keys_visited_before_it_is_quiet(
    apiserver: InProcessServer, client: Client, manager: Managers
) -> None:
    await apiserver.apply(team())
    async with serving() as far:
        await far.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "green"}})
        gated = Gated(far.connect())
        servers = {"main": apiserver.server, "far": Server("far", gated)}
        async with manager(looking_far(patience=0.001), servers=servers) as running:
            await running.wait_quiet(away={"far"})
            assert (await status(client))["members"] == 0

            witness = Witness(running, apiserver)
            async with background(witness.run()):
                gated.gate.set()
                await running.wait_quiet()

            assert (await status(client))["members"] == 1
            assert witness.violations == []


async def test_workers_that_have_not_begun_are_waited_for(apiserver: InProcessServer, manager: Managers) -> None:
    clock = VirtualClock()
    servers = {"main": apiserver.server, "far": Server("far", Gated(apiserver.server))}
    async with manager(looking_far(patience=5.0), servers=servers, clock=clock) as running:
        await clock.run(running.wait_quiet(away={"far"}))

        assert clock.monotonic() == 5.0


# What is not


async def test_a_visit_that_was_put_off_on_purpose_is_not_waited_for(
    apiserver: InProcessServer, manager: Managers
) -> None:
    @controller(TEAMS)
    async def daily(obj: Object, cluster: Cluster) -> Result:
        return Result(requeue_after=86_400)

    await apiserver.apply(team())
    clock = VirtualClock()
    async with manager(daily, clock=clock) as running:
        await running.wait_quiet()
        assert [visit.outcome for visit in running.visits] == [Outcome.REQUEUED]

        await clock.advance(86_400)
        await running.wait_quiet()

        assert len(running.visits) == 2


async def test_what_is_hopeless_is_not_retried_and_told_in_the_visits(
    apiserver: InProcessServer, manager: Managers
) -> None:
    @controller(TEAMS)
    async def hopeless(obj: Object, cluster: Cluster) -> Result:
        raise TerminalError("no use")

    await apiserver.apply(team())

    [visit] = await manager.run_until_quiet(hopeless)

    assert visit.outcome is Outcome.TERMINAL


# What can never be quiet


async def test_a_controller_that_fails_again_and_again_is_an_error_with_its_cause(
    apiserver: InProcessServer, manager: Managers
) -> None:
    await apiserver.apply(team())

    with pytest.raises(
        ControllerFailed, match="'failing' failed 3 times in a row for default/blue: ValueError: no"
    ) as e:
        await manager.run_until_quiet(failing(times=99), attempts=3)

    assert isinstance(e.value.__cause__, ValueError)


async def test_a_visit_that_hangs_is_named(apiserver: InProcessServer, manager: Managers) -> None:
    begun = asyncio.Event()

    @controller(TEAMS)
    async def hanging(obj: Object, cluster: Cluster) -> None:
        begun.set()
        await asyncio.Event().wait()

    await apiserver.apply(team())
    async with manager(hanging, grace=0.0) as running:
        await begun.wait()
        with pytest.raises(NeverQuiet, match=r"'hanging' has 0 keys to visit and is visiting default/blue"):
            await running.wait_quiet(timeout=0.01)


class Refusals:
    """An observer that waits for an informer's first failure."""

    def __init__(self) -> None:
        self.first = asyncio.Event()

    def notice(self, fact: Any) -> None:
        if isinstance(fact, Backed):
            self.first.set()


async def test_a_kind_that_is_not_served_is_named_with_what_the_server_says(manager: Managers) -> None:
    nothing, refusals = Resource("example.com", "v1", "nothings"), Refusals()
    async with manager(controller(nothing)(counting.reconcile), observers=[refusals]) as running:
        await refusals.first.wait()
        expected = r"informer main:nothings\.v1\.example\.com does not follow a watch: 404 page not found"
        with pytest.raises(NeverQuiet, match=expected):
            await running.wait_quiet(timeout=0.01)


async def test_a_kind_that_is_defined_meanwhile_is_waited_for() -> None:
    async with serving() as late:
        clock = VirtualClock()
        async with Managers(late)(counting, clock=clock) as running:
            with pytest.raises(NeverQuiet):
                await running.wait_quiet(timeout=0.01)

            await late.apply(CRDS)
            await late.apply(team())
            await clock.run(running.wait_quiet())

        assert (await late.client.get(TEAMS, "blue", namespace="default")).at("status", "members") == 0


# Helpers


def failing(*, times: int) -> Any:
    """Return a controller that raises so often before it succeeds."""
    left = times

    @controller(TEAMS)
    async def failing(obj: Object, cluster: Cluster) -> None:
        nonlocal left
        if left:
            left -= 1
            raise ValueError("no")

    return failing


async def test_two_controllers_that_undo_each_other_fail_the_test(
    apiserver: InProcessServer, manager: Managers
) -> None:
    def saying(purpose: str) -> Any:
        @controller(TEAMS, name=purpose)
        async def reconcile(obj: Object, cluster: Cluster) -> Result:
            return Result(fields={"spec": {"purpose": purpose}})

        return reconcile

    await apiserver.apply(team())

    with pytest.raises(
        ControllerFailed, match=r"wrote spec\.purpose of default/blue 10 times in a row, and somebody undid"
    ):
        await manager.run_until_quiet(saying("work"), saying("play"))
