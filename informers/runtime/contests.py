"""Contests: one wish of a controller that is written again and again, since somebody undoes it each time."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from informers.api.objects import Key, Object
from informers.clock import Clock
from informers.runtime.facts import Undone
from informers.runtime.result import Result

WRITES = 10
"""Writes in a row that are made at full speed."""
WITHIN = 10.0
"""Seconds in which the next write has to follow to be one in a row."""
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0

_encode = msgspec.json.Encoder(order="sorted").encode


class Row(msgspec.Struct):
    """Writes in a row of one wish."""

    wish: int
    rv: str
    """The resourceVersion that the last write was made upon."""
    began: float
    writes: int
    free_at: float
    """When the next write may be made."""


class Contests:
    """Finds two writers who undo each other, and slows ours down; it is told once a row, and asked only at writes.

    Invariants: writes of an object are in a row if they are of one wish, upon a newer object each, and each comes
    within `WITHIN` seconds of when it might have come. After `WRITES` of them each waits for a pause: 1 s, 2 s … 300 s.
    No more than `keys` objects are remembered, the latest ones.
    """

    def __init__(self, controller: str, clock: Clock, notice: Callable[[Undone], None], *, keys: int = 10_000) -> None:
        """Take whose writes they are, and who is told of a contest."""
        self._controller = controller
        self._clock = clock
        self._notice = notice
        self._most = keys
        self._rows: OrderedDict[Key, Row] = OrderedDict()

    def pause(self, obj: Object[Any], result: Result) -> float:
        """Return the seconds for which this wish must not be written; at or below 0 it may be."""
        row = self._rows.get(obj.key)
        if row is None or row.writes < WRITES:
            return 0.0
        left = row.free_at - self._clock.monotonic()
        return left if left > 0 and row.wish == _fingerprint(obj, result) else 0.0

    def written(self, obj: Object[Any], result: Result, change: Mapping[str, Any]) -> None:
        """Count a write that was made upon this object; `change` is what of the wish differed."""
        now, wish = self._clock.monotonic(), _fingerprint(obj, result)
        row = self._rows.pop(obj.key, None)
        if row is None or row.wish != wish or now > row.free_at + WITHIN:
            row = Row(wish, "", now, 0, now)
        is_next = row.rv != obj.rv  # an apply may be made twice upon one object, when its echo is late
        if is_next:
            row.rv, row.writes = obj.rv, row.writes + 1
            row.free_at = now + _pause_after(row.writes)
        self._rows[obj.key] = row
        if len(self._rows) > self._most:
            self._rows.popitem(last=False)
        if is_next and row.writes == WRITES:
            fact = Undone(
                self._controller, obj.key.shardless(), tuple(_fields(change)), WRITES, now - row.began, _FIRST_PAUSE
            )
            self._notice(fact)


def _pause_after(writes: int) -> float:
    return min(_FIRST_PAUSE * 2.0 ** min(writes - WRITES, 16), _LONGEST_PAUSE) if writes >= WRITES else 0.0


def _fingerprint(obj: Object[Any], result: Result) -> int:
    return hash((obj.uid, _encode((result.status, result.fields))))


def _fields(change: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each field in a merge patch; a list is one."""
    if not isinstance(change, Mapping) or (path and not change):
        yield path
        return
    for name, inner in change.items():
        yield from _fields(inner, f"{path}.{name}" if path else str(name))
