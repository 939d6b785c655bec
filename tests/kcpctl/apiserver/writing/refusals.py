"""How a refused write is looked at."""

from collections.abc import Awaitable
from typing import Any

import pytest

from informers.api.status import Status
from kcpctl.apiserver.failures import Failure


async def refused(write: Awaitable[Any]) -> Status:
    """Return the Status that a write is refused with."""
    with pytest.raises(Failure) as failure:
        await write
    return failure.value.status


def causes(status: Status) -> list[str]:
    """Return the causes as `field: message`, each once."""
    assert status.details is not None
    return list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in status.details.causes))
