"""resourceVersions in requests: reading them, and waiting until the store has got that far."""

import re
from json import dumps

from kcpctl.apiserver.call import Scope
from kcpctl.apiserver.failures import too_large_revision
from kcpctl.apiserver.world import World

PATIENCE = 3.0
"""Seconds for which a request waits for a revision that has not been reached."""

_RETRY_AFTER = 1
_DIGITS = re.compile(r"[0-9]+", re.ASCII)


def parse_revision(text: str) -> int:
    """Read a resourceVersion, `""` as 0; raises `ValueError` with kube-apiserver's words."""
    if not text:
        return 0
    why = "" if _DIGITS.fullmatch(text) else "invalid syntax"
    if not why and (len(text.lstrip("0")) > 20 or int(text) >= 1 << 64):
        why = "value out of range"
    if why:
        shown = dumps(text, ensure_ascii=False)
        raise ValueError(f"resourceVersion: Invalid value: {shown}: strconv.ParseUint: parsing {shown}: {why}")
    return int(text)


async def reach(world: World, revision: int, scope: Scope) -> None:
    """Wait until the store has reached a revision; raises `Failure` (504) when that takes too long.

    A cache server does not wait: it reads what is stored, like kcp's, whose watch cache is off.
    """
    storage = world.storage
    if revision <= storage.revision:
        return
    if scope.is_cache:
        raise too_large_revision(revision, storage.revision)
    deadline = world.clock.monotonic() + PATIENCE
    feed = storage.watch("", storage.revision)
    timer = world.clock.call_at(deadline, feed.nudge)
    try:
        async for _ in feed:
            if revision <= storage.revision:
                return
            if world.clock.monotonic() >= deadline:
                break
    finally:
        timer.cancel()
        await feed.aclose()
    raise too_large_revision(revision, storage.revision, retry_after=_RETRY_AFTER)
