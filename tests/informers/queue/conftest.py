"""A queue whose time is moved by hand."""

import pytest

from informers.clock import VirtualClock
from informers.queue.workqueue import QueueEmpty, WorkQueue


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def queue(clock: VirtualClock) -> WorkQueue[str]:
    return WorkQueue(clock=clock, name="test")


def drain(queue: WorkQueue[str]) -> list[str]:
    """Visit what is ready, and return it in order."""
    visited = []
    while True:
        try:
            with queue.take_nowait() as key:
                visited.append(key)
        except QueueEmpty:
            return visited
