"""Kinds that every logical cluster serves: Namespace, ConfigMap, Secret, ServiceAccount, Event, Lease."""

from kcpctl.apiserver.builtin.configmaps import CONFIG_MAPS
from kcpctl.apiserver.builtin.events import EVENTS, EVENTS_OF_EVENTS
from kcpctl.apiserver.builtin.leases import LEASES
from kcpctl.apiserver.builtin.namespaces import NAMESPACES
from kcpctl.apiserver.builtin.secrets import SECRETS
from kcpctl.apiserver.builtin.serviceaccounts import SERVICE_ACCOUNTS

BUILT_IN = (CONFIG_MAPS, EVENTS, NAMESPACES, SECRETS, SERVICE_ACCOUNTS, LEASES, EVENTS_OF_EVENTS)
"""In discovery order: by group, then by name."""

__all__ = [
    "BUILT_IN",
    "CONFIG_MAPS",
    "EVENTS",
    "EVENTS_OF_EVENTS",
    "LEASES",
    "NAMESPACES",
    "SECRETS",
    "SERVICE_ACCOUNTS",
]
