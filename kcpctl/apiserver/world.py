"""What the verbs work on: the store, what is served, and how stored objects are shown."""

from collections.abc import Callable, Sequence
from random import Random

import msgspec

from informers.clock import Clock, SystemClock
from kcpctl.apiserver import stored
from kcpctl.apiserver.admission import Admission
from kcpctl.apiserver.aside import Aside
from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.keys import place
from kcpctl.apiserver.recent import Recent
from kcpctl.apiserver.served import Catalog, Served
from kcpctl.apiserver.storage.base import Change, Record, Storage

_EVENTS_KEPT = 4 << 20
"""Bytes of encoded events that are kept for other watchers of the same collection."""

_CONVERTED_KEPT = 8 << 20
"""Bytes of objects that are kept as another version than the stored one."""

_SYSTEM_CLOCK = SystemClock()
_RANDOM = Random()


class Event(msgspec.Struct, frozen=True, gc=False):
    """One line of a watch, encoded once for all who get it as plain JSON."""

    type: str
    """ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""
    line: bytes
    """`{"type":…,"object":…}` and a line feed."""
    revision: int
    """The revision at which it happened; 0 for an ERROR."""

    @property
    def body(self) -> bytes:
        """The object alone."""
        return self.line[len(_LINE % (self.type.encode(), b"")) - 2 : -2]


_LINE = b'{"type":"%b","object":%b}\n'


def event(kind: str, body: bytes, revision: int) -> Event:
    """Return an event of that type with this object."""
    return Event(kind, _LINE % (kind.encode(), body), revision)


class World:
    """One API server's state and rules. Served kinds are told apart by identity: a changed schema is another Served."""

    def __init__(
        self,
        storage: Storage,
        catalog: Catalog,
        *,
        clock: Clock = _SYSTEM_CLOCK,
        rng: Random = _RANDOM,
        admission: Sequence[Admission] = (),
    ) -> None:
        """Show what the storage holds as the catalogue says.

        `rng` decides how long watches last by themselves; every write passes the admission rules, in order.
        """
        self.storage = storage
        self.catalog = catalog
        self.clock = clock
        self.rng = rng
        self.admission = tuple(admission)
        self.aside = Aside()
        self._events: Recent[tuple[Served, str, int], Event] = Recent(_EVENTS_KEPT)
        self._converted: Recent[tuple[Served, str, int], bytes] = Recent(_CONVERTED_KEPT)
        self._watches: dict[Served, dict[Callable[[], None], None]] = {}

    def injected(self, record: Record, served: Served, scope: Scope) -> bytes:
        """Return a record as served: with that version's apiVersion, the resourceVersion, and kcp's annotations."""
        return self._spliced(record, served, scope, _head(served), record.revision)

    def item(self, record: Record, served: Served, scope: Scope) -> bytes:
        """Return a record as an item of a list: as served, but built-ins have no apiVersion and kind there."""
        head = _head(served) if served.is_custom else stored.ITEM_HEAD
        return self._spliced(record, served, scope, head, record.revision)

    def event(self, kind: str, change: Change, served: Served, scope: Scope) -> Event:
        """Return a change as an event of that type; a DELETED shows the previous state at the change's revision."""
        key = (served, kind, change.revision)
        found = self._events.get(key)
        if found is None:
            record = Record(change.key, change.revision, change.value) if change.value is not None else None
            if kind == "DELETED" or record is None:
                record = change.previous
            assert record is not None  # a change has a state before it, or one after it
            body = self._spliced(record, served, scope, _head(served), change.revision)
            found = event(kind, body, change.revision)
            self._events.put(key, found, len(found.line))
        return found

    def retire(self, served: Served) -> None:
        """End all watches of a kind that is not served any more, or not as it was."""
        for end in list(self._watches.pop(served, ())):
            end()

    def watching(self, served: Served, end: Callable[[], None]) -> None:
        """Have `end` called, once, when the kind is retired."""
        self._watches.setdefault(served, {})[end] = None

    def not_watching(self, served: Served, end: Callable[[], None]) -> None:
        """Forget what `watching` was told."""
        if ends := self._watches.get(served):
            ends.pop(end, None)
            if not ends:
                del self._watches[served]

    def _spliced(self, record: Record, served: Served, scope: Scope, head: bytes, revision: int) -> bytes:
        value = record.value if served.strategy.serves_stored_bytes else self._as_served(record, served, scope)
        return stored.splice(value, revision, head=head, notes=_notes(record.key, scope))

    def _as_served(self, record: Record, served: Served, scope: Scope) -> bytes:
        """Return the stored object in the served version, in canonical form.

        What is remembered goes by the value, not by the revision: dry runs and last states are shown at revisions at
        which something else is stored.
        """
        key = (served, record.key, hash(record.value))
        found = self._converted.get(key)
        if found is None:
            obj = served.strategy.from_storage(stored.decode(record.value))
            found = stored.encode(obj, scope)
            self._converted.put(key, found, len(found))
        return found


def _head(served: Served) -> bytes:
    return stored.head(served.api_version, served.kind)


def _notes(key: str, scope: Scope) -> bytes:
    if not scope.cluster:
        return b""
    if not scope.is_wildcard:
        return stored.notes(scope.cluster, scope.shard if scope.is_cache else "")
    where = place(key, is_cache=scope.is_cache)
    return stored.notes(where.cluster, where.shard)
