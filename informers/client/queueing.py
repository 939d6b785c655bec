"""Calls that wait for one of a limited number of connections: who waits, so that it can be said why a call failed."""

from types import SimpleNamespace

import aiohttp


class Turn:
    """One call's place in the queue for a connection."""

    __slots__ = ("waits",)

    def __init__(self) -> None:
        self.waits = False
        """Whether all connections are busy with others; stays as it was when the call gives up."""


def queue_watch() -> aiohttp.TraceConfig:
    """Return what keeps the `Turn` of each request up to date that has one as its `trace_request_ctx`."""
    trace = aiohttp.TraceConfig()
    trace.on_connection_queued_start.append(_waits)
    trace.on_connection_queued_end.append(_goes_on)
    return trace


async def _waits(session: aiohttp.ClientSession, context: SimpleNamespace, _: object) -> None:
    context.trace_request_ctx.waits = True


async def _goes_on(session: aiohttp.ClientSession, context: SimpleNamespace, _: object) -> None:
    context.trace_request_ctx.waits = False
