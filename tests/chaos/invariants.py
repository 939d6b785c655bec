"""What must hold at every moment: no endpoint disappears whose shard, export and partition still exist.

A controller sees the world late, but never backwards. So each change of what an endpoint depends on may take it away
once, and an endpoint none of whose causes ever changed may never go, not for an instant.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from tests.chaos.recorder import Loss, Recorder, losses
from tests.chaos.truth import Books, Labels, Place, World, compose, exports_of, lost_of, selection, wish


class Tampered(NamedTuple):
    """A copy that somebody changed in the cache so that it said what was not so."""

    at: float
    resource: str
    name: str
    cluster: str = ""
    labels: Labels | None = None
    """What a Shard's copy said of labels; None where the copy was deleted and nobody could make it again."""


class Violation(NamedTuple):
    """A promise that was broken, and where."""

    at: float
    promise: str
    home: str = ""
    place: Place | None = None


def unfounded(
    books: Books, recorders: Mapping[str, Recorder], tampered: Sequence[Tampered], *, since: float
) -> Iterator[Violation]:
    """Yield each disappearance since then that nothing accounts for; all must have been calm at that moment."""
    for home, recorder in recorders.items():
        for place, history in recorder.histories.items():
            times: Counter[str] = Counter()
            for loss in losses(home, place, history, since):
                times[loss.url] += 1
                states = books.between(since, loss.at)
                if place not in states[-1].of(home).slices or loss.url not in _kept(states[-1], home, place):
                    continue
                forged = [one for one in tampered if since <= one.at <= loss.at]
                allowed = excuses(loss, states, forged)
                if times[loss.url] > allowed:
                    yield Violation(loss.at, _told(loss, times[loss.url], allowed), home, place)


def _told(loss: Loss, times: int, allowed: int) -> str:
    why = f"{times} times, while only {allowed} changes could have done that" if allowed else "though nothing changed"
    return (
        f"{loss.url} disappeared from {loss.home}:{'|'.join(loss.place)} {why}: its shard, export and partition exist"
    )


def _kept(world: World, home: str, place: Place) -> frozenset[str]:
    """Return what a slice lists, what is only held included."""
    found = wish(world._replace(unsure=frozenset()), home, place)
    return found.must | found.may


def excuses(loss: Loss, states: Sequence[World], tampered: Sequence[Tampered]) -> int:
    """Count the changes that may have taken the URL away from the slice."""
    found = 0
    for export in _exports(loss, states):
        names = {name for world in states for _, name, url in _urls(world) if compose(url, export) == loss.url}
        if names:
            forged = sum(t.resource == "apiexports" and (t.cluster, t.name) == export for t in tampered)
            found += forged + _falls([_homes_of_export(world, export) for world in states])
        for name in names:
            found += _falls([_homes_of_url(world, name, loss.url, export) for world in states])
            found += sum(t.resource == "shards" and t.name == name and t.labels is None for t in tampered)
            found += _selections(loss, states, name, tampered)
    return found


def _exports(loss: Loss, states: Sequence[World]) -> set[Place]:
    found: set[Place] = set()
    for world in states:
        if loss.place in world.of(loss.home).slices:
            found |= exports_of(world, loss.home, loss.place) | lost_of(world, loss.home, loss.place, world.held)
    return found


def _urls(world: World) -> Iterator[tuple[str, str, str]]:
    """Yield (home, Shard's name, URL), of what is held as well."""
    for home, state in world.homes.items():
        yield from ((home, name, shard.url) for name, shard in state.shards.items())
    yield from ((one.home, one.name, one.shard.url) for one in world.held if one.shard is not None)


def _homes_of_export(world: World, export: Place) -> set[str]:
    """Return where an export is, or is held of; more than one when it has twins."""
    there = {name for name, home in world.homes.items() if export in home.exports}
    return there | {one.home for one in world.held if one.shard is None and (one.cluster, one.name) == export}


def _homes_of_url(world: World, shard: str, url: str, export: Place) -> set[str]:
    return {home for home, name, base in _urls(world) if name == shard and compose(base, export) == url}


def _falls(there: Sequence[set[str]]) -> int:
    """Count how often something went from one of its homes, unless one home had it all the time.

    Each home is seen late by its own measure: a twin that is made as the other goes may be seen after that.
    """
    if set.intersection(*there):
        return 0
    return sum(len(before - now) for before, now in pairwise(there))


def _selections(loss: Loss, states: Sequence[World], shard: str, tampered: Sequence[Tampered]) -> int:
    """Count changes of labels and of the partition, unless no combination of them leaves the shard out."""
    labels = [found for world in states if (found := _labels(world, shard)) is not None]
    asked = [
        selection(world.of(loss.home), loss.place, spec)
        for world in states
        if (spec := world.of(loss.home).slices.get(loss.place)) is not None
    ]
    forged = [t.labels for t in tampered if t.resource == "shards" and t.name == shard and t.labels is not None]
    if all(ask is not None and ask <= has for ask in asked for has in (*labels, *forged)):
        return 0
    return _changes(labels) + _changes(asked) + 2 * len(forged)


def _labels(world: World, shard: str) -> Labels | None:
    for home in world.homes.values():
        if shard in home.shards:
            return home.shards[shard].labels
    return next((one.shard.labels for one in world.held if one.shard is not None and one.name == shard), None)


def _changes(values: Sequence[Hashable]) -> int:
    return sum(before != now for before, now in pairwise(values))
