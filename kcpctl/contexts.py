"""The kubeconfigs in the data directory: contexts for each workspace, for all of them, and for the cache."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import yaml

from informers.api.clusters import WILDCARD
from kcpctl.apiserver.exchange import User
from kcpctl.apiserver.http.certs import Certificates
from kcpctl.apiserver.http.kubeconfig_out import KubeContext, write_kubeconfig
from kcpctl.datadir import writing

ADMIN_FILE = "admin.kubeconfig"
CACHE_FILE = "cache.kubeconfig"

ROOT = "root"
EXAMPLE = "root:example"
ALL = "all"
"""The context that shows all logical clusters at once."""

ADMIN = User("admin", groups=("system:masters",))
_CACHE_CLIENT = User("cache-client", groups=("system:masters",))


class Choice(NamedTuple):
    """What kubectl was told to use by default since a kubeconfig was written."""

    current: str = ""
    namespaces: Mapping[str, str] = MappingProxyType({})
    """By context, where one was chosen."""


def write_shard(
    folder: Path, url: str, paths: Iterable[str], certificates: Certificates, *, choice: Choice | None = None
) -> Path:
    """Write the administrator's kubeconfig for a shard at that URL, with a context for each workspace path."""
    choice = choice or Choice()
    named = [ROOT, *sorted(set(paths) - {ROOT})]
    urls = {path: f"{url}/clusters/{path}" for path in named} | {ALL: f"{url}/clusters/{WILDCARD}"}
    contexts = [KubeContext(name, address, choice.namespaces.get(name, "")) for name, address in urls.items()]
    current = next(name for name in (choice.current, EXAMPLE, ROOT) if name in urls)
    return _write(folder / ADMIN_FILE, contexts, current, certificates, ADMIN)


def chosen(folder: Path) -> Choice:
    """Return what was chosen in the administrator's kubeconfig; nothing where that cannot be read any more."""
    try:
        config = yaml.safe_load((folder / ADMIN_FILE).read_bytes())
        namespaces = {one["name"]: one["context"].get("namespace") or "" for one in config["contexts"]}
        return Choice(config.get("current-context") or "", namespaces)
    except (OSError, yaml.YAMLError, AttributeError, KeyError, TypeError):
        return Choice()


def write_plain(folder: Path, url: str, certificates: Certificates) -> Path:
    """Write the administrator's kubeconfig for a server without logical clusters."""
    return _write(folder / ADMIN_FILE, [KubeContext("kcpctl", url)], "kcpctl", certificates, ADMIN)


def write_cache(folder: Path, url: str, certificates: Certificates) -> Path:
    """Write the kubeconfig that shards reach the cache server by; kubectl sees everything in it."""
    everything = f"{url}/services/cache/shards/{WILDCARD}/clusters/{WILDCARD}"
    return _write(folder / CACHE_FILE, [KubeContext("cache", everything)], "cache", certificates, _CACHE_CLIENT)


def _write(path: Path, contexts: list[KubeContext], current: str, certificates: Certificates, user: User) -> Path:
    pair = certificates.client(user.name, user)
    with writing(path.parent):
        write_kubeconfig(path, contexts, current, authority=certificates.authority, client=pair, user=user.name)
    return path
