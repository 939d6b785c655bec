"""How the local store goes on from what was seen of it: whether what it lacks was deleted, or never reached it."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from controllers.entries import Moment
from controllers.evidence import continuity
from controllers.feeding import Feed
from controllers.keeping import Standing
from informers.cache.histories import Continuity


class HomeStore:
    """Follows the local store's history, by all the feeds that come from it.

    Invariant: while it is doubted, the standing keeps the last moment that nobody doubted; so that a restart doubts it
    as well, until somebody adopts it.
    """

    def __init__(self, *, is_new: bool) -> None:
        """`is_new`: it held nothing when the process started; asked where nothing was kept of it by earlier ones."""
        self._is_new = is_new
        self._feeds: Sequence[Feed] = ()
        self._numbers: dict[Feed, int] | None = None

    def follow(self, standing: Standing, feeds: Sequence[Feed], now: datetime) -> Standing:
        """Return the standing with the local store as these feeds show it now; there is at least one."""
        self._feeds = feeds
        if standing.home is None:
            doubted = now if self._is_new else None
            return msgspec.structs.replace(self.adopted(standing), doubted_since=doubted)
        if self._goes_on(standing.home):
            return msgspec.structs.replace(standing, home=self._reached())
        return msgspec.structs.replace(standing, doubted_since=standing.doubted_since or now)

    def adopted(self, standing: Standing) -> Standing:
        """Return the standing with the local store taken for what it is."""
        if not self._feeds:
            return standing
        self._numbers = {feed: feed.number for feed in self._feeds}
        return msgspec.structs.replace(standing, home=self._reached(), doubted_since=None)

    def _reached(self) -> Moment:
        """Return the moment of the feed that has come furthest: each knows only of changes of its own kind."""
        return max((feed.moment for feed in self._feeds), key=_revision)

    def _goes_on(self, home: Moment) -> bool:
        revision = self._reached().revision
        return all(self._is_of(home, feed, revision) for feed in self._feeds)

    def _is_of(self, home: Moment, feed: Feed, revision: str) -> bool:
        match continuity(home, feed.lineage, revision):
            case Continuity.UNPROVEN:  # nothing can tell of a server that an earlier process has followed
                return self._numbers is not None and self._numbers.setdefault(feed, feed.number) == feed.number
            case found:
                return found is Continuity.SAME


def _revision(moment: Moment) -> int:
    return int(moment.revision) if moment.revision.isdecimal() else 0
