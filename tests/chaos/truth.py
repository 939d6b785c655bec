"""What exists, by the harness' own books: every change of it with its time, and what follows for slices.

A state counts from the moment at which the change was asked for, so nothing can be seen before it is in the books.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

Labels = frozenset[tuple[str, str]]
Place = tuple[str, str]
"""Cluster and name."""


class ShardObject(NamedTuple):
    """A Shard: where it is, and how it is labelled."""

    url: str
    labels: Labels


class SliceSpec(NamedTuple):
    """What a slice asks for: an export by path or cluster ("" for its own), and a partition or ""."""

    reference: str
    export: str
    partition: str = ""


class Home(NamedTuple):
    """All that one shard's own store holds."""

    clusters: Mapping[str, str] = {}
    """Logical clusters by path."""
    shards: Mapping[str, ShardObject] = {}
    exports: frozenset[Place] = frozenset()
    partitions: Mapping[Place, Labels | None] = {}
    """What each selects by; None selects nothing."""
    slices: Mapping[Place, SliceSpec] = {}


class Lost(NamedTuple):
    """An export (`shard` is None) or a Shard that went without evidence."""

    home: str
    cluster: str
    path: str
    name: str
    shard: ShardObject | None = None


class World(NamedTuple):
    """Everything at one time."""

    homes: Mapping[str, Home]
    held: frozenset[Lost] = frozenset()
    """Gone with a store: published still, and for ever unless an operator says otherwise."""
    unsure: frozenset[Lost] = frozenset()
    """Deleted, but the cache was emptied about then: whoever did not hear of it holds it, the others do not."""

    def of(self, home: str) -> Home:
        """Return what is at one shard."""
        return self.homes[home]

    def with_home(self, name: str, home: Home) -> "World":
        """Return the world with that home changed; what is there again is not lost any more."""

        def is_lost(one: Lost) -> bool:
            if one.home != name:
                return True
            return one.name not in home.shards if one.shard else (one.cluster, one.name) not in home.exports

        held, unsure = (frozenset(filter(is_lost, lost)) for lost in (self.held, self.unsure))
        return World({**self.homes, name: home}, held, unsure)

    def shards(self) -> dict[str, ShardObject]:
        """Return all Shards by name; twins are equal."""
        return {name: shard for home in self.homes.values() for name, shard in home.shards.items()}


class Wish(NamedTuple):
    """What a slice has to list, and what it may list besides."""

    must: frozenset[str]
    may: frozenset[str] = frozenset()


def compose(url: str, place: Place) -> str:
    """Return an export's URL on the shard at `url`; both are plain enough for that."""
    return f"{url}/services/apiexport/{place[0]}/{place[1]}"


def path_of(home: Home, cluster: str) -> str:
    """Return the path of a home's cluster."""
    return next((path for path, name in home.clusters.items() if name == cluster), cluster)


def _lost_exports(home: str, state: Home, places: Iterable[Place]) -> Iterator[Lost]:
    """Yield exports as what is lost."""
    for cluster, name in places:
        yield Lost(home, cluster, path_of(state, cluster), name)


def _lost_shards(home: str, shards: Mapping[str, ShardObject]) -> Iterator[Lost]:
    """Yield Shards as what is lost."""
    for name, shard in shards.items():
        yield Lost(home, "root", "root", name, shard)


def all_lost(home: str, before: Home, after: Home) -> Iterator[Lost]:
    """Yield the exports and Shards that were at a home before and are not after."""
    yield from _lost_exports(home, before, before.exports - after.exports)
    yield from _lost_shards(home, {name: one for name, one in before.shards.items() if name not in after.shards})


def selection(home: Home, place: Place, spec: SliceSpec) -> Labels | None:
    """Return the labels that a slice asks of its shards; None when it can have none."""
    if not spec.partition:
        return frozenset()
    return home.partitions.get((place[0], spec.partition))


def exports_of(world: World, home: str, place: Place) -> set[Place]:
    """Return the exports that a slice's reference leads to: at home, else anywhere."""
    spec = world.of(home).slices[place]
    reference = spec.reference or place[0]
    for homes in ([world.of(home)], world.homes.values()):
        clusters = {cluster for one in homes for path, cluster in one.clusters.items() if reference in (path, cluster)}
        there = frozenset[Place]().union(*(one.exports for one in homes))
        if found := {(cluster, spec.export) for cluster in clusters} & there:
            return found
    return set()


def lost_of(world: World, home: str, place: Place, lost: Iterable[Lost]) -> set[Place]:
    """Return the exports among what is lost that a slice's reference leads to."""
    spec = world.of(home).slices[place]
    reference = spec.reference or place[0]
    return {
        (one.cluster, one.name)
        for one in lost
        if one.shard is None and one.name == spec.export and reference in (one.path, one.cluster)
    }


def wish(world: World, home: str, place: Place) -> Wish:
    """Return what the slice has to list, computed from nothing but the books."""
    state = world.of(home)
    selected = selection(state, place, state.slices[place])
    if selected is None:
        return Wish(frozenset())
    lost = world.held | world.unsure
    exports, gone = exports_of(world, home, place), lost_of(world, home, place, lost)
    there = {shard.url for shard in world.shards().values() if selected <= shard.labels}
    away = {one.shard.url for one in lost if one.shard is not None}
    must = {compose(url, export) for url in there for export in exports}
    may = {compose(url, export) for url in there | away for export in exports | gone}
    if len(exports | gone) > 1:  # two exports under one reference: whatever was there stays
        return Wish(frozenset(), frozenset(must | may))
    return Wish(frozenset(must), frozenset(may - must))


def export_wish(world: World, place: Place) -> Wish:
    """Return what an export's deprecated list has to show."""
    must = frozenset(compose(shard.url, place) for shard in world.shards().values())
    lost = world.held | world.unsure
    return Wish(must, frozenset(compose(one.shard.url, place) for one in lost if one.shard is not None) - must)


class Books:
    """The world through time."""

    def __init__(self, world: World, at: float) -> None:
        """Begin with that world."""
        self._states: list[tuple[float, World]] = [(at, world)]

    @property
    def now(self) -> World:
        """The newest state."""
        return self._states[-1][1]

    def change(self, world: World, at: float) -> None:
        """Note what is about to be so."""
        self._states.append((at, world))

    def between(self, start: float, end: float) -> list[World]:
        """Return the state at `start`, and each later one that began until `end`."""
        before = [world for at, world in self._states if at <= start] or [self._states[0][1]]
        return [*before[-1:], *(world for at, world in self._states if start < at <= end)]
