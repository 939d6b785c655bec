"""Servers that exist already: found in a kubeconfig, met for the first time, and recognised."""

import asyncio
import re
from typing import Any

import msgspec
from msgspec.structs import replace
from tenacity import AsyncRetrying, retry_if_exception, stop_after_delay, wait_random_exponential

from controllers.kinds import EXPORTS, PARTITIONS, SHARDS, Partition, Shard
from controllers.names import ROOT
from informers.api.clusters import WILDCARD
from informers.api.errors import (
    ApiError,
    BadRequest,
    ConfigurationError,
    Forbidden,
    InformersError,
    NotFound,
    TransportError,
    Unauthorized,
)
from informers.api.resources import Resource
from informers.client.addresses import Scope
from informers.client.client import Client
from informers.client.config import ServerConfig
from informers.client.kubeconfig import load
from informers.client.server import Server
from kcpctl.logs import told
from kcpctl.retries import Waiting, telling

_PATIENCE = 5.0
"""Seconds that a server may take to answer for the first time."""
_KCP = re.compile(r"[+-]kcp(?![a-z])")
"""How builds of kcp are called; those of kcpctl are called `…+kcpctl`."""
_SLICE_KIND = "APIExportEndpointSlice"


class Seen(msgspec.Struct, frozen=True):
    """What a server turned out to be."""

    version: str
    is_kcp: bool
    """Whether it is a real kcp, which runs controllers of its own."""
    serves: frozenset[str]
    """The kcp resources that it serves, as `plural.group`."""


async def configuration(path: str, context: str = "") -> ServerConfig:
    """Return the server that a kubeconfig's context describes, by default its current one.

    Raises `ConfigurationError`.
    """
    return await asyncio.to_thread(load, path, context or None)


async def meet(server: Server, waiting: Waiting) -> Seen:
    """Ask a server what it is; while nobody answers, ask again for a while.

    Raises the `InformersError` of the last attempt.
    """
    attempts = AsyncRetrying(
        retry=retry_if_exception(_may_pass),
        wait=wait_random_exponential(0.2, max=2.0),
        stop=stop_after_delay(_PATIENCE),
        before_sleep=telling(waiting),
        reraise=True,
    )
    return await attempts(_look, server)


def unreachable(config: ServerConfig, error: InformersError) -> ConfigurationError:
    """Return the line for a server that the process cannot do without: what is wrong, and what to do about that."""
    place, found = f"(context {config.context!r} of {config.source})", told(error)
    other = "name another with --kubeconfig and --context"
    if isinstance(error, ConfigurationError):
        return ConfigurationError(f"{error} {place}; correct that, or {other}")
    if isinstance(error, (Unauthorized, Forbidden)):
        return ConfigurationError(
            f"expected {config.address} {place} to let us in, found {found}; correct the user there, or {other}"
        )
    if isinstance(error, (BadRequest, NotFound)):
        return ConfigurationError(
            f"expected {config.address} {place} to serve an API, found {found}; correct the address, or {other}"
        )
    return ConfigurationError(
        f"expected an API server at {config.address} {place}, found {found}; start that server, or {other}"
    )


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, TransportError) or (isinstance(error, ApiError) and error.status.code in (429, 502, 503))


async def _look(server: Server) -> Seen:
    client = server.client(WILDCARD) if server.scope is Scope.ALL else server.client()
    # kcp's front proxy knows /version only below a logical cluster.
    version = str((await _json(client, "/version") or await server.version()).get("gitVersion", ""))
    serves: set[str] = set()
    for group in ("apis.kcp.io", "core.kcp.io"):
        serves |= await _resources(client, group)
    is_ours = "+kcpctl" in version
    has_kcp_kinds = {"apibindings.apis.kcp.io", "logicalclusters.core.kcp.io"} <= serves
    return Seen(version, not is_ours and (bool(_KCP.search(version)) or has_kcp_kinds), frozenset(serves))


async def _resources(client: Client, group: str) -> set[str]:
    """Return what a group's first version serves, as `plural.group`; nothing where the server has no such group."""
    document = await _json(client, f"/apis/{group}/v1alpha1")
    return {f"{entry['name']}.{group}" for entry in document.get("resources", ()) if "/" not in entry["name"]}


async def kinds_for_force(local: Server, cache: Server) -> tuple[Resource[Shard], Resource[Partition]]:
    """Return Shards and Partitions as a real kcp wants them asked for across clusters: with an identity.

    Raises `ConfigurationError` where our slice controller may not run beside kcp's, or where they are not to be found.
    """
    if await _slices_have_selector(local):
        raise ConfigurationError(
            f"expected slices in the form of kcp 0.11 for --slice-controller force, found status.shardSelector in "
            f"{_SLICES}: each shard of this kcp keeps entries of its own there, which another writer would take away"
        )
    shards = await _identity(cache, local, "shards.core.kcp.io")
    partitions = await _identity(cache, local, "topology.kcp.io")
    return replace(SHARDS, identity=shards), replace(PARTITIONS, identity=partitions)


async def _identity(cache: Server, local: Server, export: str) -> str:
    """Return the identity hash of one of kcp's own APIExports, which are in `root`: maybe on another shard."""
    copies = await cache.client(WILDCARD, WILDCARD).list(EXPORTS)
    found = [obj for obj in copies if (obj.cluster, obj.name) == (ROOT, export)]
    try:
        body = found[0].body if found else (await local.client(ROOT).get(EXPORTS, export)).body
    except NotFound:
        body = {}
    identity = (body.get("status") or {}).get("identityHash")
    if not identity:
        raise ConfigurationError(
            f"expected APIExport {export} in {ROOT} to have an identity hash, found none; wait until kcp has started"
        )
    return str(identity)


async def _slices_have_selector(server: Server) -> bool:
    """Say whether the server's slices have `status.shardSelector`, by which kcp's newer controllers share each slice.

    Looks where schemas are published: in the OpenAPI document, else in the definition that kcp keeps of its own kind.
    Raises `ConfigurationError` when neither can be read.
    """
    for client in _places(server):
        document = await _json(client, "/openapi/v3/apis/apis.kcp.io/v1alpha1")
        for schema in (document.get("components") or {}).get("schemas", {}).values():
            kinds = schema.get("x-kubernetes-group-version-kind") or ()
            if any(kind.get("kind") == _SLICE_KIND for kind in kinds) and schema.get("properties"):
                return _has_selector(schema)
    if server.scope is Scope.ALL:
        definition = await _json(server.client("system:system-crds"), f"{_DEFINITIONS}/{_SLICES}")
        versions = (definition.get("spec") or {}).get("versions") or ()
        if versions:
            return any(_has_selector(one.get("schema", {}).get("openAPIV3Schema", {})) for one in versions)
    raise ConfigurationError(
        f"expected the schema of {_SLICES} on {server.name}, found none that can be read; without it nobody can say "
        "whether its slices are shared with kcp's own controllers, so leave out --slice-controller force"
    )


_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_SLICES = "apiexportendpointslices.apis.kcp.io"


def _places(server: Server) -> list[Client]:
    return [server.client(WILDCARD), server.client("root")] if server.scope is Scope.ALL else [server.client()]


def _has_selector(schema: dict[str, Any]) -> bool:
    status = (schema.get("properties") or {}).get("status") or {}
    return "shardSelector" in (status.get("properties") or {})


async def _json(client: Client, target: str) -> dict[str, Any]:
    """Return a document, {} where the server has none or does not show it to us."""
    try:
        found = msgspec.json.decode(await client.raw("GET", target))
    except ApiError as error:
        if error.status.code in (400, 401, 403, 404, 406, 501):
            return {}
        raise
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}
