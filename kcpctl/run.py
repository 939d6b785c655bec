"""`kcpctl run`: servers, controllers and what ties them together; the composition root."""

import asyncio
import os
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from informers.api.errors import ConfigurationError, NotSynced
from informers.cache.informer import SharedInformer
from informers.clock import Clock, SystemClock
from informers.runtime.controller import Controller
from informers.runtime.manager import Manager
from informers.tasks import background, first
from kcpctl import __version__, contexts, logs
from kcpctl.answers import answering_commands
from kcpctl.arrivals import hurry_for_new_kinds
from kcpctl.builtin import LOCAL, labels_of
from kcpctl.collecting import collect
from kcpctl.figures import figures_of
from kcpctl.greeting import export_line, greet, kubectl, near, state_line
from kcpctl.grounds import Ground, ground
from kcpctl.identity import check_name, check_urls
from kcpctl.modules import find_controllers
from kcpctl.operations import operations
from kcpctl.process import run_process
from kcpctl.progress import tell_of_first_syncs
from kcpctl.quarantines import Quarantines
from kcpctl.readiness import Readiness
from kcpctl.report import Process
from kcpctl.settings import RunSettings
from kcpctl.slim import settle_later
from kcpctl.telling import LogObserver
from kcpctl.troubles import Troubles

Controllers = Sequence[Controller[Any]]

_SETTLED_WITHIN = 10.0
"""Seconds after which a start counts as over, whatever controllers still wait for."""


def run(settings: RunSettings, modules: Sequence[str]) -> int:
    """Run a shard, its cache server and controllers until told to stop; return the exit code.

    Raises `ConfigurationError` in one line for settings, files and modules that are wrong.
    """
    controllers = find_controllers(modules)
    _check_context(settings)
    labels_of(settings)  # what is wrong is better told before anything begins
    check_name(settings)
    check_urls(settings)
    logs.configure(settings.log_format, settings.verbose)
    return run_process(partial(_run, settings, controllers))


def _check_context(settings: RunSettings) -> None:
    if settings.context and not settings.kubeconfig:
        raise ConfigurationError(
            f"expected --kubeconfig beside --context {settings.context}, found none: without it the controllers run "
            "against the embedded shard, which has no contexts; name the file, such as ~/.kube/config"
        )


async def _run(settings: RunSettings, controllers: Controllers, stop: asyncio.Event) -> None:
    log, observer, set_aside = logs.logger(), LogObserver(), Quarantines()
    async with ground(settings, observer.notice, stop, has_modules=bool(controllers)) as found:
        every = (*(found.ours.controllers if found.ours else ()), *controllers)
        observers = (observer, set_aside, *((found.ours.lives,) if found.ours else ()))
        manager = Manager(found.servers, every, observers=observers, grace=settings.grace)
        _prepare(manager, found, has_modules=bool(controllers))
        report = partial(collect, _process(settings, found), manager, found.ours, set_aside)
        answers = operations(manager, found.ours, SystemClock(), cache_kubeconfig=_cache_kubeconfig(settings))
        async with answering_commands(settings, found, report, answers):
            greet(_greeting(settings, found, every))
            for note in found.notes:
                log.warning(note)
            with Troubles(found.ours.view, log).watching() if found.ours else nullcontext():
                async with background(*_jobs(manager, found, stop, log)):
                    await manager.run(stop)
                    if found.ours:
                        await found.ours.release()


def _prepare(manager: Manager, found: Ground, *, has_modules: bool) -> None:
    """Have everybody in place who hears of changes before the controllers do."""
    if found.ours:
        found.ours.feed(manager)
    if found.embedded:
        found.embedded.readiness.informers = partial(_local_informers, manager)
        found.embedded.metrics.add(*figures_of(manager, found.ours))
        if has_modules:
            hurry_for_new_kinds(manager)


def _jobs(manager: Manager, found: Ground, stop: asyncio.Event, log: logs.Log) -> Iterator[Coroutine[Any, Any, None]]:
    """Return what runs beside the Manager."""
    clock = SystemClock()
    yield settle(manager, clock)
    yield tell_of_first_syncs(manager, log, clock)
    if found.ours:
        yield from found.ours.jobs(found.servers[LOCAL].client(), partial(_register_later, log))
    if found.embedded:
        yield _say_when_stopping(found.embedded.readiness, stop)


def _process(settings: RunSettings, found: Ground) -> Process:
    url = found.embedded.host.address.near if found.embedded else ""
    shard = settings.shard_name if found.embedded or found.ours else ""
    folder = str(settings.data_dir.resolve())
    return Process(__version__, os.getpid(), datetime.now(UTC), folder, shard, url, found.notes)


def _cache_kubeconfig(settings: RunSettings) -> str:
    named = Path(settings.cache_kubeconfig).expanduser() if settings.cache_kubeconfig else None
    return str((named or settings.data_dir / contexts.CACHE_FILE).resolve())


def _local_informers(manager: Manager) -> list[SharedInformer[Any]]:
    return [informer for informer in manager.informers if informer.origin.server == LOCAL]


async def _say_when_stopping(readiness: Readiness, stop: asyncio.Event) -> None:
    await stop.wait()
    readiness.stopping = True


async def settle(manager: Manager, clock: Clock) -> None:
    """Let the garbage collector work again when the start is over; being cancelled ends it at once."""
    await first(_started(manager), clock.sleep(_SETTLED_WITHIN))
    await settle_later(clock)


async def _started(manager: Manager) -> None:
    # Suppressed in here: a stop comes together with the cancellation, and of the two the error would win.
    with suppress(NotSynced):
        await manager.wait_synced()


def _register_later(log: Any, seconds: float, error: BaseException) -> None:
    log.warning("shard is not registered yet", error=error, retry_in=round(seconds, 1))


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
    if found.ours and cache:
        asking = f"python -m kcpctl shards --data-dir {near(host.folder.resolve())}"
        yield f"slices of every shard over that cache server list this one as well; try: {asking}"
    elif found.ours:
        yield f"try: {kubectl()} apply -f examples/endpointslice/ && {kubectl()} get apiexportendpointslices"
    else:
        own = dict.fromkeys(controller.resource.qualified for controller in controllers)
        yield f"try, once your definitions and objects are applied: {kubectl()} get {','.join(own)} --all-namespaces"
