"""Paths to verbs: what a request line asks for, and whether that is served."""

from urllib.parse import unquote

import msgspec

from informers.api.status import StatusDetails
from kcpctl.apiserver.call import WILDCARD, Query, Scope
from kcpctl.apiserver.failures import (
    Failure,
    bad_request,
    failure,
    method_not_allowed,
    not_built,
    not_found,
    path_not_found,
    resource_not_found,
)
from kcpctl.apiserver.served import Catalog, Served

_VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_ON_COLLECTIONS = frozenset(("list", "watch", "create", "deletecollection"))
_ACROSS_NAMESPACES = frozenset(("list", "watch"))
_SUBRESOURCE_VERBS = {
    "status": frozenset(("get", "patch", "update")),
    "scale": frozenset(("get", "patch", "update")),
    "finalize": frozenset(("update",)),
    "token": frozenset(("create",)),
}
_NOT_BUILT = {
    "rbac.authorization.k8s.io": "roles and their bindings (RBAC) are not built yet; members of system:masters may do "
    "everything, all others nothing but look at health and version",
    "authorization.k8s.io": "reviews of what somebody may do are not built yet; members of system:masters may do "
    "everything, all others nothing but look at health and version",
}
"""Groups whose absence would be taken for a mistake, with what is said of them."""
_OF_NAMESPACES = ("status", "finalize")
"""What may follow `/namespaces/{name}/` as a subresource of the Namespace; all else there is a namespaced kind."""


class Target(msgspec.Struct, frozen=True):
    """What a request line asks for, by its text alone: nobody has looked yet whether it is served."""

    method: str
    segments: tuple[str, ...]
    """The decoded path in pieces; a trailing slash leaves no piece."""
    verb: str
    """For resources as in `Call`, `""` for methods that are no verb; else the method in lower case."""
    is_resource: bool = False
    group: str = ""
    version: str = ""
    namespace: str = ""
    """For a Namespace itself its own name, as authorizers see it."""
    resource: str = ""
    name: str = ""
    subresource: str = ""
    rest: tuple[str, ...] = ()
    """Pieces after the subresource; nothing has any."""
    under_watch: bool = False
    """Whether the deprecated `/watch/` prefix asks."""

    @property
    def path(self) -> str:
        """The decoded path, without a trailing slash."""
        return "/" + "/".join(self.segments)


def parse(method: str, path: str, query: Query) -> Target:
    """Read a request line; `path` is percent-encoded and comes without scope prefixes such as `/clusters/x`.

    The whole path is decoded once, before it is cut, as Go's net/http does: an encoded slash separates pieces.
    """
    if "%" in path:
        path = unquote(path)
    path = path.strip("/")
    segments = tuple(path.split("/")) if path else ()
    if len(segments) >= 3:
        if segments[0] == "api":
            return _resource(method, segments, "", segments[1], segments[2:], query)
        if segments[0] == "apis" and len(segments) >= 4:
            return _resource(method, segments, segments[1], segments[2], segments[3:], query)
    return Target(method, segments, method.lower())


def _resource(
    method: str, segments: tuple[str, ...], group: str, version: str, rest: tuple[str, ...], query: Query
) -> Target:
    verb = _VERBS.get(method, "")
    under_watch = rest[0] == "watch" and len(rest) > 1
    if under_watch:
        rest = rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and not (len(rest) == 3 and rest[2] in _OF_NAMESPACES):
            rest = rest[2:]
    name = rest[1] if len(rest) > 1 else ""
    if under_watch:
        verb = "watch" if verb == "get" else verb
    elif not name:
        verb = _on_collection(verb, query)
    return Target(
        method,
        segments,
        verb,
        is_resource=True,
        group=group,
        version=version,
        namespace=namespace,
        resource=rest[0],
        name=name,
        subresource=rest[2] if len(rest) > 2 else "",
        rest=rest[3:],
        under_watch=under_watch,
    )


def _on_collection(verb: str, query: Query) -> str:
    if verb == "get":
        return "watch" if query.flag("watch") else "list"
    return "deletecollection" if verb == "delete" else verb


def find(target: Target, catalog: Catalog, scope: Scope) -> Served:
    """Return what serves the target; raises `Failure`: 404 where nothing does, 405 where the method does not fit.

    kcp's `plural:identity` is served by the plural: kinds of one name are the same for all here.
    """
    plural = target.resource.partition(":")[0]
    served = catalog.find(scope.cluster, target.group, target.version, plural)
    if served is None:
        raise _unknown(target, catalog, scope)
    if "" in target.segments or target.rest:
        raise _no_such_path(served)
    _check_namespace(target, served)
    if "%" in target.name or target.name in (".", ".."):
        found = "contain '%'" if "%" in target.name else f"be '{target.name}'"
        raise bad_request(f'Name parameter invalid: "{target.name}": may not {found}')
    if target.subresource:
        _check_subresource(target, served)
    elif not _allowed(target, served):
        raise method_not_allowed(served, target.verb)
    if scope.is_wildcard and target.verb not in _ACROSS_NAMESPACES:
        raise _not_everywhere(target, served, scope)
    return served


def _not_everywhere(target: Target, served: Served, scope: Scope) -> Failure:
    """Across clusters or shards only collections are read; kcp's cache server knows no single object there."""
    if scope.is_cache and target.verb == "get":
        return not_found(served, target.name)
    where = "logical cluster" if scope.cluster == WILDCARD else "shard"
    message = f'{target.verb} is not supported on resources of kind "{served.qualified}" in the `*` {where}'
    return failure(405, "MethodNotAllowed", message, StatusDetails(group=served.group, kind=served.plural))


def _unknown(target: Target, catalog: Catalog, scope: Scope) -> Failure:
    """A group-version with built-ins has a router of its own, which answers with a Status; all else with text."""
    if not target.group:
        return resource_not_found()
    if target.group in _NOT_BUILT:
        return not_built(_NOT_BUILT[target.group])
    group_version = (target.group, target.version)
    built_in = any((s.group, s.version) == group_version and not s.is_custom for s in catalog.served(scope.cluster))
    return resource_not_found() if built_in else path_not_found()


def _no_such_path(served: Served) -> Failure:
    return path_not_found() if served.is_custom else resource_not_found()


def _check_namespace(target: Target, served: Served) -> None:
    """Refuse a namespace where the kind has none, and anything but reads of collections where it is missing."""
    has_namespace = bool(target.namespace) and target.resource != "namespaces"
    if has_namespace and not served.namespaced:
        raise _no_such_path(served)
    if served.namespaced and not has_namespace and target.verb not in _ACROSS_NAMESPACES:
        if served.is_custom:
            raise path_not_found()
        raise resource_not_found() if target.name else method_not_allowed()


def _check_subresource(target: Target, served: Served) -> None:
    if target.subresource not in served.subresources or target.under_watch:
        raise not_found(served, target.name) if served.is_custom else resource_not_found()
    if target.method == "HEAD" or target.verb not in _SUBRESOURCE_VERBS[target.subresource]:
        raise method_not_allowed(served, target.verb)


def _allowed(target: Target, served: Served) -> bool:
    if target.method == "HEAD" or target.verb not in served.verbs:
        return False
    if target.under_watch:
        return target.verb == "watch"
    return (target.verb in _ON_COLLECTIONS) is not bool(target.name)


def subresource_verbs(subresource: str) -> tuple[str, ...]:
    """Return the verbs of a subresource in the order of discovery."""
    return tuple(sorted(_SUBRESOURCE_VERBS[subresource]))
