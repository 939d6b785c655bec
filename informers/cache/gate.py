"""Readiness as something that can be awaited, and that says so when it will never come."""

from asyncio import Event

from informers.api.errors import NotSynced


class Gate:
    """Opens once, or is shut for good before it has opened."""

    __slots__ = ("_settled", "is_open")

    def __init__(self) -> None:
        self._settled = Event()
        self.is_open = False
        """Whether it has opened."""

    def open(self) -> None:
        """Let everybody through, from now on."""
        self.is_open = True
        self._settled.set()

    def shut(self) -> None:
        """Turn everybody away who waits; no effect once it is open."""
        self._settled.set()

    async def wait(self) -> None:
        """Wait until it opens; raises `NotSynced` when that will never be."""
        await self._settled.wait()
        if not self.is_open:
            raise NotSynced("expected the informer to sync, found it stopped before it had")
