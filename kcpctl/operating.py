"""`kcpctl shards`, `forget` and `replication`: ask the running process of a data directory, and show what it says."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from kcpctl.control import ask
from kcpctl.drift import Adopted, Drift, Pruned, adopted_lines, drift_lines, going_lines, orphan_lines
from kcpctl.greeting import kubectl, near
from kcpctl.shardlist import ShardList, lines
from kcpctl.spans import counted

SHARDS = "shards"
REMOVE_SHARD = "shards.remove"
FORGET_EXPORT = "forget.export"
DRIFT = "replication.status"
ADOPT = "replication.adopt"
PRUNE = "replication.prune"


class Removed(msgspec.Struct, frozen=True, rename="camel"):
    """What a command has done."""

    what: str
    deleted: int
    """How many copies in the cache."""
    recorded: int
    """How many removals the cache server keeps now that are acted upon by every process."""
    is_alone: bool
    """Whether the cache server keeps no removals, so that each process has to be told."""
    let_go: list[str] = []
    """What the process knew of it, which counts no more."""
    endpoints: list[str] = []
    """What slices of its shard listed because of that, each with its slice."""
    cache_kubeconfig: str = ""
    """How people reach the cache server."""


def list_shards(data_dir: Path, output: str) -> int:
    """Show all shards that the process knows."""
    answer = ask(data_dir, SHARDS)
    return _show(answer, output, lines(msgspec.convert(answer, ShardList)))


def remove_shard(data_dir: Path, name: str, output: str, *, force: bool, former: bool) -> int:
    """Have a shard removed that is no more, or what had its name before."""
    answer = ask(data_dir, REMOVE_SHARD, name=name, force=force, former=former)
    return _show(answer, output, _removed(msgspec.convert(answer, Removed)))


def forget_export(data_dir: Path, cluster: str, name: str, output: str) -> int:
    """Have an export forgotten that is no more."""
    answer = ask(data_dir, FORGET_EXPORT, cluster=cluster, name=name)
    return _show(answer, output, _removed(msgspec.convert(answer, Removed)))


def replication_status(data_dir: Path, output: str) -> int:
    """Show how the cache differs from the shard."""
    answer = ask(data_dir, DRIFT)
    return _show(answer, output, drift_lines(msgspec.convert(answer, Drift)))


def adopt(data_dir: Path, output: str) -> int:
    """Have the local store taken for what it is."""
    answer = ask(data_dir, ADOPT)
    return _show(answer, output, adopted_lines(msgspec.convert(answer, Adopted)))


def prune(data_dir: Path, output: str, *, for_good: bool) -> int:
    """Show the copies of shards that nobody knows, or have them deleted."""
    answer = ask(data_dir, PRUNE, for_good=for_good)
    return _show(answer, output, _pruned(msgspec.convert(answer, Pruned), for_good=for_good))


def _show(answer: Any, output: str, text: Iterable[str]) -> int:
    if output == "json":
        print(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())
    else:
        print("\n".join(text))
    return 0


def _removed(done: Removed) -> Iterator[str]:
    yield f"{done.what}: {counted(done.deleted, 'copy', 'copies')} deleted from the cache, and let go:"
    yield from going_lines(done.let_go or ["nothing that this process knew of"], done.endpoints)
    if done.is_alone:
        yield (
            "this cache server keeps no removals, so only this process lets go what is gone: "
            "run the command for every other process as well (--data-dir)"
        )
    else:
        yield "a removal is kept there, upon which every process acts; who has is shown by"
        yield f"  {kubectl()} --kubeconfig {near(Path(done.cache_kubeconfig))} get removals"


def _pruned(done: Pruned, *, for_good: bool) -> Iterator[str]:
    yield from orphan_lines(done.orphans)
    if for_good:
        yield f"deleted: {counted(done.deleted, 'copy', 'copies')}"
    elif done.orphans:
        yield "nothing was deleted: say --yes to delete them"
    else:
        yield "nothing to prune: every copy in the cache is of a shard that is known"
