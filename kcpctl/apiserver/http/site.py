"""Everything that is no resource: the root, version, health, discovery, OpenAPI, and what is not there."""

from collections.abc import Callable, Sequence

import msgspec

from kcpctl.apiserver.call import Query
from kcpctl.apiserver.exchange import Answer, Incoming
from kcpctl.apiserver.failures import method_not_allowed, path_not_found, resource_not_found
from kcpctl.apiserver.http import answers
from kcpctl.apiserver.http.discovery import AGGREGATED, Discovery, wants_aggregated
from kcpctl.apiserver.http.health import Health
from kcpctl.apiserver.http.negotiation import plain_form
from kcpctl.apiserver.http.openapi.site import OpenApi
from kcpctl.apiserver.http.version import version_document
from kcpctl.apiserver.mounts import Scoped
from kcpctl.apiserver.routing import Target

_JSON = (("Content-Type", "application/json"),)
_METRICS = (("Content-Type", "text/plain; version=0.0.4; charset=utf-8"),)
_HEALTH = ("healthz", "livez", "readyz")
_ALONE = ("version", "metrics")
"""Paths with nothing below them."""

Metrics = Callable[[], bytes]
"""Returns all figures of the process, in the text form that Prometheus reads."""


class Site:
    """Answers what is no resource, for one world."""

    def __init__(
        self, discovery: Discovery, openapi: OpenApi, health: Health, *, address: str, metrics: Metrics | None = None
    ) -> None:
        """Take what answers; `address` (host and port) is what discovery names where a request has no Host."""
        self._discovery = discovery
        self._openapi = openapi
        self._health = health
        self._address = address
        self._metrics = metrics
        self._version = version_document()

    async def __call__(self, incoming: Incoming, target: Target, scoped: Scoped, query: Query) -> Answer:
        """Answer one request; raises `Failure`: 404 as text for what nobody serves."""
        segments = target.segments
        first = segments[0] if segments else ""
        if first in _HEALTH:
            return self._health(segments, query)
        if first in ("api", "apis"):
            return self._discover(incoming, target, scoped, query)
        if first not in ("", "version", "openapi", "metrics") or (first in _ALONE and len(segments) > 1):
            raise path_not_found()
        if target.method != "GET":
            raise method_not_allowed()
        if first == "metrics":
            return self._measured()
        if first == "openapi":
            groups = self._discovery.groups(scoped.scope.cluster)
            return await self._openapi(segments, groups, scoped.prefix, incoming.headers, query)
        return Answer(200, _JSON, self._version) if first else self._root(scoped, query)

    def _measured(self) -> Answer:
        if self._metrics is None:
            raise path_not_found()
        return Answer(200, _METRICS, self._metrics())

    def _root(self, scoped: Scoped, query: Query) -> Answer:
        paths = self._discovery.paths(scoped.scope.cluster)
        paths += [*self._health.paths(), "/openapi/v3", "/version", *(["/metrics"] if self._metrics else ())]
        body = msgspec.json.encode({"paths": sorted(set(paths))})
        return Answer(200, _JSON, msgspec.json.format(body, indent=2))

    def _discover(self, incoming: Incoming, target: Target, scoped: Scoped, query: Query) -> Answer:
        segments = target.segments
        cluster = scoped.scope.cluster
        self._check_served(segments, cluster)
        if target.method != "GET":
            raise method_not_allowed()
        if wants_aggregated(incoming.headers.get("accept", "")) and len(segments) == 1:
            return self._aggregated(incoming, cluster, core=segments[0] == "api")
        address = incoming.headers.get("host") or self._address
        body = self._discovery.legacy(cluster, segments, address)
        return answers.document(body, plain_form(incoming.headers, query))

    def _check_served(self, segments: Sequence[str], cluster: str) -> None:
        """Refuse group-versions that are not there before the method matters."""
        groups = self._discovery.groups(cluster)
        if segments[0] == "api":
            if len(segments) > 1 and segments[1] not in groups.get("", {}):
                raise resource_not_found()
        elif len(segments) > 1 and segments[1] not in groups:
            raise path_not_found()

    def _aggregated(self, incoming: Incoming, cluster: str, *, core: bool) -> Answer:
        document = self._discovery.aggregated(cluster, core=core)
        headers = (("ETag", document.etag), ("Vary", "Accept"), ("Cache-Control", "public"))
        if incoming.headers.get("if-none-match") == document.etag:
            return Answer(304, headers)
        return Answer(200, (("Content-Type", AGGREGATED), *headers), document.body)
