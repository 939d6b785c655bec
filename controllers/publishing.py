"""Which URLs are published: added when a shard is known, removed only on evidence, held otherwise."""

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from controllers.urls import SERVICES, Frame, frame_of, path_of
from informers.api.conditions import Condition, mark_false, mark_true, mark_unknown, timestamp
from informers.api.selectors import LabelSelector

HELD = "EndpointsHeld"
"""Reason of a condition that is Unknown because published URLs could not be accounted for."""
FAILED = "ErrorGeneratingURLs"
"""Reason of a condition that is False because no URL can be published."""


class SeenShard(msgspec.Struct, frozen=True, tag="Shard", omit_defaults=True):
    """A Shard as last seen."""

    name: str
    url: str
    """spec.virtualWorkspaceURL."""
    labels: dict[str, str] = {}
    held_since: datetime | None = None
    """When it was missed first without evidence of its deletion; None while it is there."""
    why: str = "is not listed any more"
    """Why it is held, where it is."""


class Unusable(msgspec.Struct, frozen=True, order=True):
    """A selected Shard whose URL cannot be published."""

    shard: str
    url: str
    why: str


class Chosen(msgspec.Struct, frozen=True):
    """All shards as one selector sees them: worked out once, however many slices ask."""

    wanted: dict[Frame, SeenShard]
    elsewhere: frozenset[Frame]
    """Of what is known and not selected."""
    held: tuple[Frame, ...]
    """Those of the wanted whose shards are held."""
    unusable: tuple[Unusable, ...]
    plain: tuple[str, ...] | None
    """What all wanted frames begin with, where a path is all that follows."""
    composed: dict[str, tuple[str, ...]]
    """The URLs that were asked for last, by the path."""

    def compose(self, path: str) -> tuple[str, ...]:
        """Return the wanted URLs of the export with this path, sorted; several slices of one ask for them in a row."""
        found = self.composed.get(path)
        if found is None:
            frames = self.wanted if self.plain is None else ()
            urls = [one + path for one in self.plain or ()] + [frame.around(path) for frame in frames]
            self.composed.clear()
            found = self.composed[path] = tuple(sorted(urls))
        return found


@dataclass(frozen=True)
class Shards:
    """All that is known of all shards."""

    seen: tuple[SeenShard, ...] = ()
    retired: Container[Frame] = frozenset()
    """Frames of URLs that a Shard evidently bore and bears no more: it was changed or deleted before our eyes."""
    since: datetime | None = None
    """When the complete set was first known; None means that it never was."""
    outdone: frozenset[Frame] = frozenset()
    """Frames of URLs that somebody else says of a Shard which says another one of itself."""
    _chosen: dict[LabelSelector, Chosen] = field(default_factory=dict, compare=False, repr=False)

    def chosen(self, selector: LabelSelector) -> Chosen:
        """Return the shards as the selector sees them."""
        found = self._chosen.get(selector)
        if found is None:
            found = self._chosen[selector] = _choose(self.seen, self.outdone, selector)
        return found


def _choose(seen: Sequence[SeenShard], outdone: frozenset[Frame], selector: LabelSelector) -> Chosen:
    wanted: dict[Frame, SeenShard] = {}
    elsewhere = set(outdone)
    unusable: list[Unusable] = []
    for shard in seen:
        frame, is_selected = frame_of(shard.url), selector.matches(shard.labels)
        if not isinstance(frame, Frame):
            unusable += [Unusable(shard.name, shard.url, str(frame))] if is_selected else []
        elif is_selected:
            wanted.setdefault(frame, shard)
        else:
            elsewhere.add(frame)
    held = tuple(frame for frame, shard in wanted.items() if shard.held_since is not None)
    is_plain = all(frame.has_path and not frame.behind for frame in wanted)
    plain = tuple(sorted(frame.before for frame in wanted)) if is_plain else None
    return Chosen(wanted, frozenset(elsewhere), held, tuple(sorted(unusable)), plain, {})


class Held(msgspec.Struct, frozen=True, order=True):
    """What stays although nothing known asks for it."""

    what: str
    """A published URL, or the export whose URLs are published."""
    why: str
    since: datetime | None = None


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
    chosen, path = shards.chosen(selector), path_of(cluster, export)
    urls = chosen.compose(path)
    if not chosen.held and (not published or tuple(published) == urls):
        return Decision(urls, (), chosen.unusable)
    held = [_held(chosen.wanted[frame], frame.around(path)) for frame in chosen.held]
    wanted = set(urls)
    for url in dict.fromkeys([one for one in published if one not in wanted]):
        held += _unaccounted(url, path, export, shards, chosen, has_left)
    if not held:
        return Decision(urls, (), chosen.unusable)
    kept = wanted.union(one.what for one in held)
    return Decision(tuple(sorted(kept)), tuple(sorted(held, key=lambda h: h.what)), chosen.unusable)


def _held(shard: SeenShard, url: str) -> Held:
    return Held(url, f"Shard {shard.name} {shard.why}", shard.held_since)


def _unaccounted(
    url: str, path: str, export: str, shards: Shards, chosen: Chosen, has_left: Callable[[str], bool]
) -> Iterator[Held]:
    """Yield the URL, which no wanted shard has for this export, unless there is evidence against it."""
    if any(frame in chosen.elsewhere or frame in shards.retired for frame in _frames(url, path)):
        return
    for cluster, frame in _in_any_cluster(url, export):
        if frame in chosen.wanted:
            if not has_left(cluster):
                yield Held(url, f"APIExport {cluster}|{export} may still be there", shards.since)
            return
        if frame in chosen.elsewhere or frame in shards.retired:
            return
    broken = f" ({len(chosen.unusable)} with unusable URLs)" if chosen.unusable else ""
    yield Held(url, f"no known Shard has it{broken}", shards.since)


def _frames(url: str, path: str) -> Iterator[Frame]:
    """Yield each frame that could be around the path in a URL."""
    yield Frame(url, "", has_path=False)
    start = url.find(path)
    while start >= 0:
        yield Frame(url[:start], url[start + len(path) :])
        start = url.find(path, start + 1)


def _in_any_cluster(url: str, export: str) -> Iterator[tuple[str, Frame]]:
    """Yield each cluster that the URL could be for, if it is the export's in another one, and the frame around that."""
    start = url.find(SERVICES)
    while start >= 0:
        cluster, _, rest = url[start + len(SERVICES) :].partition("/")
        if cluster and rest.startswith(export):
            yield cluster, Frame(url[:start], rest[len(export) :])
        start = url.find(SERVICES, start + 1)


def urls_condition(
    kind: str, decision: Decision, before: Condition | None, now: datetime, *, cause: Held | None = None
) -> Condition:
    """Return the condition that tells how the URLs came about; `cause` is what else is held: the export, say.

    A condition that already tells of the same held URLs stays as it is, times included: nothing is written because
    time passed or a process was restarted.
    """
    if held := (*((cause,) if cause else ()), *decision.held):
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
