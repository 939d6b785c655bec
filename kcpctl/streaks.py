"""Streaks: which of many equal failures in a row are worth a line."""

from collections import OrderedDict
from collections.abc import Hashable

_MOST = 10_000


class Streaks:
    """Counts failures in a row; the 1st, 2nd, 4th, 8th … is worth a line, and each that is unlike the one before.

    Invariant: no more than 10,000 streaks are remembered, the latest ones.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._last: OrderedDict[Hashable, tuple[Hashable, int]] = OrderedDict()

    def failed(self, who: Hashable, how: Hashable) -> tuple[int, bool]:
        """Count one more failure, and return how many there were in a row, and whether to tell of it."""
        before, count = self._last.pop(who, (None, 0))
        count += 1
        self._last[who] = (how, count)
        if len(self._last) > _MOST:
            self._last.popitem(last=False)
        return count, how != before or count & (count - 1) == 0

    def ended(self, who: Hashable) -> None:
        """Forget the streak, if there is one."""
        if self._last:
            self._last.pop(who, None)
