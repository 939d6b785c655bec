"""Controllers against the real API server in this process: what only a server with all the rules can show."""

import pytest

from tests.informers.runtime.apiserver import serving
from tests.integration.visiting import JOURNEYS, Journey, name_of


@pytest.mark.parametrize("journey", JOURNEYS, ids=name_of)
async def test_at_our_own_server(journey: Journey) -> None:
    await journey(serving)
