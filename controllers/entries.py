"""What the shard view remembers: Shards and APIExports as last seen, and what has evidently gone."""

from datetime import datetime
from enum import Enum
from typing import Literal, TypeAlias

import msgspec

from controllers.publishing import SeenShard
from informers.api.objects import Key

Kind: TypeAlias = Literal["shards", "apiexports"]
SHARD: Kind = "shards"
EXPORT: Kind = "apiexports"

Source: TypeAlias = Literal["local", "cache"]

Reference: TypeAlias = tuple[str, str]
"""A path or a cluster's name, and an export's name: what slices reference exports by."""

Name: TypeAlias = tuple[Kind, str, str]
"""A kind, a cluster's name and an object's name: two shards may both have one."""


class State(Enum):
    """Whether something that was seen is there now."""

    PRESENT = "present"
    HELD = "held"
    """No list shows it, and nothing shows that it was deleted."""
    LEAVING = "leaving"
    """There is evidence of its deletion, which does not count yet."""


class SeenExport(msgspec.Struct, frozen=True, tag="APIExport", omit_defaults=True):
    """An APIExport's place: its cluster's name and path, and its own name."""

    cluster: str
    path: str
    name: str

    @property
    def references(self) -> tuple[Reference, ...]:
        """What slices may reference it by."""
        own = (self.cluster, self.name)
        return (own, (self.path, self.name)) if self.path and self.path != self.cluster else (own,)


Seen: TypeAlias = SeenShard | SeenExport


class Place(msgspec.Struct, frozen=True, order=True, cache_hash=True, omit_defaults=True):
    """One object in one source."""

    kind: Kind
    source: Source
    key: Key
    former: str = ""
    """Of what was there before, and counts beside what took its place: its uid."""

    @property
    def name(self) -> Name:
        """What it is called, wherever it is."""
        return (self.kind, self.key.cluster, self.key.name)

    def shard(self, home: str) -> str:
        """Return the shard that it is stored at, `home` being the local one."""
        return home if self.source == "local" else self.key.shard


class Moment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A revision of a history: the identity of a store and the term in it, both "" where the server tells neither."""

    store: str = ""
    term: str = ""
    revision: str = ""


class Origin(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which form of an original a copy shows: its uid, and its revision in the store of its home."""

    uid: str = ""
    revision: str = ""
    store: str = ""
    """The identity of that store, where the copy says so: a Shard's does, in the lease of its segment."""

    def is_before(self, other: "Origin") -> bool:
        """Say whether this is an older form of the same original, or of one that was made anew in the same store."""
        if not (self._is_of(other) and self.revision.isdecimal() and other.revision.isdecimal()):
            return False
        return int(self.revision) < int(other.revision)

    def _is_of(self, other: "Origin") -> bool:
        return bool(self.uid and self.uid == other.uid) or bool(self.store and self.store == other.store)


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """An object as last seen in one source."""

    place: Place
    uid: str
    what: Seen
    moment: Moment
    """A moment at which it was there, as it is here."""
    state: State = State.PRESENT
    since: datetime | None = None
    """Since when it is held or leaving; None while it is there."""
    why: str = ""
    """On what grounds it is held or leaving."""
    origin: Origin = Origin()
    """Of a copy: which form of its original this is."""
    formed: Moment | None = None
    """A moment at which it was in this form, where that is another one."""

    @property
    def source(self) -> Source:
        """Where it was seen."""
        return self.place.source

    @property
    def key(self) -> Key:
        """Its key in that source."""
        return self.place.key

    def is_another(self, uid: str, origin: Origin) -> bool:
        """Say whether something with this uid and origin is another object than this: no newer form of it.

        What the same store has made anew is one.
        """
        if origin.store and origin.store == self.origin.store:
            return False
        return (origin.uid or uid) != (self.origin.uid or self.uid)

    @property
    def held_since(self) -> datetime | None:
        """Since when it is held; None while it is there, or leaving."""
        return self.since if self.state is State.HELD else None


class Gone(msgspec.Struct, frozen=True, omit_defaults=True):
    """What evidently is no more: a Shard's URL, or what an export was referenced by."""

    kind: Kind
    uid: str
    when: datetime
    urls: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()


class Malformed(msgspec.Struct, frozen=True):
    """An object that does not read as what it should be; what was known of it before stays."""

    place: Place
    error: str

    @property
    def source(self) -> Source:
        """Where it was seen."""
        return self.place.source

    @property
    def key(self) -> Key:
        """Its key in that source."""
        return self.place.key


class Removal(msgspec.Struct, frozen=True):
    """Somebody's word that an object is gone for good."""

    kind: Kind
    shard: str
    """The shard whose copy it is: its segment of the cache."""
    cluster: str
    name: str
    uid: str = ""
    """The object that is meant; "" is whichever was seen last."""
    url: str = ""
    """A Shard's URL, for where it is published and no Shard is known to have it."""
    path: str = ""
    """The path of an export's cluster, for the same case."""
