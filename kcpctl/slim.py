"""A quick start: imports without what is not needed, and a garbage collector that waits."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from informers.clock import Clock

_FIRST_REQUESTS = 1.0
"""Seconds."""

_YOUNG = 10_000
"""Containers after which the collector looks at the young ones: a body has hundreds, and they go by themselves."""


@contextmanager
def without(package: str) -> Iterator[None]:
    """Have imports in the block believe that an optional package is not installed, unless it is loaded already."""
    if package in sys.modules:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]  # how Python itself notes that there is none
    try:
        yield
    finally:
        del sys.modules[package]


def pause_collector() -> None:
    """Let no garbage be collected until `settle_later`: a start makes hardly any, and looking for it takes a tenth."""
    gc.disable()


async def settle_later(clock: Clock) -> None:
    """Once the first requests have had their answers, let the collector work again.

    What was made until then is here to stay: it is taken out of the collector's sight, and nothing is collected first,
    which would hold the loop for a twentieth of a second.
    """
    await clock.sleep(_FIRST_REQUESTS)
    gc.freeze()
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])
    gc.enable()
