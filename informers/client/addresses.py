"""Where on a server things are: paths of collections and objects, by the way the server separates logical clusters."""

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import msgspec

from informers.api.clusters import WILDCARD
from informers.api.errors import ConfigurationError
from informers.api.resources import Collection, Resource

_PLACES_KEPT = 1024


class Scope(StrEnum):
    """How a server separates logical clusters."""

    PLAIN = "plain"
    """It has none: any Kubernetes API server."""
    ONE = "one"
    """It has them, and its address names one: `https://host/clusters/x`."""
    ALL = "all"
    """Each request names one, or all of them: `/clusters/{cluster}` comes first."""
    CACHE = "cache"
    """A kcp cache server: `/services/cache/shards/{shard}/clusters/{cluster}` comes first."""


class Place(msgspec.Struct, frozen=True):
    """A logical cluster on a shard; `"*"` for all, "" where there are none or the address says which."""

    cluster: str = ""
    shard: str = ""

    @property
    def is_wild(self) -> bool:
        """Whether it is more than one cluster."""
        return WILDCARD in (self.cluster, self.shard)


def place_of(collection: Collection[Any]) -> Place:
    """Return where a collection is."""
    return Place(collection.cluster, collection.shard)


@lru_cache(_PLACES_KEPT)
def root(scope: Scope, place: Place) -> str:
    """Return the path prefix of the place; raises `ConfigurationError` when the scope cannot address it."""
    if scope in (Scope.PLAIN, Scope.ONE):
        if place.cluster or place.shard:
            raise ConfigurationError(
                f"expected a server whose address leaves the logical cluster open to find {_shown(place)}, "
                f"found one that {_HAS[scope]}; use an address that ends in /clusters/*"
            )
        return ""
    if not place.cluster:
        raise ConfigurationError("expected the name of a logical cluster, or '*', found none; use client.cluster(name)")
    cluster = f"/clusters/{_segment(place.cluster, safe=':*')}"
    if scope is Scope.CACHE:
        if not place.shard:
            raise ConfigurationError("expected the name of a shard, or '*', found none; use client.shard(name)")
        return f"/services/cache/shards/{_segment(place.shard, safe='*')}{cluster}"
    if place.shard:
        raise ConfigurationError(f"expected a cache server to find {_shown(place)}, found a server without shards")
    return cluster


_HAS = {Scope.PLAIN: "has no logical clusters", Scope.ONE: "names one"}


def path(resource: Resource[Any], *, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """Return the path below a place's root: of the collection, or of the object or subresource named."""
    within = f"/namespaces/{_segment(namespace)}" if namespace else ""
    last = f"/{_segment(name, safe=':')}" if name else ""
    below = f"/{subresource}" if subresource else ""
    return f"{resource.path}{within}/{resource.segment}{last}{below}"


def object_path(resource: Resource[Any], name: str, *, namespace: str = "", subresource: str = "") -> str:
    """Return the path of one object; raises `ConfigurationError` without a name: the path would be the collection's."""
    if not name:
        raise ConfigurationError(f"expected the name of one of {resource.qualified}, found none")
    return path(resource, namespace=namespace, name=name, subresource=subresource)


def query(values: Mapping[str, str | int | bool | None]) -> str:
    """Return `?a=b&…` of what is neither None nor "", percent-encoded; booleans become `true` and `false`."""
    pairs = [f"{name}={quote(_text(v), safe='')}" for name, v in values.items() if v is not None and v != ""]
    return "?" + "&".join(pairs) if pairs else ""


def _segment(name: str, *, safe: str = "") -> str:
    """Return the name as one piece of a path; dots alone would lead out of it on the way."""
    if name in (".", ".."):
        raise ConfigurationError(f"expected a name to put into a path, found {name!r}")
    return quote(name, safe=safe)


def _text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(place: Place) -> str:
    return f"cluster {place.cluster!r}" + (f" of shard {place.shard!r}" if place.shard else "")
