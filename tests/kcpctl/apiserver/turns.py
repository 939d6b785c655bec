"""Counting the turns of the loop: whether others could run while something was done."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from informers.tasks import background


class Turns:
    """Counts turns of the loop."""

    turns = 0

    async def count(self) -> None:
        while True:
            await asyncio.sleep(0)
            self.turns += 1


@asynccontextmanager
async def turns() -> AsyncIterator[Turns]:
    """Count the turns that the loop makes during the block."""
    counted = Turns()
    async with background(counted.count()):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        counted.turns = 0
        yield counted
