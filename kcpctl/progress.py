"""First contacts and first syncs that take long: said while they go on."""

from typing import Any

from informers.cache.informer import SharedInformer
from informers.clock import Clock
from informers.runtime.manager import Manager
from kcpctl.logs import Log, told

_FIRST = 1.0
"""Seconds after which a first sync is worth a word."""
_SLOWER = 1.5
"""How much longer each further pause is."""
_LONGEST = 30.0


async def tell_of_first_syncs(manager: Manager, log: Log, clock: Clock) -> None:
    """Log which informers have not synced yet, less and less often, until all have."""
    began, pause = clock.monotonic(), _FIRST
    while True:
        await clock.sleep(pause)
        waiting = [informer for informer in manager.informers if not informer.synced]
        if not waiting:
            return
        log.info("first syncs go on", waited=round(clock.monotonic() - began, 1), waiting_for=[*map(_shown, waiting)])
        pause = min(pause * _SLOWER, _LONGEST)


async def tell_of_first_contact(server: str, log: Log, clock: Clock) -> None:
    """Log that a server has not answered yet, less and less often, until cancelled."""
    began, pause = clock.monotonic(), _FIRST
    while True:
        await clock.sleep(pause)
        log.info("server does not answer yet", server=server, waited=round(clock.monotonic() - began, 1))
        pause = min(pause * _SLOWER, _LONGEST)


def _shown(informer: SharedInformer[Any]) -> str:
    figures = informer.statistics()
    trouble = f", {told(figures.last_error)}" if figures.last_error else ""
    return f"{informer.origin} ({figures.fetched} objects so far{trouble})"
