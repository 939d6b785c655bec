"""Commands of operators, asked of a shard's process as the control socket asks them."""

from typing import Any, TypeVar

import msgspec

from kcpctl.operations import operations
from tests.integration.site import ShardProcess, Site

T = TypeVar("T")


async def ask(site: Site, by: ShardProcess, what: str, kind: type[T], /, **details: Any) -> T:
    """Return the answer as one of its kind, letting as much time pass as it takes."""

    async def answered() -> Any:
        return await operations(by.running.manager, by.ours, site.clock)[what](details)

    return msgspec.convert(await site.clock.run(answered()), kind)
