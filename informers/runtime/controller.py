"""Controllers: a reconciler and what wakes it, as a plain value."""

import inspect
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from informers.api.errors import ConfigurationError
from informers.api.objects import Key, Object
from informers.api.resources import Resource
from informers.cache.indexers import OWNER_UID, Indexer, by_owner_uid
from informers.queue.order import Fifo, Order
from informers.queue.ratelimit import Exponential, RateLimiter
from informers.runtime.channels import Listen
from informers.runtime.cluster import Cluster
from informers.runtime.filters import Keeps
from informers.runtime.result import Result
from informers.runtime.sources import Owner, Read, Watch, same_key

S = TypeVar("S")
T = TypeVar("T")


class Reconciler(Protocol[T]):
    """Says what should be, from the object and its world: idempotent, and blind to what has changed."""

    def __call__(self, obj: Object[T], cluster: Cluster, /) -> Awaitable[Result | None]:
        """Return the wish, or None for nothing; raise to be called again later, `TerminalError` not to be."""
        ...


Gone = Callable[[Key, Cluster], Awaitable[Result | None]]
"""Called instead of the reconciler when there is no object; of its Result only `requeue_after` can mean something."""


@dataclass(frozen=True, eq=False)
class Controller(Generic[T]):
    """A reconciler, its resource and what else wakes it. Made by `controller`; calling it calls the reconciler."""

    name: str
    """Unique in its Manager; also its field manager for server-side apply."""
    resource: Resource[T]
    reconcile: Reconciler[T]
    server: str = ""
    """The name of its own server in the Manager; "" is the Manager's first."""
    where: Keeps | None = None
    """Which changes of its own resource wake it; None means all."""
    echoes: bool = True
    """Whether the event of what a visit committed wakes it; False for a wish that stays as it is once it is true."""
    owns: tuple[Resource[Any], ...] = ()
    """Resources whose objects wake the object that controls them."""
    watches: tuple[Watch | Listen[Any], ...] = ()
    reads: tuple[Read, ...] = ()
    gone: Gone | None = None
    """What to do for a key without an object; None does nothing."""
    workers: int = 1
    """How many keys are visited at a time."""
    timeout: float | None = None
    """Seconds that one visit may take, its writes included; None sets no limit."""
    limiter: Callable[[], RateLimiter] = Exponential
    """Makes the rate limiter for each run: failed keys wait 5 ms, 10 ms … 1000 s by default."""
    order: Callable[[], Order[Key]] = Fifo
    """Makes the order of ready keys for each run."""
    indexers: Mapping[str, Indexer[T]] = field(default_factory=dict)
    """Indexes of its own resource to keep, by name; for `Lister.by_index`."""

    def sources(self) -> tuple[Watch | Read, ...]:
        """Return the resources that have to be there before it can work, its own first."""
        own = Watch(self.resource, to=same_key, where=self.where, server=self.server, indexers=self.indexers)
        owned = [
            Watch(resource, to=Owner(self.resource), server=self.server, indexers={OWNER_UID: by_owner_uid})
            for resource in self.owns
        ]
        watched = [watch for watch in self.watches if isinstance(watch, Watch)]
        return (own, *owned, *watched, *self.reads)

    def channels(self) -> tuple[Listen[Any], ...]:
        """Return what wakes it besides servers."""
        return tuple(watch for watch in self.watches if isinstance(watch, Listen))

    def __call__(self, obj: Object[T], cluster: Cluster) -> Awaitable[Result | None]:
        """Call the reconciler, as a test does."""
        return self.reconcile(obj, cluster)


def controller(
    resource: Resource[T],
    *,
    name: str = "",
    server: str = "",
    where: Keeps | None = None,
    echoes: bool = True,
    owns: Sequence[Resource[Any]] = (),
    watches: Sequence[Watch | Listen[Any]] = (),
    reads: Sequence[Read | Resource[Any]] = (),
    gone: Gone | None = None,
    workers: int = 1,
    timeout: float | None = None,
    limiter: Callable[[], RateLimiter] = Exponential,
    order: Callable[[], Order[Key]] = Fifo,
    indexers: Mapping[str, Indexer[T]] | None = None,
) -> Callable[[Reconciler[T]], Controller[T]]:
    """Turn an async function, or a callable frozen dataclass with collaborators, into a Controller.

    The name is by default the function's or class's own. Raises `ConfigurationError` for what cannot work.
    """

    def decorate(reconcile: Reconciler[T]) -> Controller[T]:
        made = Controller(
            name=name or _name(reconcile),
            resource=resource,
            reconcile=reconcile,
            server=server,
            where=where,
            echoes=echoes,
            owns=_several("owns", owns),
            watches=_several("watches", watches),
            reads=tuple(read if isinstance(read, Read) else Read(read) for read in _several("reads", reads)),
            gone=gone,
            workers=workers,
            timeout=timeout,
            limiter=limiter,
            order=order,
            indexers=indexers or {},
        )
        _check(made)
        return made

    return decorate


def _several(argument: str, found: Sequence[S]) -> tuple[S, ...]:
    """Return what was given as a list; raises `ConfigurationError` for one thing without its brackets."""
    if not isinstance(found, Iterable):
        raise ConfigurationError(f"expected a list, found {found!s}; write {argument}=[…] in @controller")
    return tuple(found)


def _name(reconcile: Reconciler[Any]) -> str:
    return str(getattr(reconcile, "__name__", "") or type(reconcile).__name__)


def _check(made: Controller[Any]) -> None:
    """Raise `ConfigurationError` for the first thing that cannot work."""
    where = f"controller {made.name!r}"
    _check_reconcile(made.reconcile, where)
    if made.gone is not None and not _is_async(made.gone):
        raise ConfigurationError(f"{where}: expected gone to be an async function of (key, cluster)")
    for watch in made.watches:
        if not isinstance(watch, Watch | Listen):
            raise ConfigurationError(f"{where}: expected a Watch in watches, found {watch!r}; use Watch(…, to=…)")
    watched = [watch.resource for watch in made.watches if isinstance(watch, Watch)]
    sources = [made.resource, *made.owns, *watched, *(read.resource for read in made.reads)]
    for found in sources:
        if not isinstance(found, Resource):
            raise ConfigurationError(f"{where}: expected a Resource, found {found!r}")
    for name, maker in (("limiter", made.limiter), ("order", made.order)):
        if not callable(maker):
            raise ConfigurationError(
                f"{where}: expected {name} to be what makes one for each run, such as a class or a lambda, "
                f"found {maker!r}"
            )
    if made.workers < 1:
        raise ConfigurationError(f"{where}: expected at least 1 worker, found {made.workers}")
    if made.timeout is not None and not 0 < made.timeout < math.inf:
        raise ConfigurationError(f"{where}: expected a timeout in seconds above 0, or None, found {made.timeout}")


def _check_reconcile(reconcile: Any, where: str) -> None:
    if inspect.isclass(reconcile):
        raise ConfigurationError(f"{where}: expected an async function or an instance, found a class; make one first")
    wanted = f"{where}: expected an async function of (object, cluster)"
    if not _is_async(reconcile):
        found = "one without async" if inspect.isfunction(reconcile) else repr(reconcile)
        raise ConfigurationError(f"{wanted}, found {found}")
    if not _takes_two(reconcile):
        raise ConfigurationError(f"{wanted}, found one of {inspect.signature(reconcile)}")


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _takes_two(function: Any) -> bool:
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    return True
