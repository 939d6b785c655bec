"""Our own controllers in one process: made over one view, which the Manager's informers feed."""

import re
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

from tenacity import AsyncRetrying, retry_if_exception_type, wait_random_exponential

from controllers.endpointslice import endpoint_slices
from controllers.entries import EXPORT, SHARD, Source
from controllers.exporturls import export_urls, no_export_urls
from controllers.feeding import asking
from controllers.kinds import EXPORTS, SHARDS, Partition, Shard
from controllers.lives import Lives
from controllers.registration import Registration, ShardUrls, anything, shard_registration
from controllers.removals import Removals
from controllers.segment import Segment
from controllers.view import View
from informers.api.errors import ConfigurationError, InformersError
from informers.api.resources import Resource
from informers.client.client import Client
from informers.clock import Clock, SystemClock
from informers.runtime.controller import Controller
from informers.runtime.manager import Manager
from kcpctl.retries import Waiting, telling
from kcpctl.settings import RunSettings

LOCAL = "local"
"""The name of a Manager's first server: the shard that this process runs for."""
LOCAL_SOURCE: Source = "local"
CACHE_SOURCE: Source = "cache"

_SYSTEM = SystemClock()
_LONGEST_PAUSE = 30.0
_KEY = re.compile(r"([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")


@dataclass(frozen=True)
class Ours:
    """Our controllers, and what they share."""

    view: View
    controllers: tuple[Controller[Any], ...]
    removals: Removals
    lives: Lives
    segment: Segment | None = None
    """What is replicated, where that is done here."""
    registration: Registration | None = None
    local_shards: Resource[Shard] = SHARDS
    """Shards as the local server wants them asked for."""

    def feed(self, manager: Manager) -> None:
        """Have the view hear of each change; the Manager must not have begun."""
        for source, shards in (LOCAL_SOURCE, self.local_shards), (CACHE_SOURCE, SHARDS):
            for kind, informer in (
                (SHARD, manager.informer(shards, source)),
                (EXPORT, manager.informer(EXPORTS, source)),
            ):
                informer.be_careful()  # what they do not show any more may have been lost, and is not unpublished
                ask = asking(manager.servers[source].client(), informer)
                failed, is_right = manager.failed(informer), anything
                if self.registration is not None and (kind, source) == (SHARD, LOCAL_SOURCE):
                    is_right = self.registration.is_right
                self.view.feed(kind, source, informer, ask, failed, is_right=is_right)
        if self.segment is not None:
            self.segment.feed(manager)
        self.removals.feed(manager)
        self.lives.feed(manager.informer(SHARDS, CACHE_SOURCE))

    def jobs(self, client: Client, waiting: Waiting) -> Iterator[Coroutine[Any, Any, None]]:
        """Return what has to run beside the Manager, the view first."""
        yield self.view.run()
        yield self.removals.run()
        if self.segment is not None:
            yield self.segment.run()
        if self.registration is not None:
            yield _register(self.registration, client, waiting)

    async def release(self) -> None:
        """Give up what other processes would wait for, once the Manager has stopped."""
        if self.segment is not None:
            await self.segment.release()


def all_ours(
    settings: RunSettings,
    urls: ShardUrls | None,
    view: View,
    *,
    clock: Clock = _SYSTEM,
    observe: Callable[[Any], None] = lambda fact: None,
) -> Ours:
    """Return all our controllers that the settings ask for, for a shard that is reached by these URLs.

    Without URLs the Shard is left to whoever knows them. `observe` is told of the lease and of removals.
    """
    name = settings.shard_name
    registration = Registration(name, urls, labels_of(settings)) if urls else None
    controllers: list[Controller[Any]] = []
    if settings.slice_controller != "off":
        controllers.append(endpoint_slices(view))
    controllers.append(export_urls(view) if settings.deprecated_urls else no_export_urls())
    if registration:
        controllers.append(shard_registration(registration))
    is_right = registration.is_right if registration else anything
    segment = Segment(name, view, clock=clock, observe=observe, is_right=is_right)
    controllers.extend(segment.controllers)
    removals = Removals(view, drop=segment.drop, clock=clock, observe=observe)
    return Ours(view, tuple(controllers), removals, Lives(name, clock), segment, registration)


def slices_alone(
    view: View,
    shards: Resource[Shard],
    partitions: Resource[Partition],
    *,
    observe: Callable[[Any], None] = lambda fact: None,
) -> Ours:
    """Return the slice controller alone, for a shard that wants these resources asked for."""
    removals, lives = Removals(view, observe=observe), Lives(view.home, renews=False)
    return Ours(view, (endpoint_slices(view, partitions=partitions),), removals, lives, local_shards=shards)


async def _register(registration: Registration, client: Client, waiting: Waiting) -> None:
    """Have the Shard made, however long that takes: the local server may be away, or still starting."""
    attempts = AsyncRetrying(
        retry=retry_if_exception_type(InformersError),
        wait=wait_random_exponential(0.5, max=_LONGEST_PAUSE),
        before_sleep=telling(waiting),
        reraise=True,
    )
    await attempts(registration.register, client)


def labels_of(settings: RunSettings) -> dict[str, str]:
    """Return the labels that the settings give to this process' Shard; raises `ConfigurationError`."""
    found: dict[str, str] = {}
    for key, value in map(_label, settings.shard_label):
        if found.setdefault(key, value) != value:
            raise ConfigurationError(
                f"expected one value for each --shard-label, found {key}={found[key]} and {key}={value}"
            )
    return found


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not _KEY.fullmatch(key) or not _VALUE.fullmatch(value):
        raise ConfigurationError(f"expected a label such as region=eu for --shard-label, found {text!r}")
    return key, value
