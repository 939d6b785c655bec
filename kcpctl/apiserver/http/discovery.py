"""Discovery: what a logical cluster serves, in the legacy forms and as one aggregated document."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kcpctl.apiserver.failures import path_not_found, resource_not_found
from kcpctl.apiserver.http.negotiation import JSON, YAML, clauses, unacceptable
from kcpctl.apiserver.http.versions import rank
from kcpctl.apiserver.routing import subresource_verbs
from kcpctl.apiserver.served import Catalog, Served

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

_CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_BORROWED_KINDS = {"scale": ("autoscaling", "v1", "Scale"), "token": ("authentication.k8s.io", "v1", "TokenRequest")}
"""Subresources whose kind belongs to another group-version."""
_KEPT = 64
"""Clusters whose documents are remembered."""

Groups = Mapping[str, Mapping[str, Sequence[Served]]]
"""Group → version (preferred one first) → kinds."""

_encode = msgspec.json.Encoder().encode


class Document(msgspec.Struct, frozen=True):
    """One aggregated document and its ETag."""

    body: bytes
    etag: str


def wants_aggregated(accept: str) -> bool:
    """Say whether the client prefers the aggregated form; raises `Failure` (406) when it accepts neither form."""
    if not accept:
        return False
    for clause in clauses(accept):
        wanted = clause.parameters
        if "as" in wanted:
            if clause.covers(JSON) and (wanted["as"], wanted.get("g"), wanted.get("v")) == (
                "APIGroupDiscoveryList",
                "apidiscovery.k8s.io",
                "v2",
            ):
                return True
        elif clause.covers(JSON) or clause.covers(YAML):
            return False
    raise unacceptable(accept)


class Discovery:
    """Builds discovery documents from the catalogue and remembers them until the catalogue's version changes."""

    def __init__(self, catalog: Catalog) -> None:
        """Take the catalogue; nothing is built before it is asked for."""
        self._catalog = catalog
        self._known: dict[str, tuple[str, Groups]] = {}
        self._documents: dict[tuple[str, bool], tuple[str, Document]] = {}

    def groups(self, cluster: str) -> Groups:
        """Return the kinds that the cluster serves, by group and version, in discovery order."""
        version = self._catalog.version(cluster)
        known = self._known.get(cluster)
        if known is None or known[0] != version:
            if len(self._known) >= _KEPT:
                self._known.clear()
            known = self._known[cluster] = (version, _grouped(self._catalog.served(cluster)))
        return known[1]

    def aggregated(self, cluster: str, *, core: bool) -> Document:
        """Return the aggregated document of `/api` (core) or `/apis`."""
        version = self._catalog.version(cluster)
        known = self._documents.get((cluster, core))
        if known is None or known[0] != version:
            if len(self._documents) >= 2 * _KEPT:
                self._documents.clear()
            body = _encode(_group_list(g for g in self.groups(cluster).items() if (not g[0]) is core))
            document = Document(body, f'"{hashlib.sha512(body).hexdigest().upper()}"')
            known = self._documents[cluster, core] = (version, document)
        return known[1]

    def legacy(self, cluster: str, segments: Sequence[str], address: str) -> bytes:
        """Return the legacy document at `/api…` or `/apis…`; raises `Failure` (404) where there is none."""
        groups = self.groups(cluster)
        if segments[0] == "api":
            if len(segments) == 1:
                return _encode(_api_versions(groups, address))
            if segments[1] not in groups.get("", {}):
                raise resource_not_found()
            return _encode(_resources("", segments[1], groups[""][segments[1]]))
        if len(segments) == 1:
            listed = [_group(name, versions) for name, versions in groups.items() if name]
            return _encode({"kind": "APIGroupList", "apiVersion": "v1", "groups": listed})
        versions = groups.get(segments[1], {}) if segments[1] else {}
        if len(segments) == 2 and versions:
            return _encode({"kind": "APIGroup", "apiVersion": "v1"} | _group(segments[1], versions))
        if len(segments) == 3 and segments[2] in versions:
            return _encode(_resources(segments[1], segments[2], versions[segments[2]]))
        raise path_not_found()

    def paths(self, cluster: str) -> list[str]:
        """Return the paths of all group-versions, as the root document lists them."""
        found = ["/api", "/apis"]
        for group, versions in self.groups(cluster).items():
            root = f"/apis/{group}" if group else "/api"
            found.append(root)
            found.extend(f"{root}/{version}" for version in versions)
        return sorted(set(found))


def _grouped(served: Iterable[Served]) -> Groups:
    groups: dict[str, dict[str, list[Served]]] = {}
    for kind in served:
        groups.setdefault(kind.group, {}).setdefault(kind.version, []).append(kind)
    return {name: {v: _ordered(versions[v]) for v in sorted(versions, key=rank)} for name, versions in groups.items()}


def _ordered(kinds: list[Served]) -> list[Served]:
    """Built-ins come by alphabet, custom resources in the catalogue's order."""
    return kinds if any(kind.is_custom for kind in kinds) else sorted(kinds, key=lambda kind: kind.plural)


def _api_versions(groups: Groups, address: str) -> dict[str, Any]:
    return {
        "kind": "APIVersions",
        "versions": list(groups.get("", {})),
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def _group(name: str, versions: Mapping[str, Sequence[Served]]) -> dict[str, Any]:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _resources(group: str, version: str, kinds: Sequence[Served]) -> dict[str, Any]:
    entries = [entry for kind in kinds for entry in (_resource(kind), *_subresources(kind))]
    api_version = {"apiVersion": "v1", "groupVersion": f"{group}/{version}"} if group else {"groupVersion": version}
    return {"kind": "APIResourceList"} | api_version | {"resources": entries}


def _resource(kind: Served) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": _verbs(kind),
    }
    return entry | _names(kind) | {"storageVersionHash": storage_version_hash(kind)}


def _subresources(kind: Served) -> list[dict[str, Any]]:
    return [_subresource(kind, name) for name in _subresource_names(kind)]


def _subresource(kind: Served, name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": f"{kind.plural}/{name}", "singularName": "", "namespaced": kind.namespaced}
    borrowed = _BORROWED_KINDS.get(name)
    if borrowed is not None:
        entry |= {"group": borrowed[0], "version": borrowed[1]}
    return entry | {"kind": borrowed[2] if borrowed else kind.kind, "verbs": subresource_verbs(name)}


def _names(kind: Served) -> dict[str, Any]:
    names: dict[str, Any] = {}
    if kind.short_names:
        names["shortNames"] = kind.short_names
    if kind.categories:
        names["categories"] = kind.categories
    return names


def _verbs(kind: Served) -> Sequence[str]:
    return [verb for verb in _CUSTOM_VERBS if verb in kind.verbs] if kind.is_custom else sorted(kind.verbs)


def _subresource_names(kind: Served) -> list[str]:
    """Custom resources name status first, built-ins go by alphabet."""
    return sorted(kind.subresources, reverse=kind.is_custom)


def storage_version_hash(kind: Served) -> str:
    """Return a short hash that changes when the kind is stored in another version."""
    text = f"{kind.group}/{kind.storage_version or kind.version}/{kind.kind}"
    return base64.b64encode(hashlib.sha256(text.encode()).digest()[:8]).decode()


def _group_list(groups: Iterable[tuple[str, Mapping[str, Sequence[Served]]]]) -> dict[str, Any]:
    items = [_group_item(name, versions) for name, versions in groups]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _group_item(name: str, versions: Mapping[str, Sequence[Served]]) -> dict[str, Any]:
    return {
        "metadata": {"name": name} if name else {},
        "versions": [
            {"version": version, "resources": [_resource_item(kind) for kind in kinds], "freshness": "Current"}
            for version, kinds in versions.items()
        ],
    }


def _resource_item(kind: Served) -> dict[str, Any]:
    item: dict[str, Any] = {
        "resource": kind.plural,
        "responseKind": _response_kind(kind),
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": _verbs(kind),
    }
    item |= _names(kind)
    subresources = [
        {"subresource": name, "responseKind": _response_kind(kind, name), "verbs": subresource_verbs(name)}
        for name in _subresource_names(kind)
    ]
    return item | ({"subresources": subresources} if subresources else {})


def _response_kind(kind: Served, subresource: str = "") -> dict[str, str]:
    """Built-ins leave group and version empty where they are those of the list; custom resources fill them in."""
    if subresource in _BORROWED_KINDS:
        group, version, name = _BORROWED_KINDS[subresource]
        return {"group": group, "version": version, "kind": name}
    if not kind.is_custom:
        return {"group": "", "version": "", "kind": kind.kind}
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}
