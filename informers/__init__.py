"""An asyncio framework for Kubernetes controllers: what their authors import.

Whatever is not named here may change without notice. Importing it brings neither aiohttp nor cryptography nor the
Kubernetes client; they come with what needs them.
"""

from informers.api.errors import (
    AlreadyExists,
    ApiError,
    CacheError,
    ConfigurationError,
    Conflict,
    Incomplete,
    InformersError,
    NotFound,
    NotSynced,
    OwnershipError,
    TerminalError,
    TransportError,
)
from informers.api.objects import Condition, Key, Object, OwnerReference
from informers.api.resources import Resource
from informers.api.selectors import LabelSelector
from informers.cache.facts import Backed
from informers.cache.histories import History
from informers.cache.indexers import by_label, by_namespace, by_owner_uid, by_path
from informers.cache.informer import SharedInformer
from informers.cache.listers import Lister
from informers.cache.notices import Evidence, Notice
from informers.cache.pair import ListerPair
from informers.client.addresses import Scope
from informers.client.bodies import PatchKind
from informers.client.client import Client
from informers.client.kubeconfig import load as load_kubeconfig
from informers.client.records import Retried, WarningReceived, Write
from informers.client.server import Server
from informers.clock import Clock, SystemClock, VirtualClock
from informers.queue.ratelimit import Exponential, RateLimiter, Slowest, TokenBucket
from informers.queue.workqueue import WorkQueue
from informers.runtime.cluster import Cluster
from informers.runtime.controller import Controller, controller
from informers.runtime.facts import Outcome, Reconciled, Undone
from informers.runtime.filters import (
    EventFilter,
    annotations_changed,
    being_deleted,
    created,
    deleted,
    event_filter,
    field_changed,
    generation_changed,
    labels_changed,
    matches,
    rv_changed,
)
from informers.runtime.manager import Manager
from informers.runtime.observers import Observer
from informers.runtime.owners import owned_by
from informers.runtime.result import Result
from informers.runtime.sources import ByIndex, EveryKey, Owner, Read, Watch, old_and_new, same_key

__all__ = [
    "AlreadyExists",
    "ApiError",
    "Backed",
    "ByIndex",
    "CacheError",
    "Client",
    "Clock",
    "Cluster",
    "Condition",
    "ConfigurationError",
    "Conflict",
    "Controller",
    "EventFilter",
    "EveryKey",
    "Evidence",
    "Exponential",
    "History",
    "Incomplete",
    "InformersError",
    "Key",
    "LabelSelector",
    "Lister",
    "ListerPair",
    "Manager",
    "NotFound",
    "NotSynced",
    "Notice",
    "Object",
    "Observer",
    "Outcome",
    "Owner",
    "OwnerReference",
    "OwnershipError",
    "PatchKind",
    "RateLimiter",
    "Read",
    "Reconciled",
    "Resource",
    "Result",
    "Retried",
    "Scope",
    "Server",
    "SharedInformer",
    "Slowest",
    "SystemClock",
    "TerminalError",
    "TokenBucket",
    "TransportError",
    "Undone",
    "VirtualClock",
    "WarningReceived",
    "Watch",
    "WorkQueue",
    "Write",
    "annotations_changed",
    "being_deleted",
    "by_label",
    "by_namespace",
    "by_owner_uid",
    "by_path",
    "controller",
    "created",
    "deleted",
    "event_filter",
    "field_changed",
    "generation_changed",
    "labels_changed",
    "load_kubeconfig",
    "matches",
    "old_and_new",
    "owned_by",
    "rv_changed",
    "same_key",
]
