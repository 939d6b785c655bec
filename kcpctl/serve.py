"""`kcpctl serve` and `kcpctl cache`: one server alone."""

import asyncio
from functools import partial

import structlog

from informers.tasks import background
from kcpctl import contexts, logs
from kcpctl.apiserver.assembly import CacheServer, PlainServer
from kcpctl.greeting import export_line, greet, kubectl, state_line
from kcpctl.hosting import answering, application, hosting
from kcpctl.process import run_process
from kcpctl.readiness import Readiness
from kcpctl.requestlog import request_log
from kcpctl.settings import CacheSettings, ServeSettings
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
        readiness, server = Readiness(informers=tuple), PlainServer(store.storage)
        readiness.trouble = lambda: server.trouble
        app = application(host, server.mounts, readiness.health(), request_log(structlog.get_logger()))
        await server.load()
        readiness.is_loaded = True
        kubeconfig = contexts.write_plain(host.folder, host.address.near, host.certificates)
        async with answering(host, app), background(server.run()):
            greet(
                (
                    export_line(kubeconfig),
                    f"API server at {host.address.near}; {state_line(host.folder, in_memory=settings.in_memory)}",
                    f"try: {kubectl()} api-resources",
                )
            )
            await stop.wait()
            readiness.stopping = True


async def _serve_cache(settings: CacheSettings, stop: asyncio.Event) -> None:
    async with hosting(settings) as host, opened(host.folder, "cache", in_memory=settings.in_memory) as store:
        readiness, server = Readiness(informers=tuple), CacheServer(store.storage)
        readiness.is_loaded = True
        app = application(host, server.mounts, readiness.health(), request_log(structlog.get_logger()))
        kubeconfig = contexts.write_cache(host.folder, host.address.near, host.certificates)
        async with answering(host, app):
            greet(
                (
                    export_line(kubeconfig),
                    f"cache server at {host.address.near}; {state_line(host.folder, in_memory=settings.in_memory)}",
                    f"a shard over it: python -m kcpctl run --cache-kubeconfig {kubeconfig}",
                )
            )
            await stop.wait()
            readiness.stopping = True
