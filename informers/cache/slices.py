"""Long work in slices, so that it never holds the loop for longer than a few milliseconds."""

import asyncio
from collections import deque
from time import perf_counter

SLICE = 0.002
"""Seconds of work between two turns of the loop: several who work in slices share each turn."""


class Slices:
    """Tells long work when its slice is over: `if slices.over(): await slices.turn()`.

    What happens between two turns is one step for everybody else. Those who share one also share each slice: in one
    turn of the loop all of them together work for little longer than one alone would, and they get on in the order in
    which they came. It measures real time, also in tests: there a slice of 0 ends after every object.
    """

    __slots__ = ("_is_fresh", "_line", "_renewing", "_seconds", "_until")

    def __init__(self, seconds: float = SLICE) -> None:
        self._seconds = seconds
        self._until = perf_counter() + seconds
        self._line: deque[asyncio.Future[None]] = deque()
        self._renewing = False
        self._is_fresh = False

    def over(self) -> bool:
        """Say whether it is time to let others run."""
        return perf_counter() >= self._until

    async def turn(self) -> None:
        """Give everybody else one turn of the loop, or more while others use up each slice, and begin the next one.

        Only the first in line looks at each turn; the others sleep until it is theirs to be the first.
        """
        place = asyncio.get_running_loop().create_future()
        self._line.append(place)
        try:
            if self._line[0] is not place:
                await place
                if not self.over():
                    return
            await self._next_slice()
        finally:
            is_first = self._line[0] is place
            self._line.remove(place)
            if is_first and self._line and not self._line[0].done():
                self._line[0].set_result(None)

    async def _next_slice(self) -> None:
        while True:
            self._renew_soon()
            await asyncio.sleep(0)
            if self._is_fresh or not self.over():
                self._is_fresh = False  # however short it is, it serves one
                return

    def _renew_soon(self) -> None:
        if not self._renewing:
            self._renewing = True
            asyncio.get_running_loop().call_soon(self._renew)

    def _renew(self) -> None:
        self._renewing = False
        self._is_fresh = True
        self._until = perf_counter() + self._seconds
