"""Which URLs are published: added when a shard is known, removed only on evidence, held otherwise."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

import msgspec

from controllers.urls import UnusableUrl, virtual_workspace_url
from informers.api.conditions import Condition, mark_false, mark_true, mark_unknown, timestamp
from informers.api.selectors import LabelSelector

HELD = "EndpointsHeld"
"""Reason of a condition that is Unknown because published URLs could not be accounted for."""
FAILED = "ErrorGeneratingURLs"
"""Reason of a condition that is False because no URL can be published."""
_ANY_CLUSTER = "~any-cluster~"
"""Stands for a cluster's name; neither hosts nor names of exports can hold it."""


class SeenShard(msgspec.Struct, frozen=True):
    """A Shard as last seen."""

    name: str
    url: str
    """spec.virtualWorkspaceURL."""
    labels: dict[str, str] = {}
    held_since: datetime | None = None
    """When a list stopped showing it without evidence of its deletion; None while it is there."""


class Shards(msgspec.Struct, frozen=True):
    """All that is known of all shards."""

    seen: tuple[SeenShard, ...] = ()
    retired: frozenset[str] = frozenset()
    """URLs that a Shard evidently bore and bears no more: it was changed or deleted before our eyes."""
    since: datetime | None = None
    """When this process first knew the complete set; None means that it never did."""


class Held(msgspec.Struct, frozen=True, order=True):
    """What stays although nothing known asks for it."""

    what: str
    """A published URL, or the export whose URLs are published."""
    why: str
    since: datetime | None = None


class Unusable(msgspec.Struct, frozen=True, order=True):
    """A selected Shard whose URL cannot be published."""

    shard: str
    url: str
    why: str


class Decision(msgspec.Struct, frozen=True):
    """What to publish for one export: sorted, without duplicates."""

    urls: tuple[str, ...]
    held: tuple[Held, ...] = ()
    unusable: tuple[Unusable, ...] = ()


def decide(
    published: Sequence[str],
    cluster: str,
    export: str,
    shards: Shards,
    selector: LabelSelector,
    *,
    has_left: Callable[[str], bool] = lambda cluster: True,
) -> Decision:
    """Say which URLs to publish for the export `cluster`/`export` over the selected shards.

    A Shard that is held counts as one that is there, so that old and new slices agree. A published URL goes only on
    evidence: its Shard is known and no longer selected, or bears another URL now, or was deleted before our eyes, or
    the URL is for another cluster, which `has_left` says that the export is evidently not in. Any other stays, and is
    named in `held`.
    """
    wanted: dict[str, SeenShard] = {}
    elsewhere: set[str] = set()
    unusable: list[Unusable] = []
    for shard in shards.seen:
        try:
            url = virtual_workspace_url(shard.url, cluster, export)
        except UnusableUrl as error:
            if selector.matches(shard.labels):
                unusable.append(Unusable(shard.name, shard.url, str(error)))
            continue
        if selector.matches(shard.labels):
            wanted.setdefault(url, shard)
        else:
            elsewhere.add(url)
    elsewhere.update(_composed(shards.retired, cluster, export))
    held = [
        Held(url, f"Shard {shard.name} is not listed any more", shard.held_since)
        for url, shard in wanted.items()
        if shard.held_since is not None
    ]
    left = [url for url in dict.fromkeys(published) if url not in wanted and url not in elsewhere]
    others = _in_other_clusters(left, wanted, export)
    held += [Held(url, _unaccounted(unusable), shards.since) for url in left if url not in others]
    held += [
        Held(url, f"APIExport {other}|{export} may still be there", shards.since)
        for url, other in others.items()
        if not has_left(other)
    ]
    urls = wanted.keys() | {h.what for h in held}
    return Decision(tuple(sorted(urls)), tuple(sorted(held, key=lambda h: h.what)), tuple(sorted(unusable)))


def _composed(urls: frozenset[str], cluster: str, export: str) -> set[str]:
    found = set()
    for url in urls:
        try:
            found.add(virtual_workspace_url(url, cluster, export))
        except UnusableUrl:
            continue  # such a URL was never published
    return found


def _in_other_clusters(urls: Sequence[str], wanted: dict[str, SeenShard], export: str) -> dict[str, str]:
    """Return those of the URLs that are a wanted shard's for the same export name in another cluster, and that cluster.

    Each is looked up by what is around its cluster's name: an export that moves leaves as many URLs as there are
    shards, and comparing all with all took seconds.
    """
    if not urls:
        return {}
    surroundings = set()
    for shard in wanted.values():
        before, _, behind = virtual_workspace_url(shard.url, _ANY_CLUSTER, export).partition(_ANY_CLUSTER)
        surroundings.add((before, behind))
    return {url: piece for url in urls for before, piece, behind in _pieces(url) if (before, behind) in surroundings}


def _pieces(url: str) -> Iterator[tuple[str, str, str]]:
    """Yield each piece of the URL that stands between two slashes, between what is before and behind it."""
    start = url.find("/") + 1
    while (end := url.find("/", start)) >= 0:
        if end > start:
            yield url[:start], url[start:end], url[end:]
        start = end + 1


def _unaccounted(unusable: Sequence[Unusable]) -> str:
    return f"no known Shard has it ({len(unusable)} with unusable URLs)" if unusable else "no known Shard has it"


def urls_condition(
    kind: str, decision: Decision, before: Condition | None, now: datetime, *, export: Held | None = None
) -> Condition:
    """Return the condition that tells how the URLs came about; `export` is set where the export itself is held.

    A condition that already tells of the same held URLs stays as it is, times included: nothing is written because
    time passed or a process was restarted.
    """
    if held := (*((export,) if export else ()), *decision.held):
        message = "; ".join(_told(h, now) for h in held)
        if before is not None and before.reason == HELD and _untimed(before.message) == _untimed(message):
            return before
        return mark_unknown(kind, HELD, message)
    if not decision.urls and decision.unusable:
        message = "; ".join(f"Shard {u.shard} has the unusable URL {u.url!r}: {u.why}" for u in decision.unusable)
        return mark_false(kind, FAILED, message)
    return mark_true(kind)


def _told(held: Held, now: datetime) -> str:
    return f"{held.what} is held: {held.why} (since {timestamp(held.since or now)})"


def _untimed(message: str) -> str:
    return re.sub(r" \(since [^)]*\)", "", message)
