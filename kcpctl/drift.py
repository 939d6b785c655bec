"""How the cache differs from a shard: the answers to `kcpctl replication`, as values and as text."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import msgspec

from kcpctl.spans import ago, counted

HELD = "held"
"""What is said of a lease that is."""
_MOST_NAMED = 10
"""How many of a kind are shown by name."""


class KindDrift(msgspec.Struct, frozen=True, rename="camel"):
    """One resource: how many objects are stored here and have copies, and which of them do not agree."""

    resource: str
    originals: int
    copies: int
    missing: list[str]
    """Originals without a copy."""
    differing: list[str]
    """Originals whose copies are not what they should be."""
    extra: list[str]
    """Copies without an original that are to be deleted."""
    held: list[str]
    """Copies without an original that stay, since it may exist all the same."""
    malformed: list[str]
    """Copies, of whichever shard, that cannot be read."""


class Orphans(msgspec.Struct, frozen=True, rename="camel"):
    """Copies of a shard that nobody knows."""

    shard: str
    copies: list[str]


class Drift(msgspec.Struct, frozen=True, rename="camel"):
    """All of it."""

    now: datetime
    shard: str
    lease: str
    doubted_since: datetime | None
    """Since when the local store is taken for another one, or an older one, than what the copies are of."""
    kinds: list[KindDrift]
    orphans: list[Orphans]


class Pruned(msgspec.Struct, frozen=True, rename="camel"):
    """What was pruned, or would be."""

    orphans: list[Orphans]
    deleted: int
    """How many of these copies; 0 where they were only to be shown."""


class Adopted(msgspec.Struct, frozen=True, rename="camel"):
    """What was let go by taking the local store for what it is."""

    was_doubted: bool
    entries: int
    """Shards and exports that counted although the local store lacks them."""
    copies: int
    let_go: list[str] = []
    """What these are."""
    let_go_copies: list[str] = []
    endpoints: list[str] = []
    """What slices of this shard listed because of them, or of a partition that the local store lacks."""


# As text


def drift_lines(found: Drift) -> Iterator[str]:
    """Yield a comparison as text: what is well is short."""
    doubt = (
        "" if found.doubted_since is None else f"; the local store is doubted for {ago(found.doubted_since, found.now)}"
    )
    yield f"shard {found.shard}: the lease of its segment is {found.lease}{doubt}"
    for kind in found.kinds:
        apart = {
            "missing": kind.missing,
            "differing": kind.differing,
            "to be deleted": kind.extra,
            "held": kind.held,
            "malformed": kind.malformed,
        }
        counts = "".join(f", {len(names)} {what}" for what, names in apart.items() if names)
        yield f"{kind.resource}: {kind.originals} originals, {kind.copies} copies{counts}"
        for what, names in apart.items():
            yield from _named(names, f"{what}: ")
    if any(kind.held for kind in found.kinds) and found.lease != HELD:
        yield "nothing is deleted before the lease is held, and what is held stays if the store is doubted then"
    elif any(kind.held for kind in found.kinds):
        yield "what is held is let go by `kcpctl replication adopt`, if this store is the right one"
    yield from orphan_lines(found.orphans)
    if found.orphans:
        yield "they are deleted by `kcpctl replication prune --yes`"


def orphan_lines(orphans: Iterable[Orphans]) -> Iterator[str]:
    """Yield the copies of unknown shards as text."""
    for one in orphans:
        yield f"shard {one.shard} is not known, and has {counted(len(one.copies), 'copy', 'copies')} in the cache"
        yield from _named(one.copies)


def adopted_lines(done: Adopted) -> Iterator[str]:
    """Yield what was let go by adopting as text."""
    if done.was_doubted:
        yield "the local store is taken for what it is from now on"
    entries = counted(done.entries, "object", "objects")
    yield f"let go: {entries} that the store lacks, {counted(done.copies, 'copy', 'copies')} in the cache"
    yield from going_lines(done.let_go, done.endpoints)
    yield from _named(done.let_go_copies, "copy ")


def going_lines(objects: Sequence[str], endpoints: Sequence[str]) -> Iterator[str]:
    """Yield what was let go as text, and which endpoints go with that."""
    yield from _named(objects)
    if endpoints:
        slices = len({one.partition(": ")[0] for one in endpoints})
        shown = counted(len(endpoints), "endpoint goes", "endpoints go")
        yield f"{shown} from {counted(slices, 'slice', 'slices')} of this shard"
        yield from _named(endpoints)


def _named(names: Sequence[str], before: str = "") -> Iterator[str]:
    yield from (f"  {before}{name}" for name in names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        yield f"  {before}{len(names) - _MOST_NAMED} more"
