"""Waiters: those who wait for something, in the order they came."""

import asyncio
from collections import deque


class Waiters:
    """Lets coroutines wait until they are woken; a wake-up given to one that is cancelled goes to the next.

    Being woken promises nothing: whoever wakes looks again, and waits again if need be.
    """

    __slots__ = ("futures",)

    def __init__(self) -> None:
        self.futures: deque[asyncio.Future[None]] = deque()

    def __len__(self) -> int:
        """Count those who wait."""
        return len(self.futures)

    async def wait(self) -> None:
        """Wait to be woken."""
        future = asyncio.get_running_loop().create_future()
        self.futures.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if not future.cancelled():
                self.wake_one()
            elif future in self.futures:  # a wake-up between the cancellation and this line has dropped it already
                self.futures.remove(future)
            raise

    def wake_one(self) -> None:
        """Wake the one who has waited longest."""
        while self.futures:
            future = self.futures.popleft()
            if not future.done():
                future.set_result(None)
                return

    def wake_all(self) -> None:
        """Wake all who wait now."""
        while self.futures:
            self.wake_one()
