"""`kcpctl serve` and `kcpctl cache`: one server alone."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import partial

from informers.clock import SystemClock
from informers.tasks import background
from kcpctl import __version__, contexts, control, logs
from kcpctl.apiserver.assembly import CacheServer, PlainServer
from kcpctl.apiserver.mounts import Mount
from kcpctl.greeting import export_line, greet, kubectl, state_line
from kcpctl.hosting import Host, answering, application, hosting
from kcpctl.metrics import BUILD, Metrics
from kcpctl.process import run_process
from kcpctl.readiness import Readiness
from kcpctl.report import Process, Report, shown
from kcpctl.requestlog import request_log
from kcpctl.settings import CacheSettings, ServeSettings
from kcpctl.slim import settle_later
from kcpctl.storages import opened


def serve(settings: ServeSettings) -> int:
    """Serve the Kubernetes API, without logical clusters, until told to stop; return the exit code."""
    logs.configure(settings.log_format, settings.verbose)
    return run_process(partial(_serve, settings))


def serve_cache(settings: CacheSettings) -> int:
    """Be the cache server of shards in other processes until told to stop; return the exit code."""
    logs.configure(settings.log_format, settings.verbose)
    return run_process(partial(_serve_cache, settings))


async def _serve(settings: ServeSettings, stop: asyncio.Event) -> None:
    async with hosting(settings) as host, opened(host.folder, "server", in_memory=settings.in_memory) as store:
        server = PlainServer(store.storage)
        await server.load()
        readiness = Readiness(informers=tuple)
        readiness.trouble = lambda: server.trouble
        kubeconfig = contexts.write_plain(host.folder, host.address.near, host.certificates)
        greeting = (
            export_line(kubeconfig),
            f"API server at {host.address.near}; {state_line(host.folder, in_memory=settings.in_memory)}",
            f"try: {kubectl()} api-resources",
        )
        async with background(server.run()):
            await _answer(host, server.mounts, readiness, greeting, stop)


async def _serve_cache(settings: CacheSettings, stop: asyncio.Event) -> None:
    async with hosting(settings) as host, opened(host.folder, "cache", in_memory=settings.in_memory) as store:
        kubeconfig = contexts.write_cache(host.folder, host.address.near, host.certificates)
        greeting = (
            export_line(kubeconfig),
            f"cache server at {host.address.near}; {state_line(host.folder, in_memory=settings.in_memory)}",
            f"a shard over it: python -m kcpctl run --cache-kubeconfig {kubeconfig}",
        )
        await _answer(host, CacheServer(store.storage).mounts, Readiness(informers=tuple), greeting, stop)


async def _answer(
    host: Host, mounts: Mapping[str, Mount], readiness: Readiness, greeting: Iterable[str], stop: asyncio.Event
) -> None:
    """Serve what has been loaded until told to stop."""
    readiness.is_loaded = True
    app = application(host, mounts, readiness.health(), request_log(logs.logger()), Metrics(BUILD))
    process = Process(__version__, os.getpid(), datetime.now(UTC), str(host.folder.resolve()), url=host.address.near)

    async def status(_: control.JSON) -> control.JSON:
        return shown(Report(datetime.now(UTC), process))

    async with answering(host, app), control.serving(host.folder, {"status": status}):
        greet(greeting)
        async with background(settle_later(SystemClock())):
            await stop.wait()
            readiness.stopping = True
