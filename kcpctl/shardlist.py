"""All shards as one process knows them: the answer to `kcpctl shards`, as values and as text."""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from kcpctl.spans import ago, seconds


class Home(msgspec.Struct, frozen=True, rename="camel"):
    """One place that a Shard is stored at."""

    shard: str
    """The shard whose own store, or segment of the cache, it is in."""
    cluster: str
    source: str
    """`local` or `cache`."""
    state: str
    """`present`, `held` or `leaving`."""
    since: datetime | None = None
    """Since when it is held or leaving."""


class ListedShard(msgspec.Struct, frozen=True, rename="camel"):
    """One shard."""

    name: str
    url: str
    labels: dict[str, str]
    homes: list[Home]
    life: str
    """What the lease of its segment shows: `self`, `alive`, `silent`, `stopped`, `unsure` or `no lease`."""
    seen: datetime | None = None
    """When it was seen to live last, by whoever answers."""
    watched: float = 0.0
    """For how many seconds nothing was seen of it."""
    problem: str = ""
    """Why its URL cannot be published."""
    former: bool = False
    """Whether another shard has taken its place, and it is held beside that one."""


class ShardList(msgspec.Struct, frozen=True, rename="camel"):
    """All of them."""

    now: datetime
    shards: list[ListedShard]


def lines(found: ShardList) -> Iterator[str]:
    """Yield one line for each shard."""
    for shard in found.shards:
        labels = ",".join(f"{key}={value}" for key, value in sorted(shard.labels.items())) or "no labels"
        problem = f"; not published: {shard.problem}" if shard.problem else ""
        home = ", ".join(dict.fromkeys(f"{one.shard}|{one.cluster}" for one in shard.homes))
        yield f"{shard.name}  {shard.url}  [{labels}]  home {home}  {_state(shard, found.now)}{problem}"


def let_go(name: str) -> str:
    """Say how to let go of what has had the name of another shard before."""
    return f"let go of it by `kcpctl shards remove {name} --former`"


def _state(shard: ListedShard, now: datetime) -> str:
    missed = [one for one in shard.homes if one.state != "present"]
    if missed and len(missed) == len(shard.homes):
        since = min((one.since for one in missed if one.since), default=now)
        if shard.former:
            return f"{missed[0].state} for {ago(since, now)}: another has its place; {let_go(shard.name)}"
        return f"{missed[0].state} for {ago(since, now)}; {_life(shard, now)}"
    return _life(shard, now)


def _life(shard: ListedShard, now: datetime) -> str:
    match shard.life:
        case "self":
            return "alive: this process"
        case "silent" if shard.seen is None:
            return f"silent for {seconds(shard.watched)} at least"
        case "silent":
            return f"silent for {ago(shard.seen or now, now)}"
        case "stopped" if shard.seen is not None:
            return f"stopped {ago(shard.seen, now)} ago"
        case "unsure":
            return f"not watched for long enough ({seconds(shard.watched)})"
        case "no lease":
            return "no lease, so nobody knows whether it lives"
        case life:
            return life
