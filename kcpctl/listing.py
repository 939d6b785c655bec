"""Collecting what `kcpctl shards` shows, in one step, from the view and from the leases that were watched."""

from datetime import datetime

from controllers.entries import Entry
from controllers.lives import Life, Lives, Sign
from controllers.names import ROOT
from controllers.publishing import SeenShard
from controllers.view import View
from kcpctl.collecting import entries_of, unusable
from kcpctl.shardlist import Home, ListedShard, ShardList


def listed(view: View, lives: Lives, now: datetime) -> ShardList:
    """Return all shards that are known at this moment, one that has several URLs several times."""
    known = view.sightings
    return ShardList(now, [_listed(one, entries_of(one, known), view.home, lives) for one in known.shards().seen])


def _listed(shard: SeenShard, found: list[Entry], home: str, lives: Lives) -> ListedShard:
    life = life_of(shard.name, found, home, lives)
    return ListedShard(
        shard.name,
        shard.url,
        shard.labels,
        [_home(entry, home) for entry in found],
        life.sign.value,
        life.seen,
        round(life.watched, 1),
        unusable(shard),
        any(entry.place.former for entry in found),
    )


def life_of(name: str, entries: list[Entry], home: str, lives: Lives) -> Life:
    """Say whether a shard lives; of one whose Shard is kept by another nobody can say it."""
    at_own = any((one.place.shard(home), one.key.cluster) == (name, ROOT) for one in entries)
    return lives.of(name) if at_own else Life(Sign.NONE)


def _home(entry: Entry, home: str) -> Home:
    return Home(entry.place.shard(home), entry.key.cluster, entry.source, entry.state.value, entry.since)
