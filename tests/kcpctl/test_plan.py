"""Which of our controllers run is decided by what the servers are, and said when it is none."""

import re

import pytest

from informers.api.errors import ConfigurationError
from informers.client.addresses import Scope
from kcpctl.foreign import Seen
from kcpctl.plan import OURS, Built, Plan, embedded_plan, foreign_plan
from kcpctl.settings import RunSettings

ALL_KINDS = frozenset(
    (
        "apiexportendpointslices.apis.kcp.io",
        "apiexports.apis.kcp.io",
        "shards.core.kcp.io",
        "partitions.topology.kcp.io",
    )
)
OURSELVES = Seen("v1.36.2+kcpctl", False, ALL_KINDS)
KCP = Seen("v1.33.3+kcp-v0.28.1", True, ALL_KINDS)
PLAIN = Seen("v1.36.2", False, frozenset())


def settings(**changes: object) -> RunSettings:
    return RunSettings(**{"kubeconfig": "some.kubeconfig", **changes})  # type: ignore[arg-type]


def test_an_embedded_shard_runs_ours_unless_others_are_named() -> None:
    assert embedded_plan(RunSettings(), has_modules=False) == Plan(Built.ALL)
    assert embedded_plan(RunSettings(), has_modules=True) == Plan(Built.NONE)
    assert embedded_plan(RunSettings(with_builtin=True), has_modules=True) == Plan(Built.ALL)


def test_another_shard_of_ours_with_its_cache_runs_ours() -> None:
    with_cache = settings(cache_kubeconfig="cache.kubeconfig")

    assert foreign_plan(with_cache, OURSELVES, Scope.ALL, has_modules=False) == Plan(Built.ALL)


@pytest.mark.parametrize(
    ("seen", "scope", "cache", "reason"),
    [
        (KCP, Scope.ALL, "cache.kubeconfig", "the server is kcp v1.33.3+kcp-v0.28.1, which runs its own"),
        (OURSELVES, Scope.ALL, "", "there is no cache server"),
        (OURSELVES, Scope.ONE, "cache.kubeconfig", "they need a server address that ends in /clusters/*"),
        (PLAIN, Scope.ALL, "cache.kubeconfig", "does not serve apiexportendpointslices.apis.kcp.io"),
    ],
)
def test_where_ours_cannot_run_each_is_off_with_a_line_and_nothing_else_to_run_is_an_error(
    seen: Seen, scope: Scope, cache: str, reason: str
) -> None:
    wished = settings(with_builtin=True, cache_kubeconfig=cache)

    plan = foreign_plan(wished, seen, scope, has_modules=True)

    assert plan.built is Built.NONE
    assert [line.partition(" is off: ")[0] for line in plan.off] == list(OURS)
    with pytest.raises(ConfigurationError, match=f"nothing would run: .*{re.escape(reason)}.*name some, such as"):
        foreign_plan(wished, seen, scope, has_modules=False)


def test_own_controllers_alone_need_no_word_about_ours() -> None:
    assert foreign_plan(settings(), KCP, Scope.ALL, has_modules=True) == Plan(Built.NONE)


def test_force_runs_the_slice_controller_alone_on_kcp_and_changes_nothing_elsewhere() -> None:
    forced = settings(slice_controller="force", cache_kubeconfig="cache.kubeconfig")

    assert foreign_plan(forced, KCP, Scope.ALL, has_modules=True) == Plan(Built.SLICES)
    assert foreign_plan(forced, OURSELVES, Scope.ALL, has_modules=False) == Plan(Built.ALL)


@pytest.mark.parametrize(
    ("cache", "scope", "told"),
    [("", Scope.ALL, "expected --cache-kubeconfig"), ("cache.kubeconfig", Scope.ONE, "that ends in /clusters/\\*")],
)
def test_a_force_that_cannot_work_is_refused(cache: str, scope: Scope, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        foreign_plan(settings(slice_controller="force", cache_kubeconfig=cache), KCP, scope, has_modules=False)
