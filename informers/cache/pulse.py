"""Signs of life of a watch: when it was last heard, and how long its silence may last."""

from informers.cache.policy import Policy


class Pulse:
    """Judges the silence of one server's watches, one after the other.

    A half-open connection never fails by itself. Silence is certain death only after the time at which the server was
    to end the watch; where the server was seen to send bookmarks, missing them tells sooner. A server that sends none,
    or only seldom, is never given up before its time.
    """

    def __init__(self, policy: Policy) -> None:
        """Know nothing yet."""
        self._policy = policy
        self._period: float | None = None
        self._last_bookmark = 0.0
        self._ends = 0.0
        self.open = False
        """Whether a watch is established."""
        self.heard: float | None = None
        """When anything was last heard, in monotonic seconds."""

    def opened(self, now: float, ends: float) -> None:
        """Begin to follow a watch that the server is to end at that time."""
        self.open = True
        self.heard = now
        self._last_bookmark = now
        self._ends = ends + self._policy.margin

    def closed(self) -> None:
        """The watch has ended."""
        self.open = False

    def bookmark(self, now: float) -> None:
        """Learn from a periodic bookmark how often they come."""
        self._period = max(now - self._last_bookmark, self._policy.bookmark_period)
        self._last_bookmark = now

    def deadline(self) -> float:
        """Return the time at which the watch counts as dead, if it is not heard again."""
        if self._period is None or self.heard is None:
            return self._ends
        return min(self._ends, self.heard + self._policy.missed_bookmarks * self._period)

    def alive(self, now: float) -> bool:
        """Say whether a watch is established and has been heard in time."""
        return self.open and now < self.deadline()
