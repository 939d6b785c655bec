"""Kubeconfig files: kubernetes-asyncio reads and merges them, what they mean is decided here.

Of the library only `KubeConfigMerger` is used, which parses YAML, merges entries by name (the first file wins) and
remembers the file of each for relative paths. Its loader is not: it writes inline certificates to files that stay until
the process ends, leaks three descriptors each time, runs exec plugins that may hang, and takes the current context of
the last file where kubectl takes that of the first. Importing the library costs 60 MB and 0.7 s, so it waits until a
kubeconfig is really read.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from informers.api.errors import ConfigurationError
from informers.client import in_cluster, proxies
from informers.client.config import ServerConfig
from informers.client.sections import Section, shown
from informers.client.users import credentials


def load(
    path: str | None = None, context: str | None = None, *, environment: Mapping[str, str] = os.environ
) -> ServerConfig:
    """Return the server of a context, by default the current one; reads files, so it blocks.

    Without a path: the files that KUBECONFIG names, else the service account of the pod we run in, else
    `~/.kube/config`. Raises `ConfigurationError` in one line when there is no usable answer.
    """
    if path:
        return _chosen([os.path.expanduser(path)], context, environment)
    named = [os.path.expanduser(one) for one in environment.get("KUBECONFIG", "").split(os.pathsep) if one]
    if named:
        there = [one for one in named if os.path.exists(one)]
        if not there:
            raise ConfigurationError(f"expected a kubeconfig at {_listed(named)} (KUBECONFIG), found no such file")
        return _chosen(there, context, environment)
    if in_cluster.is_in_cluster(environment) and context is None:
        return in_cluster.in_cluster(environment)
    return _chosen([os.path.expanduser("~/.kube/config")], context, environment)


def _chosen(paths: Sequence[str], context: str | None, environment: Mapping[str, str]) -> ServerConfig:
    merged = _Merged(paths)
    name = context or merged.current_context()
    chosen = merged.entry("context", name, wanted_by="")
    cluster = merged.entry("cluster", chosen.needed("cluster"), wanted_by=f"context {name!r}")
    address = cluster.needed("server")
    named_user = chosen.text("user")
    user = merged.entry("user", named_user, wanted_by=f"context {name!r}") if named_user else _nobody(chosen.file)
    return ServerConfig(
        address,
        credentials(user, cluster),
        namespace=chosen.text("namespace"),
        proxy=cluster.text("proxy-url") or proxies.proxy_for(address, environment),
        tls_server_name=cluster.text("tls-server-name") or None,
        context=name,
        source=shown(chosen.file),
    )


class _Merged:
    """Several files as one."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._merger = _read(paths)

    def current_context(self) -> str:
        """Return the first current context that a file names."""
        for config in self._merger.config_files.values():
            if config.get("current-context"):
                return str(config["current-context"])
        raise ConfigurationError(f"expected a current-context in {_listed(self._paths)}, found none{self._hint()}")

    def entry(self, kind: str, name: str, *, wanted_by: str) -> Section:
        """Return the entry of that kind (context, cluster, user) and name."""
        for node in self._merger.config.value[f"{kind}s"]:
            if node.value["name"] == name:
                return Section(node.value.get(kind), what=f"{kind} {name!r}", file=node.path)
        where = _listed(self._paths)
        if kind == "context":
            found = ", ".join(f"'{one}'" for one in self._names("context"))
            raise ConfigurationError(
                f"expected a kubeconfig with a context named {name!r} in {where}, "
                f"found {f'contexts {found}' if found else 'no context at all'}{self._hint()}"
            )
        found = ", ".join(f"'{one}'" for one in self._names(kind)) or "none"
        raise ConfigurationError(f"expected the {kind} {name!r} that {wanted_by} names in {where}, found {found}")

    def _names(self, kind: str) -> list[str]:
        return [node.value["name"] for node in self._merger.config.value[f"{kind}s"]]

    def _hint(self) -> str:
        ways = " or ".join(f"--context {name}" for name in self._names("context"))
        return f"; pass {ways}" if ways else ""


def _read(paths: Sequence[str]) -> Any:
    """Return the library's merger with all files in it, the empty ones left out."""
    # 60 MB and 0.7 s that only users of kubeconfig files pay.
    from kubernetes_asyncio.config.kube_config import KubeConfigMerger

    merger: Any = None
    for path in paths:
        with _explained(path):
            if not Path(path).read_bytes().strip():
                continue
            if merger is None:
                merger = KubeConfigMerger(path)
            else:
                merger.load_config(path)
            _check(merger)
    if merger is None or merger.config is None:
        raise ConfigurationError(f"expected a kubeconfig at {_listed(paths)}, found nothing in it")
    return merger


def _check(merger: Any) -> None:
    """Raise `TypeError` unless all that was merged are entries with names, which the library takes for granted."""
    for kind in ("clusters", "contexts", "users"):
        for node in merger.config.value[kind]:
            if not (isinstance(node.value, dict) and isinstance(node.value.get("name"), str)):
                raise TypeError(f"{kind} have an entry without a name")


@contextmanager
def _explained(path: str) -> Iterator[None]:
    """Turn what goes wrong with one file into one line that names it."""
    from yaml import YAMLError

    try:
        yield
    except OSError as error:
        raise ConfigurationError(f"expected a kubeconfig at {shown(path)}, found: {error.strerror}") from error
    except (YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"expected YAML in {shown(path)}, found: {' '.join(str(error).split())}") from error
    except (AttributeError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"expected clusters, contexts and users as lists of named entries in {shown(path)}, found another shape"
        ) from error


def _nobody(file: str) -> Section:
    return Section({}, what="nobody", file=file)


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(shown(path) for path in paths)
