"""Somebody who looks at every turn of the loop whether it is quiet."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from kcpctl.apiserver.storage.base import Change
from kcpctl.testing import InProcessServer, Running


class Witness:
    """Looks at every turn of the loop whether it is quiet, and notes writes of controllers that follow all the same."""

    def __init__(self, running: Running, served: InProcessServer) -> None:
        self.violations: list[str] = []
        self.quiet_moments = 0
        self._running = running
        self._is_quiet = False
        self._is_ours = False
        served.home.world.storage.listen("/registry/", self._heard)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let writes during the block be the test's own."""
        self._is_ours = True
        try:
            yield
        finally:
            self._is_ours = False

    async def run(self) -> None:
        running = self._running
        while True:
            if not running.busy():
                self.quiet_moments += 1
                self._is_quiet = True
            await asyncio.sleep(0)

    def _heard(self, change: Change) -> None:
        if self._is_ours:
            self._is_quiet = False
        elif self._is_quiet:
            self.violations.append(f"{change.key} at {change.revision}")
