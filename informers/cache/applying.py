"""Events of a watch, applied to a store one after the other."""

from collections import Counter
from typing import Generic, TypeVar

import msgspec

from informers.api.decoding import Malformed, WatchEvent
from informers.api.errors import DecodeError, api_error
from informers.api.objects import Key, Object
from informers.cache.index import IndexerFailed
from informers.cache.notices import Audience, Evidence, Notice
from informers.cache.quarantine import Quarantine
from informers.cache.recovery import Happened, Trouble
from informers.cache.revisions import is_older
from informers.cache.store import Store

T = TypeVar("T")


class Applier(Generic[T]):
    """Makes each event a change of the store and a notice of it, in one step.

    Invariants: the store is at an event's revision only after it has the event. A revision that the store has reached
    is not applied again, so that an event which a server repeats cannot take an object back in time, or back to life.
    While no revision is known, ADDED events bring none: a watch from nowhere begins with the state, in no order.
    """

    __slots__ = ("_audience", "_quarantine", "_store", "applied", "repeats", "seen")

    def __init__(self, store: Store[T], quarantine: Quarantine, audience: Audience[T]) -> None:
        """Write to the store, set objects aside in the quarantine, deliver notices to the audience."""
        self._store = store
        self._quarantine = quarantine
        self._audience = audience
        self.applied = 0
        """Events that told something new of an object."""
        self.repeats = 0
        """Events that the store had already."""
        self.seen: Counter[str] = Counter()
        """Events by type, bookmarks and errors among them."""

    def apply(self, events: list[WatchEvent[T]]) -> None:
        """Apply events one after the other, without an await in between; one loop, since a call for each shows.

        Raises `ApiError` for an ERROR event, `Happened` for a bookmark from before our time, and `DecodeError` for a
        deletion of nobody knows what; then those before it are applied.
        """
        store, audience, errors = self._store, self._audience, self._quarantine.errors
        modified = applied = 0
        try:
            for event in events:
                kind, obj = event.type, event.object
                if kind == "MODIFIED":
                    modified += 1
                else:
                    self.seen[kind] += 1
                if obj is None or kind == "DELETED":
                    self._apply_other(event)
                    continue
                revision, reached = obj.rv, store.revision
                # What nearly every event is, said fast: a revision of as many digits, and a higher one.
                if not (revision > reached and len(revision) == len(reached)) and self._is_repeat(revision):
                    self.repeats += 1
                    continue
                applied += 1
                if kind == "MODIFIED" or kind == "ADDED":  # a third of what asking a set costs
                    try:
                        old = store.put(obj)
                    except IndexerFailed as failure:
                        self._quarantine.hold(obj.key, str(failure))
                    else:
                        if errors:
                            self._quarantine.release(obj.key)
                        audience.deliver(Notice(old, obj, obj.key))
                if revision and (reached or kind != "ADDED"):
                    store.revision = revision
        finally:
            if modified:
                self.seen["MODIFIED"] += modified
            self.applied += applied

    def _apply_other(self, event: WatchEvent[T]) -> None:
        if event.object is not None:
            self._delete(event.object)
        elif event.status is not None:
            raise api_error(event.status)
        elif event.malformed is not None:
            self._apply_malformed(event.type, event.malformed)
        elif is_older(event.revision, self._store.revision):
            raise Happened(
                Trouble.BEHIND,
                f"expected bookmarks from {self._store.revision} on, found one at {event.revision}",
            )
        elif event.revision:
            self._store.revision = event.revision

    def _delete(self, obj: Object[T]) -> None:
        """Drop what went; servers before 1.19 send the object's last revision instead of the deletion's."""
        known = self._store.get(obj.key)
        if self._is_repeat(obj.rv):
            if known is None or known.uid != obj.uid or is_older(obj.rv, known.rv):
                self.repeats += 1
                return
        elif obj.rv:
            self._store.revision = obj.rv
        self.applied += 1
        self._drop(obj.key, obj)

    def _drop(self, key: Key, last: Object[T] | None) -> None:
        known = self._store.drop(key)
        self._quarantine.release(key)
        self._audience.deliver(Notice(last or known, None, key, False, Evidence.DELETED_EVENT))

    def _apply_malformed(self, kind: str, malformed: Malformed) -> None:
        """Set the object aside, or let it go; it does not count as an event."""
        revision = _revision_of(malformed.raw)
        if self._is_repeat(revision):
            self.repeats += 1
            return
        if kind == "DELETED":
            self._drop(named(malformed), None)
        else:
            self._quarantine.hold(malformed.key, malformed.error)
        if revision:
            self._store.revision = revision

    def _is_repeat(self, revision: str) -> bool:
        """Say whether the store has reached the revision already, in this epoch."""
        reached = self._store.revision
        return reached != "" and (revision == reached or is_older(revision, reached))


def named(deleted: Malformed) -> Key:
    """Return the key of an object that went and cannot be read; raises `DecodeError` where not even that is there."""
    if not deleted.key.name:
        raise DecodeError(f"expected a DELETED event to name its object, found {deleted.raw[:80]!r}")
    return deleted.key


class _Metadata(msgspec.Struct):
    resource_version: str = msgspec.field(name="resourceVersion", default="")


class _Revised(msgspec.Struct):
    metadata: _Metadata


_decode_revision = msgspec.json.Decoder(_Revised).decode


def _revision_of(raw: bytes) -> str:
    """Return the revision of an object that has something else wrong with it; "" where that is wrong too."""
    try:
        return _decode_revision(raw).metadata.resource_version
    except msgspec.DecodeError:
        return ""
