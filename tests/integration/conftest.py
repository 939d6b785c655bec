"""A site for each test: no shards yet, and a cache server that is empty."""

import pytest

from tests.integration.site import Site


@pytest.fixture
def site() -> Site:
    return Site()
