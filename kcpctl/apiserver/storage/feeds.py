"""Watches on a store in memory: every change goes to the feeds whose prefix it is under, and to no others.

A feed is a cursor with a short list of what came since. A consumer that falls behind loses the list, not the changes:
it reads on from history, and only when that is gone as well it is told so. Writers never wait for consumers.
"""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Self

from kcpctl.apiserver.storage.base import Batch, Change
from kcpctl.apiserver.storage.history import History

_PENDING = 4096
"""Changes that are held ready for one slow consumer before it has to read on from history."""

_AT_ONCE = 8
"""Consumers that are woken in one turn of the loop: each of them may write to a socket, which takes a while."""

_REPLAY = 8192
"""Changes of history that one batch looks through: well under a millisecond."""


class Feeds:
    """All running feeds of one store, found by the folder that their prefix names."""

    def __init__(self, history: History) -> None:
        """Serve from this history."""
        self._history = history
        self._by_folder: dict[str, dict[MemoryFeed, None]] = {}
        self._to_wake: deque[MemoryFeed] = deque()

    def open(self, prefix: str, revision: int) -> "MemoryFeed":
        """Start a feed of the changes under `prefix` after `revision`."""
        feed = MemoryFeed(self, self._history, prefix, revision)
        self._by_folder.setdefault(_folder(prefix), {})[feed] = None
        return feed

    def forget(self, feed: "MemoryFeed") -> None:
        """Take a feed out."""
        folder = _folder(feed.prefix)
        feeds = self._by_folder.get(folder, {})
        feeds.pop(feed, None)
        if not feeds:
            self._by_folder.pop(folder, None)

    def offer(self, changes: Sequence[Change]) -> None:
        """Hand changes that are in history now to every feed that asked for them."""
        for change in changes:
            for folder in _folders(change.key):
                for feed in self._by_folder.get(folder, ()):
                    feed.offer(change)

    def wake(self, feed: "MemoryFeed") -> None:
        """Wake the consumer of a feed, soon: some now, some in later turns, when more may have come for them."""
        self._to_wake.append(feed)
        if len(self._to_wake) == 1:
            asyncio.get_running_loop().call_soon(self._wake_some)

    def _wake_some(self) -> None:
        for _ in range(min(_AT_ONCE, len(self._to_wake))):
            self._to_wake.popleft().wake()
        if self._to_wake:
            asyncio.get_running_loop().call_soon(self._wake_some)

    def close(self) -> None:
        """End all feeds."""
        for feeds in list(self._by_folder.values()):
            for feed in list(feeds):
                feed.close()

    def __len__(self) -> int:
        return sum(map(len, self._by_folder.values()))


class MemoryFeed:
    """One watch.

    Invariants: every change under the prefix after the start and up to `_position` has been yielded; `_pending` holds
    the later ones in order, unless the feed is `_behind`: then they have to be read from history.
    """

    def __init__(self, feeds: Feeds, history: History, prefix: str, revision: int) -> None:
        """Use `Feeds.open`."""
        self.prefix = prefix
        self._feeds = feeds
        self._history = history
        self._start = revision
        self._position = min(revision, history.newest)
        self._behind = revision < history.newest
        self._pending: list[Change] = []
        self._nudged = True
        self._closed = False
        self._waiter: asyncio.Future[None] | None = None

    def __aiter__(self) -> Self:
        """Return itself."""
        return self

    async def __anext__(self) -> Batch:
        """Wait for the next batch. Raises `Compacted` when the history that it needs is gone."""
        if self._behind and not self._nudged:
            await asyncio.sleep(0)  # a long replay lets others run between its batches
        while not self._closed:
            if self._behind:
                return self._replay()
            if self._pending or self._nudged:
                return self._drain()
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        raise StopAsyncIteration

    def offer(self, change: Change) -> None:
        """Take a committed change, if it is for this feed."""
        if self._behind or change.revision <= self._start or not change.key.startswith(self.prefix):
            return
        if len(self._pending) >= _PENDING:
            self._pending.clear()
            self._position = max(self._position, self._start)
            self._behind = True
            return
        if not self._pending:
            self._feeds.wake(self)
        self._pending.append(change)

    def nudge(self) -> None:
        """Make the running (or the next) iteration return at once, if need be with an empty batch."""
        self._nudged = True
        self.wake()

    async def aclose(self) -> None:
        """End the watch and let go of what it holds."""
        self.close()

    def close(self) -> None:
        """End the watch; a running iteration ends."""
        self._closed = True
        self._pending.clear()
        self._feeds.forget(self)
        self.wake()

    def wake(self) -> None:
        """Let a waiting iteration look again."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _replay(self) -> Batch:
        self._nudged = False
        found = self._history.after(self._position, _REPLAY)
        self._position += len(found)
        self._behind = self._position < self._history.newest
        prefix = self.prefix
        return Batch([change for change in found if change.key.startswith(prefix)], self._position)

    def _drain(self) -> Batch:
        self._nudged = False
        changes, self._pending = self._pending, []
        self._position = self._history.newest
        return Batch(changes, self._position)


def _folder(prefix: str) -> str:
    """Return the prefix up to its last slash."""
    return prefix[: prefix.rfind("/") + 1]


def _folders(key: str) -> Iterator[str]:
    """Yield every folder that the key is in, from the root on."""
    yield ""
    end = key.find("/") + 1
    while end:
        yield key[:end]
        end = key.find("/", end) + 1
