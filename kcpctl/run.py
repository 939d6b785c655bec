"""`kcpctl run`: servers, controllers and what ties them together; the composition root."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

from informers.api.errors import ConfigurationError
from informers.cache.informer import SharedInformer
from informers.clock import Clock, SystemClock
from informers.runtime.controller import Controller
from informers.runtime.manager import Manager
from informers.tasks import background, first
from kcpctl import __version__, contexts, control, logs
from kcpctl.arrivals import hurry_for_new_kinds
from kcpctl.builtin import LOCAL, labels_of
from kcpctl.collecting import collect
from kcpctl.datadir import locked
from kcpctl.embedded import check_urls
from kcpctl.greeting import export_line, greet, kubectl, state_line
from kcpctl.grounds import Ground, ground
from kcpctl.modules import find_controllers
from kcpctl.process import run_process
from kcpctl.progress import tell_of_first_syncs
from kcpctl.quarantines import Quarantines
from kcpctl.readiness import Readiness
from kcpctl.report import Process, Report, shown
from kcpctl.settings import RunSettings
from kcpctl.slim import settle_later
from kcpctl.troubles import Troubles
from kcpctl.workspaces import CREATE

Controllers = Sequence[Controller[Any]]

_SETTLED_WITHIN = 10.0
"""Seconds after which a start counts as over, whatever controllers still wait for."""


def run(settings: RunSettings, modules: Sequence[str]) -> int:
    """Run a shard, its cache server and controllers until told to stop; return the exit code.

    Raises `ConfigurationError` in one line for settings, files and modules that are wrong.
    """
    controllers = find_controllers(modules)
    labels_of(settings)  # what is wrong is better told before anything begins
    check_urls(settings)
    logs.configure(settings.log_format, settings.verbose)
    return run_process(partial(_run, settings, controllers))


async def _run(settings: RunSettings, controllers: Controllers, stop: asyncio.Event) -> None:
    log, observer, set_aside, clock = logs.logger(), logs.LogObserver(), Quarantines(), SystemClock()
    async with ground(settings, observer.notice, stop, has_modules=bool(controllers)) as found:
        ours = found.ours
        every = (*(ours.controllers if ours else ()), *controllers)
        manager = Manager(found.servers, every, observers=(observer, set_aside), grace=settings.grace)
        jobs: list[Coroutine[Any, Any, None]] = [_settle(manager, clock), tell_of_first_syncs(manager, log, clock)]
        if ours:
            ours.feed(manager)
            Troubles(ours, log).watch(manager)
            jobs.extend(ours.jobs(manager, found.servers[LOCAL].client(), partial(_register_later, log)))
        if found.embedded:
            found.embedded.readiness.informers = partial(_local_informers, manager)
            jobs.append(_say_when_stopping(found.embedded.readiness, stop))
            if controllers:
                hurry_for_new_kinds(manager)
        process = _process(settings, found)
        async with _answering(settings, found, partial(collect, process, manager, ours, set_aside), log):
            greet(_greeting(settings, found, every))
            for note in found.notes:
                log.warning(note)
            async with background(*jobs):
                await manager.run(stop)


def _process(settings: RunSettings, found: Ground) -> Process:
    url = found.embedded.host.address.near if found.embedded else ""
    shard = settings.shard_name if found.embedded or found.ours else ""
    folder = str(settings.data_dir.resolve())
    return Process(__version__, os.getpid(), datetime.now(UTC), folder, shard, url, found.notes)


def _local_informers(manager: Manager) -> list[SharedInformer[Any]]:
    return [informer for informer in manager.informers if informer.origin.server == LOCAL]


async def _say_when_stopping(readiness: Readiness, stop: asyncio.Event) -> None:
    await stop.wait()
    readiness.stopping = True


async def _settle(manager: Manager, clock: Clock) -> None:
    await first(manager.wait_synced(), clock.sleep(_SETTLED_WITHIN))
    await settle_later(clock)


def _register_later(log: Any, seconds: float, error: BaseException) -> None:
    log.warning("shard is not registered yet", error=error, retry_in=round(seconds, 1))


# What other commands can ask


@asynccontextmanager
async def _answering(
    settings: RunSettings, found: Ground, report: Callable[[], Report], log: Any
) -> AsyncIterator[None]:
    """Answer `kcpctl status` and others; a process that keeps nothing does without where the directory is another's."""

    async def status(_: control.JSON) -> control.JSON:
        return shown(report())

    async def create_workspace(question: control.JSON) -> control.JSON:
        if found.embedded is None:
            raise ConfigurationError("expected a process with a shard of its own, found one that runs controllers only")
        return dict(await found.embedded.create_workspace(str(question["path"])))

    with _held(settings, found, log) as is_held:
        if not is_held:
            yield
            return
        async with control.serving(settings.data_dir, {"status": status, CREATE: create_workspace}):
            yield


@contextmanager
def _held(settings: RunSettings, found: Ground, log: Any) -> Iterator[bool]:
    """Hold the data directory, if that has not been done, and say whether it is ours."""
    if found.embedded:
        yield True
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(settings.data_dir))
        except ConfigurationError as error:
            log.warning("kcpctl status cannot ask this process", error=error)
            yield False
            return
        yield True


# What is said at the start


def _greeting(settings: RunSettings, found: Ground, controllers: Iterable[Controller[Any]]) -> Iterator[str]:
    names = ", ".join(controller.name for controller in controllers)
    if found.embedded is None:
        yield f"controllers against {settings.kubeconfig}: {names}"
        return
    host, cache = found.embedded.host, settings.cache_kubeconfig
    yield export_line(host.folder / contexts.ADMIN_FILE)
    yield (
        f"shard {settings.shard_name} at {host.address.near}, workspaces {contexts.ROOT} and {contexts.EXAMPLE} (the "
        f"current context); {state_line(host.folder, in_memory=settings.in_memory)}"
    )
    if cache:
        yield f"over the cache server of {cache}"
    else:
        yield f"cache server beside it; shards over it need --cache-kubeconfig {host.folder / contexts.CACHE_FILE}"
    yield f"controllers: {names}"
    yield f"try: {kubectl()} apply -f examples/endpointslice/ && {kubectl()} get apiexportendpointslices"
