"""Controllers as values, and declarations that cannot work."""

from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import pytest

from informers.api.errors import ConfigurationError
from informers.api.objects import Object
from informers.clock import VirtualClock
from informers.queue.order import Fifo
from informers.queue.ratelimit import Exponential
from informers.runtime.cluster import Cluster, World
from informers.runtime.controller import controller
from informers.runtime.filters import generation_changed
from informers.runtime.result import Result
from informers.runtime.sources import Read
from tests.informers.runtime.objects import MEMBERS, TEAMS, made


def anywhere() -> Cluster:
    return Cluster("", World("team", "main", {}, {}, VirtualClock()))


async def reconcile(obj: Object[Any], cluster: Cluster) -> Result | None:
    return Result(status={"name": obj.name})


async def test_the_decorator_returns_a_frozen_value_that_can_still_be_called() -> None:
    @controller(TEAMS, where=generation_changed, owns=[MEMBERS], reads=[MEMBERS])
    async def team(obj: Object[Any], cluster: Cluster) -> Result:
        return Result(status={"name": obj.name})

    assert (team.name, team.resource, team.owns) == ("team", TEAMS, (MEMBERS,))
    assert team.reads == (Read(MEMBERS),)
    with pytest.raises(FrozenInstanceError):
        team.workers = 2  # type: ignore[misc]
    assert await team(made("red"), anywhere()) == Result(status={"name": "red"})


async def test_a_callable_frozen_dataclass_is_a_reconciler_with_collaborators() -> None:
    @dataclass(frozen=True)
    class TeamReconciler:
        prefix: str

        async def __call__(self, obj: Object[Any], cluster: Cluster) -> Result:
            return Result(status={"name": self.prefix + obj.name})

    made_of_it = controller(TEAMS)(TeamReconciler("the "))

    assert made_of_it.name == "TeamReconciler"
    assert await made_of_it(made("red"), anywhere()) == Result(status={"name": "the red"})


def test_each_run_gets_a_limiter_of_its_own() -> None:
    team = controller(TEAMS)(reconcile)

    assert team.limiter() is not team.limiter()


@dataclass(frozen=True)
class Uninstantiated:
    async def __call__(self, obj: Object[Any], cluster: Cluster) -> None: ...


def blocking(obj: Object[Any], cluster: Cluster) -> None: ...


async def without_a_cluster(obj: Object[Any]) -> None: ...


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (blocking, {}, r"controller 'blocking': expected an async function .* found one without async"),
        (without_a_cluster, {}, r"expected an async function of \(object, cluster\), found one of \(obj: "),
        (Uninstantiated, {}, "an instance, found a class"),
        (reconcile, {"gone": blocking}, "expected gone to be an async function"),
        (reconcile, {"workers": 0}, "at least 1 worker, found 0"),
        (reconcile, {"timeout": 0}, "a timeout in seconds above 0, or None, found 0"),
        (reconcile, {"owns": MEMBERS}, r"expected a list, found .*members.*; write owns=\[…\] in @controller"),
        (reconcile, {"owns": ["members"]}, "expected a Resource, found 'members'"),
        (reconcile, {"reads": ["members"]}, "expected a Resource, found 'members'"),
        (reconcile, {"watches": [MEMBERS]}, "expected a Watch in watches, found Resource"),
        (reconcile, {"limiter": Exponential()}, "expected limiter to be what makes one for each run"),
        (reconcile, {"order": Fifo()}, "expected order to be what makes one for each run"),
    ],
)
def test_what_cannot_work_is_refused_where_it_is_declared(function: Any, options: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        controller(TEAMS, **options)(function)


def test_a_requeue_at_no_time_is_refused() -> None:
    with pytest.raises(ValueError, match="found nan"):
        Result(requeue_after=float("nan"))
