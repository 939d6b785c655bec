"""Quiet: the moment at which nothing is left to be done, exactly.

Controllers are quiet when all of this is true at once, with no await between looking at the parts:

 1. Every server in this process is at rest: no definition is being established, no namespace emptied.
 2. Every informer follows a watch, and where its server is in this process the store has reached the revision of
    the last change of its kind. Such a change counts from the moment when it is written.
 3. Every controller's workers have begun, and no source that arrived late is still to wake its keys.
 4. No key is ready or being visited, and none waits to be retried after a conflict or an error.

A change of the store and the keys that it wakes are one step, so a change that was written is in the way of 2 until
its keys are in the way of 4. What waits on purpose (`requeue_after`) is quiet. Of servers elsewhere nobody can know
how far they are: for them 2 asks for the watch alone. While some server is away on purpose, its informers count as
quiet, and so do keys that wait because somebody could not be reached.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from informers.api.errors import TransportError, is_kind
from informers.cache.informer import SharedInformer
from informers.runtime.manager import Manager
from informers.runtime.running import Run
from kcpctl.testing.home import Home
from kcpctl.testing.visits import Visits


class Busy(msgspec.Struct, frozen=True):
    """One thing that is in the way of quiet."""

    what: str
    in_turns: bool
    """Whether it takes nothing but turns of the loop; else something will happen that observers are told of."""


def busy(
    manager: Manager, controllers: Collection[str], visits: Visits, homes: Mapping[str, Home], away: Collection[str]
) -> Iterator[Busy]:
    """Yield what is in the way, within one step; nothing is waited for of the servers that are `away`."""
    for name, home in homes.items():
        if not home.at_rest:
            yield Busy(f"server {name!r} moves definitions or namespaces on", True)
    for informer in manager.informers:
        if informer.origin.server not in away:
            yield from _lagging(informer, homes.get(informer.origin.server))
    synced = {str(informer.origin) for informer in manager.informers if informer.synced}
    for name, source in visits.late:
        if source in synced:
            yield Busy(f"controller {name!r} is to visit all keys, since {source} has arrived", True)
    for name in controllers:
        yield from _working(name, manager.controller(name))
    for (name, key), fact in visits.retries.items():
        if away and fact.error is not None and is_kind(fact.error, TransportError):
            continue
        yield Busy(f"controller {name!r} retries {key} in {fact.retry_in} s ({fact.error or fact.outcome})", False)


def _lagging(informer: SharedInformer[Any], home: Home | None) -> Iterator[Busy]:
    if not informer.live:
        why = f": {informer.last_error}" if informer.last_error else ""
        yield Busy(f"informer {informer.origin} does not follow a watch{why}", False)
    elif home is not None:
        reached, newest = int(informer.store.revision or 0), home.newest(informer.origin.collection)
        if reached < newest:
            yield Busy(f"informer {informer.origin} has reached revision {reached} of {newest}", True)


def _working(name: str, run: Run[Any]) -> Iterator[Busy]:
    if not run.queue.idle:
        active = ", ".join(map(str, run.queue.active())) or "none"
        yield Busy(f"controller {name!r} has {len(run.queue)} keys to visit and is visiting {active}", False)
    figures = run.statistics()
    if not figures.started:
        yield Busy(f"controller {name!r} waits for its sources {', '.join(figures.missing)}", False)
