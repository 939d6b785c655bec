"""The figures of a process that runs controllers."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from controllers.endpointslice import URLS_READY
from controllers.kinds import SLICES, Slice
from controllers.publishing import HELD
from controllers.view import View
from informers.api.conditions import find
from informers.api.objects import Object
from informers.cache.informer import SharedInformer
from informers.runtime.facts import Outcome
from informers.runtime.manager import Manager
from informers.runtime.running import ControllerStatistics
from kcpctl.builtin import Ours
from kcpctl.metrics import Figure, Samples, single


def figures_of(manager: Manager, ours: Ours | None) -> Iterator[Figure]:
    """Yield what is to be shown of controllers, and of what they share."""
    yield from _of_informers(manager)
    yield from _of_controllers(manager)
    if ours is not None:
        yield from _of_view(ours.view)
        yield from _of_ours(ours)
        yield Figure(
            "kcpctl_held_endpoints",
            "gauge",
            "Published URLs that stay although nothing known asks for them.",
            partial(_held_endpoints, manager),
        )


def _of_informers(manager: Manager) -> Iterator[Figure]:
    def gauge(name: str, text: str, read: Any) -> Figure:
        return Figure(f"kcpctl_informer_{name}", "gauge", text, partial(_each_informer, manager, read))

    yield gauge("synced", "Whether the store has had a whole state.", lambda one: one.synced)
    yield gauge("live", "Whether a watch is established and was heard in time.", lambda one: one.live)
    yield gauge("objects", "Objects in the store.", lambda one: len(one.store))
    yield gauge("quarantined", "Objects that are set aside: unreadable.", lambda one: len(one.quarantined))


def _each_informer(manager: Manager, read: Any) -> Samples:
    return [({"server": one.origin.server, "resource": _resource(one)}, read(one)) for one in manager.informers]


def _resource(informer: SharedInformer[Any]) -> str:
    return str(informer.origin.collection.resource)


def _of_controllers(manager: Manager) -> Iterator[Figure]:
    def keys() -> Samples:
        for name, one in manager.statistics().controllers.items():
            for state in ("ready", "waiting", "active"):
                yield {"controller": name, "state": state}, getattr(one.queue, state)

    def visits() -> Samples:
        for name, one in manager.statistics().controllers.items():
            for outcome, count in one.outcomes.items():
                yield {"controller": name, "outcome": str(outcome)}, count

    yield Figure("kcpctl_controller_keys", "gauge", "Keys in a controller's queue, and those being visited.", keys)
    yield Figure("kcpctl_controller_visits_total", "counter", "Visits that have ended, by their outcome.", visits)

    def counter(name: str, text: str, read: Callable[[ControllerStatistics], float]) -> Figure:
        return Figure(f"kcpctl_controller_{name}_total", "counter", text, partial(_each_controller, manager, read))

    yield counter("visit_seconds", "Seconds that visits took, their writes included.", lambda one: one.seconds)
    text = "Visits after which the key is tried again, since they met a conflict or an error or took too long."
    yield counter("retries", text, lambda one: sum(one.outcomes.get(outcome, 0) for outcome in _TRIED_AGAIN))
    yield counter("writes", "Writes that visits made, those of their Results included.", lambda one: one.notes.writes)


def _each_controller(manager: Manager, read: Callable[[ControllerStatistics], float]) -> Samples:
    return [({"controller": name}, read(one)) for name, one in manager.statistics().controllers.items()]


_TRIED_AGAIN = (Outcome.CONFLICT, Outcome.ERROR, Outcome.TIMEOUT)


def _of_view(view: View) -> Iterator[Figure]:
    def held() -> Samples:
        found = Counter((one.place.kind, one.source, one.state.value) for one in view.held())
        return [({"kind": kind, "source": source, "state": state}, n) for (kind, source, state), n in found.items()]

    text = "Shards and APIExports that are not there, and count nevertheless."
    yield Figure("kcpctl_held_objects", "gauge", text, held)
    text = "Whether all shards and exports have been known once."
    yield Figure("kcpctl_view_complete", "gauge", text, lambda: single(view.complete))
    text = "Whether the local store is another one, or older, than what was seen of it."
    yield Figure("kcpctl_local_store_doubted", "gauge", text, lambda: single(view.local_is_doubted))


def _of_ours(ours: Ours) -> Iterator[Figure]:
    removals, segment = ours.removals, ours.segment
    text = "Removals that say of something that it is gone which is there."
    yield Figure("kcpctl_removals_waiting", "gauge", text, lambda: single(len(removals.waiting)))
    if segment is None:
        return
    text = "Whether the lease of the shard's segment of the cache is held."
    yield Figure("kcpctl_lease_held", "gauge", text, lambda: single(segment.lease.held))
    text = "Copies in the cache without an original that stay, since it may exist all the same."
    yield Figure(
        "kcpctl_held_copies",
        "gauge",
        text,
        lambda: [({"resource": one.resource.plural}, len(one.held)) for one in segment.replicators],
    )


def _held_endpoints(manager: Manager) -> Samples:
    slices = manager.informer(SLICES)
    return single(sum(map(_count, slices.store)) if slices.synced else 0)


def _count(obj: Object[Slice]) -> int:
    """Count the held URLs of a slice, as its condition tells."""
    if _REASON not in obj.raw:
        return 0  # nothing needs to be decoded for most
    condition = find(obj.conditions, URLS_READY)
    if condition is None or condition.reason != HELD:
        return 0
    urls = [endpoint.get("url") for endpoint in obj.at("status", "endpoints") or ()]
    named = sum(f"{url} is held:" in condition.message for url in urls)
    is_all = condition.message.count(" is held:") > named  # its export is, say, and with that all that is published
    return len(urls) if is_all else named


_REASON = HELD.encode()
