"""The embedded shard, and the cache server beside it: one API server, and in-process ways to talk to it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from controllers.names import CACHE
from controllers.registration import ShardUrls
from informers.api.errors import ConfigurationError
from informers.client.addresses import Scope
from informers.client.records import Noticed
from informers.client.server import Server
from informers.tasks import background
from kcpctl import __version__, contexts, logs
from kcpctl.apiserver.app import ApiServer
from kcpctl.apiserver.assembly import CacheServer, ShardServer
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.http.inprocess import InProcess
from kcpctl.builtin import LOCAL
from kcpctl.hosting import Host, answering, application, hosting
from kcpctl.identity import check_urls
from kcpctl.metrics import BUILD, Metrics
from kcpctl.readiness import Readiness
from kcpctl.requestlog import request_log
from kcpctl.settings import RunSettings
from kcpctl.storages import opened
from kcpctl.workspaces import check_path


@dataclass(frozen=True)
class Embedded:
    """A shard that is being served, and its cache server if that is here as well."""

    host: Host
    shard: ShardServer
    urls: ShardUrls
    app: ApiServer
    has_cache: bool
    is_new_store: bool
    readiness: Readiness
    metrics: Metrics

    def servers(self, noticed: Noticed) -> dict[str, Server]:
        """Return the ways to talk to them without a socket, by their names in a Manager."""
        scopes = {LOCAL: Scope.ALL} | ({CACHE: Scope.CACHE} if self.has_cache else {})
        agent = f"kcpctl/{__version__}"  # else each start would look through what is installed
        return {
            name: Server(name, InProcess(self.app), scope=scope, user_agent=agent, noticed=noticed)
            for name, scope in scopes.items()
        }

    def write_contexts(self, choice: contexts.Choice | None = None) -> None:
        """Write the kubeconfigs anew, with a context for each workspace that is here now."""
        host, paths = self.host, map(self.shard.clusters.path, self.shard.clusters)
        contexts.write_shard(host.folder, host.address.near, paths, host.certificates, choice=choice)
        if self.has_cache:
            contexts.write_cache(host.folder, host.address.near, host.certificates)

    async def create_workspace(self, path: str) -> dict[str, str]:
        """Make a workspace and its context; raises `ConfigurationError` with what there is against it."""
        check_path(path)
        if self.shard.clusters.find(path) is not None:
            raise ConfigurationError(f"expected a path that is not taken, found a workspace {path} already")
        try:
            cluster = await self.shard.create_workspace(path)
        except Failure as refused:
            raise ConfigurationError(f"cannot make the workspace {path}: {refused}") from refused
        self.write_contexts(contexts.chosen(self.host.folder))
        kubeconfig = (self.host.folder / contexts.ADMIN_FILE).resolve()  # whoever asks may be in another folder
        return {"cluster": cluster, "context": self.shard.clusters.path(cluster), "kubeconfig": str(kubeconfig)}


@asynccontextmanager
async def embedded(settings: RunSettings) -> AsyncIterator[Embedded]:
    """Serve a shard, and a cache server unless another one is named, for as long as the block runs.

    Raises `ConfigurationError` in one line for whatever cannot be had.
    """
    configured = check_urls(settings)
    async with AsyncExitStack() as stack:
        host = await stack.enter_async_context(hosting(settings, configured))
        urls = shard_urls(settings, host.address.far)
        has_cache = not settings.cache_kubeconfig
        store = await stack.enter_async_context(opened(host.folder, "shard", in_memory=settings.in_memory))
        shard = ShardServer(store.storage, name=settings.shard_name, url=urls.external)
        mounts = dict(shard.mounts)
        if has_cache:
            kept = await stack.enter_async_context(opened(host.folder, "cache", in_memory=settings.in_memory))
            mounts |= CacheServer(kept.storage).embedded
        readiness, metrics = Readiness(), Metrics(BUILD)
        app = application(host, mounts, readiness.health(), request_log(logs.logger()), metrics)
        found = Embedded(host, shard, urls, app, has_cache, store.is_new, readiness, metrics)
        await _load(found)
        await stack.enter_async_context(answering(host, app))
        await stack.enter_async_context(background(shard.run()))
        yield found


async def _load(found: Embedded) -> None:
    await found.shard.load()
    await found.shard.create_workspace(contexts.EXAMPLE)
    found.write_contexts()
    found.readiness.trouble = lambda: found.shard.trouble
    found.readiness.is_loaded = True


def shard_urls(settings: RunSettings, listening: str) -> ShardUrls:
    """Return where the shard is reached, by default where it listens."""
    base = settings.shard_base_url or listening
    return ShardUrls(base, settings.shard_external_url or base, settings.shard_virtual_workspace_url or base)
