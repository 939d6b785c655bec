"""Long work in slices, so that it never holds the loop for longer than a few milliseconds."""

import asyncio
from time import perf_counter

SLICE = 0.004
"""Seconds of work between two turns of the loop."""


class Slices:
    """Tells long work when its slice is over: `if slices.over(): await slices.turn()`.

    What happens between two turns is one step for everybody else. It measures real time, also in tests: there a slice
    of 0 ends after every object.
    """

    __slots__ = ("_seconds", "_until")

    def __init__(self, seconds: float = SLICE) -> None:
        self._seconds = seconds
        self._until = perf_counter() + seconds

    def over(self) -> bool:
        """Say whether it is time to let others run."""
        return perf_counter() >= self._until

    async def turn(self) -> None:
        """Give everybody else one turn of the loop, and begin the next slice."""
        await asyncio.sleep(0)
        self._until = perf_counter() + self._seconds
