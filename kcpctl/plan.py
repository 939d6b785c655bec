"""Which of our controllers run, decided once at the start: from the settings and from what the servers are."""

from enum import Enum

import msgspec

from informers.api.errors import ConfigurationError
from informers.client.addresses import Scope
from kcpctl.foreign import Seen
from kcpctl.settings import RunSettings

SLICES = "the endpoint slice controller"
OURS = (SLICES, "the APIExport URL controller", "shard registration", "replication")

_NEEDED = frozenset(("apiexportendpointslices.apis.kcp.io", "apiexports.apis.kcp.io", "shards.core.kcp.io"))


class Built(Enum):
    """Which of our own controllers run."""

    NONE = "none"
    ALL = "all"
    SLICES = "the slice controller alone"


class Plan(msgspec.Struct, frozen=True):
    """What runs, and a line for each of our controllers that does not although it was wanted."""

    built: Built
    off: tuple[str, ...] = ()


def embedded_plan(settings: RunSettings, *, has_modules: bool) -> Plan:
    """Decide for a shard of our own."""
    return Plan(Built.ALL if settings.with_builtin or not has_modules else Built.NONE)


def foreign_plan(settings: RunSettings, seen: Seen, scope: Scope, *, has_modules: bool) -> Plan:
    """Decide for a server that exists already.

    Raises `ConfigurationError` when nothing at all would run, and for a force that cannot be used.
    """
    if seen.is_kcp and settings.slice_controller == "force":
        _check_force(settings, scope)
        return Plan(Built.SLICES)
    wanted = settings.with_builtin or not has_modules
    reason = _reason_against(settings, seen, scope) if wanted else ""
    plan = Plan(Built.ALL if wanted and not reason else Built.NONE, _lines(reason) if reason else ())
    if plan.built is Built.NONE and not has_modules:
        raise ConfigurationError(
            f"nothing would run: our own controllers are off ({reason}), and no others are named; "
            "name some, such as `kcpctl run examples/team.py`"
        )
    return plan


def _check_force(settings: RunSettings, scope: Scope) -> None:
    if not settings.cache_kubeconfig:
        raise ConfigurationError(
            "expected --cache-kubeconfig beside --slice-controller force: without kcp's cache server nobody knows "
            "all shards"
        )
    if scope is not Scope.ALL:
        raise ConfigurationError(f"expected {_ALL_CLUSTERS} for --slice-controller force, found another in the context")


_ALL_CLUSTERS = "a server address that ends in /clusters/*"


def _reason_against(settings: RunSettings, seen: Seen, scope: Scope) -> str:
    """Say why none of our controllers can run; "" when they can."""
    if seen.is_kcp:
        return f"the server is kcp {seen.version}, which runs its own"
    if not settings.cache_kubeconfig:
        return "there is no cache server, --cache-kubeconfig names one"
    if scope is not Scope.ALL:
        return f"they need {_ALL_CLUSTERS}"
    if missing := sorted(_NEEDED - seen.serves):
        return f"the server does not serve {', '.join(missing)}"
    return ""


def _lines(reason: str) -> tuple[str, ...]:
    return tuple(f"{name} is off: {reason}" for name in OURS)
