"""What the prefixes of kcp's paths say: `/clusters/{name or path}`, and on cache servers `/shards/{name}` before it."""

import re
from urllib.parse import unquote

from informers.api.clusters import SEPARATOR, is_name, is_path
from informers.api.status import StatusDetails
from kcpctl.apiserver.call import WILDCARD, Scope
from kcpctl.apiserver.failures import Failure, bad_request, failure
from kcpctl.apiserver.kcp.clusters import Clusters
from kcpctl.apiserver.kcp.workspaces import no_workspace
from kcpctl.apiserver.mounts import Scoped

CACHE_PREFIX = "/services/cache"

_CLUSTERS = "/clusters"
_SHARDS = "/shards"
_SHARD = re.compile(r"[a-z0-9\-:]{0,61}", re.ASCII)
_LONGEST_OF_DISCOVERY = 3
"""Pieces of `/apis/{group}/{version}`."""
_IN_A_CLUSTER = frozenset(("", "api", "apis", "clusters", "openapi"))
"""How paths begin that mean something in a logical cluster only; all else is about the server."""


class ShardScoping:
    """The scoping of a shard: every resource is in a logical cluster that the path names.

    Names and paths are resolved here alone; a cluster that is not here is refused, whoever asks.
    """

    def __init__(self, clusters: Clusters) -> None:
        """Resolve by these."""
        self._clusters = clusters

    async def __call__(self, path: str) -> Scoped:
        """Return the logical cluster and the rest of the path; raises `Failure`: 400, 403 or 404."""
        cluster, rest, prefix = _cut(path, _CLUSTERS) or ("", path, "")
        if not cluster:
            if _is_about_the_server(path):
                return Scoped(Scope(""), path)
            raise _forbidden(f"a logical cluster is required: {_CLUSTERS}/<name or path>{rest}", rest)
        _check_form(cluster)
        return Scoped(Scope(self._resolved(cluster, rest)), rest, prefix)

    def _resolved(self, cluster: str, rest: str) -> str:
        if cluster == WILDCARD:
            return WILDCARD
        found = self._clusters.find(cluster)
        if found is not None:
            return found
        if SEPARATOR in cluster and not is_name(cluster):
            raise no_workspace(cluster)
        raise _forbidden(f'logical cluster "{cluster}" is not on this shard', rest)


class CacheScoping:
    """The scoping of a cache server: every resource is of a shard and a logical cluster, both by name; any will do."""

    def __init__(self, below: str = "") -> None:
        """Read paths from behind `below`, which a mount has cut off; they may begin with `/services/cache` as well."""
        self._below = below

    async def __call__(self, path: str) -> Scoped:
        """Return shard, logical cluster and the rest of the path; raises `Failure` (400)."""
        below = self._below
        if path == CACHE_PREFIX or path.startswith(f"{CACHE_PREFIX}/"):
            below, path = below + CACHE_PREFIX, path[len(CACHE_PREFIX) :]
        if path != _SHARDS and not path.startswith(f"{_SHARDS}/"):
            if _is_about_the_server(path):
                return Scoped(Scope(""), path)
            raise bad_request("a shard name is required")
        shard, at_shard, path = _shard(path)
        cluster, rest, at_cluster = _cut(path, _CLUSTERS) or ("", path, "")
        if not cluster:
            raise bad_request(f"a logical cluster is required: {_SHARDS}/{shard}{_CLUSTERS}/<name>")
        _check_form(cluster)
        if cluster != WILDCARD and SEPARATOR in cluster and not is_name(cluster):
            raise bad_request(f'invalid cluster: "{cluster}" is not a logical cluster name')
        return Scoped(Scope(cluster, shard, is_cache=True), rest, below + at_shard + at_cluster)


def _shard(path: str) -> tuple[str, str, str]:
    """Return the shard of `/shards/{name}/…`, the prefix that was read, and the rest."""
    if path == _SHARDS:
        raise bad_request("a shard name is required")
    raw, slash, rest = path[len(_SHARDS) + 1 :].partition("/")
    shard = unquote(raw)
    if not slash:
        raise bad_request(f"unable to parse shard: no `/` found in path {shard}")
    if not shard:
        raise bad_request("a shard name is required")
    if shard != WILDCARD and not _SHARD.fullmatch(shard):
        raise bad_request(f'invalid shard: "{shard}" does not match the regex')
    return shard, f"{_SHARDS}/{raw}", slash + rest


def _cut(path: str, name: str) -> tuple[str, str, str] | None:
    """Return the value of `/{name}/{value}/…`, the rest, and the prefix that was read; None where it is not there."""
    if path != name and not path.startswith(f"{name}/"):
        return None
    raw, slash, rest = path[len(name) + 1 :].partition("/")
    return unquote(raw), slash + rest or "/", f"{name}/{raw}"


def _is_about_the_server(path: str) -> bool:
    """Say whether a path without a cluster makes sense, such as `/readyz`; it is decoded as routing will do it."""
    return unquote(path).strip("/").partition("/")[0] not in _IN_A_CLUSTER


def _check_form(cluster: str) -> None:
    if cluster != WILDCARD and not is_path(cluster):
        raise bad_request(f'invalid cluster: "{cluster}" does not match the regex')


def _forbidden(message: str, path: str) -> Failure:
    """403: nothing is to be had there.

    Discovery is answered in plain text, as clients show it: kubectl reads no Status there, and says `unknown`.
    """
    found = failure(403, "Forbidden", message, StatusDetails())
    is_resource = len(path.strip("/").split("/")) > _LONGEST_OF_DISCOVERY
    return found if is_resource else Failure(found.status, text=f"{message}\n")
