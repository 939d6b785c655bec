"""A server of a few lines, and time that is moved by hand."""

import pytest

from informers.clock import VirtualClock
from tests.informers.runtime.memory import MemoryServer


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def memory() -> MemoryServer:
    return MemoryServer()
