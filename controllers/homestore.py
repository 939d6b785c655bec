"""How the local store goes on from what was seen of it: whether what it lacks was deleted, or never reached it."""

from datetime import datetime

import msgspec

from controllers.evidence import continuity
from controllers.feeding import Feed
from controllers.keeping import Standing
from informers.cache.histories import Continuity


class HomeStore:
    """Follows the local store's history.

    Invariant: while it is doubted, the standing keeps the last moment that nobody doubted; so that a restart doubts it
    as well, until somebody adopts it.
    """

    def __init__(self, *, is_new: bool) -> None:
        """`is_new`: it held nothing when the process started; asked where nothing was kept of it by earlier ones."""
        self._is_new = is_new
        self._number = 0
        self._feed: Feed | None = None

    def follow(self, standing: Standing, feed: Feed, now: datetime) -> Standing:
        """Return the standing with the local store as its feed shows it now."""
        self._feed = feed
        if standing.home is None:
            doubted = now if self._is_new else None
            return msgspec.structs.replace(self.adopted(standing), doubted_since=doubted)
        if self._goes_on(standing, feed):
            return msgspec.structs.replace(standing, home=feed.moment)
        return msgspec.structs.replace(standing, doubted_since=standing.doubted_since or now)

    def adopted(self, standing: Standing) -> Standing:
        """Return the standing with the local store taken for what it is."""
        if self._feed is None:
            return standing
        self._number = self._feed.number
        return msgspec.structs.replace(standing, home=self._feed.moment, doubted_since=None)

    def _goes_on(self, standing: Standing, feed: Feed) -> bool:
        assert standing.home is not None  # asked only where there is one
        match continuity(standing.home, feed.lineage, feed.moment.revision):
            case Continuity.UNPROVEN:
                return feed.number == self._number  # which no earlier process can have left
            case found:
                return found is Continuity.SAME
