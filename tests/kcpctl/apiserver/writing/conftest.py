"""What the tests of writing share."""

import pytest

from tests.kcpctl.apiserver.writing.hands import Hand, hand


@pytest.fixture
async def ann() -> Hand:
    """Return somebody who can write into the namespace `default` of a fresh world."""
    return await hand()
