"""One informer for everybody who asks for the same."""

from asyncio import Event, TaskGroup
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, TypeVar, cast

from informers.api.resources import Collection
from informers.cache.facts import Observe, ignore
from informers.cache.indexers import Indexer
from informers.cache.informer import DEFAULTS, SYSTEM, SharedInformer
from informers.cache.policy import Policy
from informers.cache.source import Readable
from informers.cache.transform import Transform
from informers.clock import Clock

T = TypeVar("T")


class InformerPool:
    """Informers by what they are: server, resource with version, cluster, shard, namespace, selectors and transform.

    The model is part of it: objects decode to the model they were read for.
    """

    def __init__(
        self, *, observe: Observe = ignore, clock: Clock = SYSTEM, rng: Random | None = None, policy: Policy = DEFAULTS
    ) -> None:
        """Start empty; all informers share the observer, the clock and the policy."""
        self._observe = observe
        self._clock = clock
        self._rng = rng
        self._policy = policy
        self._informers: dict[tuple[Any, ...], SharedInformer[Any]] = {}
        self._running: set[tuple[Any, ...]] = set()
        self._added = Event()

    def __iter__(self) -> Iterator[SharedInformer[Any]]:
        """Go through the informers in the order they were first asked for."""
        return iter(list(self._informers.values()))

    def __len__(self) -> int:
        """Count the informers."""
        return len(self._informers)

    def informer(
        self,
        server: str,
        client: Readable,
        collection: Collection[T],
        *,
        indexers: Mapping[str, Indexer[T]] = {},
        transform: Transform | None = None,
    ) -> SharedInformer[T]:
        """Return the informer for a collection on the server of that name; the first to ask makes it.

        Later indexers are added to it. While the pool runs, new informers start at once.
        """
        identity = (server, *_identity(collection), transform)
        found = cast("SharedInformer[T] | None", self._informers.get(identity))
        if found is None:
            found = self._informers[identity] = SharedInformer(
                client,
                collection,
                server=server,
                transform=transform,
                observe=self._observe,
                clock=self._clock,
                rng=self._rng,
                policy=self._policy,
            )
            self._added.set()
        for name, indexer in indexers.items():
            found.add_indexer(name, indexer)
        return found

    async def run(self) -> None:
        """Run all informers, also those that come later, until cancelled; one that fails ends all."""
        async with TaskGroup() as group:
            while True:
                self._added.clear()
                for identity, informer in self._informers.items():
                    if identity not in self._running:
                        self._running.add(identity)
                        group.create_task(informer.run(), name=str(informer.origin))
                await self._added.wait()


def _identity(collection: Collection[Any]) -> tuple[Any, ...]:
    resource = collection.resource
    return (
        resource.group,
        resource.version,
        resource.plural,
        resource.identity,
        resource.model,
        collection.cluster,
        collection.shard,
        collection.namespace,
        collection.label_selector,
        collection.field_selector,
    )
