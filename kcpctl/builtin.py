"""Our own controllers in one process: made over shared memories, and fed by the Manager's informers."""

import re
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

from tenacity import AsyncRetrying, retry_if_exception_type, wait_random_exponential

from controllers.endpointslice import endpoint_slices
from controllers.exporturls import export_urls, no_export_urls
from controllers.kinds import EXPORTS, SHARDS, Partition, Shard
from controllers.names import CACHE
from controllers.registration import Registration, ShardUrls, shard_registration
from controllers.replication import replication
from controllers.sightings import ExportMemory, ShardMemory
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

_SYSTEM = SystemClock()
_LONGEST_PAUSE = 30.0
_KEY = re.compile(r"([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")


@dataclass(frozen=True)
class Ours:
    """Our controllers, and what they share."""

    shards: ShardMemory
    exports: ExportMemory
    controllers: tuple[Controller[Any], ...]
    registration: Registration | None = None
    local_shards: Resource[Shard] = SHARDS
    """Shards as the local server wants them asked for."""

    def feed(self, manager: Manager) -> None:
        """Have the memories hear of each change before the controllers do; the Manager must not have begun."""
        for server, resource in ((LOCAL, self.local_shards), (CACHE, SHARDS)):
            informers = manager.informer(resource, server), manager.informer(EXPORTS, server)
            for informer in informers:
                informer.be_careful()  # what they do not show any more may have been lost, and is not unpublished
            shards = informers[0].add_handler(self.shards.handler(server), name="memory")
            exports = informers[1].add_handler(self.exports.handler(server), name="memory")
        self.shards.fed_by(shards)
        self.exports.fed_by(exports)

    def jobs(self, client: Client, waiting: Waiting) -> Iterator[Coroutine[Any, Any, None]]:
        """Return what has to run beside the Manager; each job ends by itself."""
        if self.registration is not None:
            yield _register(self.registration, client, waiting)


def all_ours(settings: RunSettings, urls: ShardUrls | None, *, is_new_store: bool, clock: Clock = _SYSTEM) -> Ours:
    """Return all our controllers that the settings ask for, for a shard that is reached by these URLs.

    Without URLs the Shard is left to whoever knows them.
    """
    name = settings.shard_name
    shards, exports = ShardMemory(clock, home=name), ExportMemory(clock, home=name)
    registration = Registration(name, urls, labels_of(settings)) if urls else None
    controllers: list[Controller[Any]] = []
    if settings.slice_controller != "off":
        controllers.append(endpoint_slices(shards, exports, name))
    controllers.append(export_urls(shards, name) if settings.deprecated_urls else no_export_urls())
    if registration:
        controllers.append(shard_registration(registration))
    controllers.extend(replication(name, is_new_store=is_new_store))
    return Ours(shards, exports, tuple(controllers), registration)


def slices_alone(name: str, shards: Resource[Shard], partitions: Resource[Partition]) -> Ours:
    """Return the slice controller alone, for the shard of that name, which wants these resources asked for."""
    seen, exports = ShardMemory(_SYSTEM, home=name), ExportMemory(_SYSTEM, home=name)
    made = endpoint_slices(seen, exports, name, local_shards=shards, partitions=partitions)
    return Ours(seen, exports, (made,), local_shards=shards)


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
    return dict(map(_label, settings.shard_label))


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not _KEY.fullmatch(key) or not _VALUE.fullmatch(value):
        raise ConfigurationError(f"expected a label such as region=eu for --shard-label, found {text!r}")
    return key, value
