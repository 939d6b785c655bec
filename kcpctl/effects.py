"""What goes by an operator's word, as it is known before: objects that count, and endpoints that slices list here."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from controllers.entries import EXPORT, Entry, State
from controllers.kinds import PARTITIONS, SLICES
from controllers.publishing import SeenShard
from controllers.urls import SERVICES
from controllers.view import View
from informers.api.objects import Key, Object
from informers.runtime.manager import Manager


class Going(msgspec.Struct, frozen=True):
    """What goes, as people read it."""

    objects: list[str] = []
    endpoints: list[str] = []
    """Each with the slice that lists it; of this process' own shard."""


def going(manager: Manager, view: View, entries: Sequence[Entry]) -> Going:
    """Return what goes with these entries; the endpoints of an export that another shard has too do not."""
    last = [entry for entry in entries if not view.sightings.has_twin(entry)]
    patterns = list(filter(None, map(_pattern, last)))
    objects = sorted({_named(entry, view.home) for entry in entries})
    if not patterns:
        return Going(objects)
    listed = _listed(manager.informer(SLICES).store, re.compile("|".join(patterns)))
    return Going(objects, sorted(listed))


def going_at_home(manager: Manager, view: View) -> Going:
    """Return what goes when the local store is taken for what it is, slices without their partitions included."""
    lost = [one for one in view.held() if one.source == "local" and one.state is State.HELD]
    found = going(manager, view, lost)
    if not view.local_is_doubted:
        return found
    emptied = _listed(_without_partition(manager), re.compile(""))
    return Going(found.objects, sorted({*found.endpoints, *emptied}))


def _without_partition(manager: Manager) -> Iterator[Object[Any]]:
    """Yield the slices whose partition is not there, where partitions are followed."""
    every = (one for one in manager.informers if one.origin.collection.resource.plural == PARTITIONS.plural)
    partitions = next((one for one in every if one.synced), None)
    for obj in manager.informer(SLICES).store if partitions is not None else ():
        name = obj.at("spec", "partition", default="")
        if name and partitions is not None and partitions.store.get(Key("", obj.cluster, "", name)) is None:
            yield obj


def _pattern(entry: Entry) -> str:
    """Return what the URLs begin with, or hold, that are published by an entry; "" for none."""
    what = entry.what
    if isinstance(what, SeenShard):
        return f"^{re.escape(what.url.rstrip('/'))}/" if what.url else ""
    return rf"{SERVICES}{re.escape(what.cluster)}/{re.escape(what.name)}(?![^/?#])"


def _listed(slices: Iterable[Object[Any]], pattern: re.Pattern[str]) -> Iterator[str]:
    for obj in slices:
        for endpoint in obj.at("status", "endpoints", default=None) or ():
            if pattern.search(url := str(endpoint.get("url", ""))):
                yield f"{obj.cluster}|{obj.name}: {url}"


def _named(entry: Entry, home: str) -> str:
    kind = "APIExport" if entry.place.kind == EXPORT else "Shard"
    what = entry.what
    where = what.url if isinstance(what, SeenShard) else f"of shard {entry.place.shard(home)}"
    path = "" if isinstance(what, SeenShard) or what.path in ("", what.cluster) else f" ({what.path})"
    return f"{kind} {entry.key.cluster}|{entry.key.name}{path} {where}".rstrip()
