"""What controllers run against: servers of our own, or ones that exist already; and which of our controllers can."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from controllers.names import CACHE
from controllers.view import View
from informers.api.errors import InformersError
from informers.client.addresses import Scope
from informers.client.server import Server
from informers.clock import SystemClock
from informers.tasks import background
from kcpctl import foreign, logs
from kcpctl.builtin import LOCAL, Ours, all_ours, slices_alone
from kcpctl.datadir import locked
from kcpctl.embedded import Embedded, embedded, shard_urls
from kcpctl.plan import Built, embedded_plan, foreign_plan
from kcpctl.process import unless_stopped
from kcpctl.progress import tell_of_first_contact
from kcpctl.settings import RunSettings
from kcpctl.viewfile import kept_view

Observe = Callable[[Any], None]
"""Told of facts."""

_NOT_REGISTERED = "shard registration is off: --shard-base-url says where a shard of another process is reached"


@dataclass(frozen=True)
class Ground:
    """Servers by their names in a Manager, the local one first, and our controllers that run there."""

    servers: dict[str, Server]
    ours: Ours | None
    notes: tuple[str, ...] = ()
    """A line for each of our controllers that does not run although it was wanted."""
    embedded: Embedded | None = None
    holds_folder: bool = False
    """Whether the data directory is held for this process, without a shard of its own."""


@asynccontextmanager
async def ground(
    settings: RunSettings, noticed: Observe, stop: asyncio.Event, *, has_modules: bool
) -> AsyncIterator[Ground]:
    """Have the servers that the settings name, for as long as the block runs.

    Raises `ConfigurationError` in one line for what cannot be had, `Stopped` when told to stop meanwhile.
    """
    async with AsyncExitStack() as stack:
        if settings.kubeconfig:
            found = await _foreign(settings, noticed, stop, stack, has_modules=has_modules)
        else:
            found = await _embedded(settings, noticed, stack, has_modules=has_modules)
        yield found


async def _embedded(settings: RunSettings, noticed: Observe, stack: AsyncExitStack, *, has_modules: bool) -> Ground:
    cache = await _cache(settings, noticed, stack) if settings.cache_kubeconfig else {}
    own = await stack.enter_async_context(embedded(settings))
    servers = own.servers(noticed)
    for server in servers.values():
        await stack.enter_async_context(server)
    plan = embedded_plan(settings, has_modules=has_modules)
    if plan.built is Built.NONE:
        return Ground(servers | cache, None, plan.off, own)
    view = await _view(settings, noticed, stack, is_new_store=own.is_new_store)
    ours = all_ours(settings, own.urls, view, observe=noticed)
    return Ground(servers | cache, ours, plan.off, own)


async def _foreign(
    settings: RunSettings, noticed: Observe, stop: asyncio.Event, stack: AsyncExitStack, *, has_modules: bool
) -> Ground:
    config = await foreign.configuration(settings.kubeconfig, settings.context)
    local = await stack.enter_async_context(config.server(LOCAL, noticed=noticed))
    try:
        async with background(tell_of_first_contact(LOCAL, logs.logger(), SystemClock())):
            seen = await unless_stopped(foreign.meet(local, _wait_for_server), stop)
    except InformersError as error:
        raise foreign.unreachable(config, error) from error
    plan = foreign_plan(settings, seen, local.scope, has_modules=has_modules)
    servers = {LOCAL: local}
    if settings.cache_kubeconfig:
        servers |= await _cache(settings, noticed, stack)
    holds = not settings.in_memory
    if plan.built is Built.SLICES:
        job = foreign.kinds_for_force(local, servers[CACHE])
        view = await _foreign_view(settings, noticed, stack)
        ours = slices_alone(view, *await unless_stopped(job, stop), observe=noticed)
        return Ground(servers, ours, plan.off, None, holds)
    if plan.built is Built.NONE:
        return Ground(servers, None, plan.off)
    # That server may register itself under URLs that nobody here knows, and two writers must not differ.
    urls = shard_urls(settings, settings.shard_base_url) if settings.shard_base_url else None
    notes = plan.off if urls else (*plan.off, _NOT_REGISTERED)
    # What an earlier store of that server held is not known here, so nothing is taken for evidently gone.
    view = await _foreign_view(settings, noticed, stack)
    return Ground(servers, all_ours(settings, urls, view, observe=noticed), notes, None, holds)


async def _foreign_view(settings: RunSettings, noticed: Observe, stack: AsyncExitStack) -> View:
    """Return a view in a data directory that nobody holds yet; who keeps nothing needs none."""
    if not settings.in_memory:
        stack.enter_context(locked(settings.data_dir))
    return await _view(settings, noticed, stack, is_new_store=True)


async def _view(settings: RunSettings, noticed: Observe, stack: AsyncExitStack, *, is_new_store: bool) -> View:
    keeper = await stack.enter_async_context(kept_view(settings.data_dir, in_memory=settings.in_memory))
    return View(
        keeper,
        home=settings.shard_name,
        removal_settle=settings.removal_settle,
        is_new_store=is_new_store,
        observe=noticed,
    )


async def _cache(settings: RunSettings, noticed: Observe, stack: AsyncExitStack) -> dict[str, Server]:
    config = await foreign.configuration(settings.cache_kubeconfig)
    server = config.server(CACHE, scope=Scope.CACHE, noticed=noticed)
    return {CACHE: await stack.enter_async_context(server)}


def _wait_for_server(seconds: float, error: BaseException) -> None:
    logs.logger().warning("server does not answer yet", server=LOCAL, error=error, retry_in=round(seconds, 1))
