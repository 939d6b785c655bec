"""The paths of one served kind: what may be asked of it, with which parameters and bodies."""

from collections.abc import Iterable
from typing import Any

from kcpctl.apiserver.http.openapi.common import SCALE, Schema, meta, ref
from kcpctl.apiserver.routing import subresource_verbs
from kcpctl.apiserver.served import Served

_OPERATIONS = {
    "list": ("get", "list", "list"),
    "create": ("post", "post", "create"),
    "deletecollection": ("delete", "deletecollection", "delete"),
    "get": ("get", "get", "read"),
    "update": ("put", "put", "replace"),
    "patch": ("patch", "patch", "patch"),
    "delete": ("delete", "delete", "delete"),
}
"""Verb → (HTTP method, x-kubernetes-action, first word of the operationId)."""

_DESCRIPTIONS = {
    "list": "list or watch objects of kind {}",
    "create": "create a {}",
    "deletecollection": "delete a collection of {}",
    "get": "read the specified {}",
    "update": "replace the specified {}",
    "patch": "partially update the specified {}",
    "delete": "delete a {}",
}


def _parameter(name: str, kind: str, description: str, *, where: str = "query") -> Schema:
    found = {"name": name, "in": where, "description": description, "schema": {"type": kind, "uniqueItems": True}}
    return found | ({"required": True} if where == "path" else {})


_REVISION = _parameter("resourceVersion", "string", "The revision to read at, or to watch from.")
_SELECTION = [
    _parameter("allowWatchBookmarks", "boolean", "Whether a watch also sends bookmarks."),
    _parameter("continue", "string", "Where to go on: the token of the previous page."),
    _parameter("fieldSelector", "string", "Selects objects by their fields."),
    _parameter("labelSelector", "string", "Selects objects by their labels."),
    _parameter("limit", "integer", "The most items that one page has."),
    _REVISION,
    _parameter("resourceVersionMatch", "string", "How resourceVersion is meant: Exact or NotOlderThan."),
    _parameter("sendInitialEvents", "boolean", "Whether a watch begins with the present state."),
    _parameter("timeoutSeconds", "integer", "Seconds after which a list or watch ends."),
]
_WATCH = _parameter("watch", "boolean", "Whether to stream changes instead of listing.")
_DRY_RUN = _parameter("dryRun", "string", "`All` goes through everything without storing anything.")
_WRITE = [
    _DRY_RUN,
    _parameter("fieldManager", "string", "Who makes the change."),
    _parameter("fieldValidation", "string", "What happens to unknown and duplicate fields: Ignore, Warn or Strict."),
]
_DELETE = [
    _DRY_RUN,
    _parameter("gracePeriodSeconds", "integer", "Seconds the object has to end gracefully."),
    _parameter("orphanDependents", "boolean", "Older form of propagationPolicy: whether dependents stay."),
    _parameter("propagationPolicy", "string", "What happens to dependents: Orphan, Background or Foreground."),
]
_PARAMETERS: dict[str, list[Schema]] = {
    "list": [*_SELECTION, _WATCH],
    "create": _WRITE,
    "deletecollection": [*_SELECTION, *_DELETE],
    "get": [_REVISION],
    "update": _WRITE,
    "patch": _WRITE,
    "delete": _DELETE,
}
_NAMESPACE = _parameter("namespace", "string", "The namespace to work in.", where="path")
_PRETTY = _parameter("pretty", "string", "Whether the answer is indented; programs for people get that by default.")
_FORMATS = ("application/json", "application/yaml")
_OK = {"200": "OK"}
_CODES = {
    "create": {"200": "OK", "201": "Created", "202": "Accepted"},
    "update": {"200": "OK", "201": "Created"},
    "delete": {"200": "OK", "202": "Accepted"},
}
_PATCHES = ("application/json-patch+json", "application/merge-patch+json")
_STRATEGIC = "application/strategic-merge-patch+json"


def component(served: Served) -> str:
    """Return the name of the kind's schema: its group reversed, its version and its kind."""
    if served.is_custom:
        return ".".join([*reversed(served.group.split(".")), served.version, served.kind])
    return f"io.k8s.api.{served.group.partition('.')[0] or 'core'}.{served.version}.{served.kind}"


def group_version_kind(served: Served) -> dict[str, str]:
    """Return what x-kubernetes-group-version-kind says."""
    return {"group": served.group, "version": served.version, "kind": served.kind}


def paths(served: Served) -> dict[str, Schema]:
    """Return every path of the kind."""
    group_version = f"/apis/{served.group}/{served.version}" if served.group else f"/api/{served.version}"
    everywhere = f"{group_version}/{served.plural}"
    folder = f"{group_version}/namespaces/{{namespace}}/{served.plural}" if served.namespaced else everywhere
    one = folder + "/{name}"
    found = {
        folder: _item(served, [v for v in ("list", "create", "deletecollection") if v in served.verbs], folder),
        one: _item(served, [v for v in ("get", "update", "patch", "delete") if v in served.verbs], one),
    }
    for name in served.subresources:
        path = f"{one}/{name}"
        found[path] = _item(served, subresource_verbs(name), path, subresource=name)
    if served.namespaced and "list" in served.verbs:
        found[everywhere] = _item(served, ["list"], everywhere, suffix="ForAllNamespaces")
    return found


def _item(
    served: Served, verbs: Iterable[str], path: str, *, subresource: str = "", suffix: str = ""
) -> dict[str, Any]:
    shared = [_PRETTY]
    if "{namespace}" in path:
        shared.insert(0, _NAMESPACE)
    if "{name}" in path:
        shared.insert(0, _parameter("name", "string", f"name of the {served.kind}", where="path"))
    item: dict[str, Any] = {_OPERATIONS[verb][0]: _operation(served, verb, path, subresource, suffix) for verb in verbs}
    return item | {"parameters": shared}


def _operation(served: Served, verb: str, path: str, subresource: str, suffix: str) -> Schema:
    operation: Schema = {
        "tags": [f"{_lower(_camel(served.group))}_{served.version}"],
        "description": _DESCRIPTIONS[verb].format(f"{subresource} of {served.kind}" if subresource else served.kind),
        "operationId": _operation_id(served, verb, path, subresource, suffix),
        "parameters": _PARAMETERS[verb],
    }
    body = _request_body(served, verb, subresource)
    if body is not None:
        operation["requestBody"] = body
    operation["responses"] = _responses(served, verb, subresource)
    operation["x-kubernetes-action"] = _OPERATIONS[verb][1]
    operation["x-kubernetes-group-version-kind"] = group_version_kind(served)
    return operation


def _operation_id(served: Served, verb: str, path: str, subresource: str, suffix: str) -> str:
    collection = "Collection" if verb == "deletecollection" else ""
    namespaced = "Namespaced" if "{namespace}" in path else ""
    tail = subresource.capitalize() + suffix
    version = served.version[:1].upper() + served.version[1:]
    return f"{_OPERATIONS[verb][2]}{_camel(served.group)}{version}{collection}{namespaced}{served.kind}{tail}"


def _camel(group: str) -> str:
    """Return a group as one word; groups of Kubernetes itself go by their first label."""
    short = group.removesuffix(".authorization.k8s.io").removesuffix(".k8s.io") or "core"
    return "".join(part[:1].upper() + part[1:] for part in short.replace("-", ".").split("."))


def _lower(word: str) -> str:
    return word[:1].lower() + word[1:]


def _schema(served: Served, subresource: str) -> Schema:
    return ref(SCALE if subresource == "scale" else component(served))


def _content(types: Iterable[str], schema: Schema) -> Schema:
    return {"content": {media: {"schema": schema} for media in types}}


def _request_body(served: Served, verb: str, subresource: str) -> Schema | None:
    if verb in ("create", "update"):
        return _content(_FORMATS, _schema(served, subresource)) | {"required": True}
    if verb == "patch":
        types = _PATCHES if served.is_custom else (*_PATCHES, _STRATEGIC)
        return _content(types, meta("Patch")) | {"required": True}
    if verb in ("delete", "deletecollection"):
        return _content(_FORMATS, meta("DeleteOptions"))
    return None


def _responses(served: Served, verb: str, subresource: str) -> Schema:
    if verb == "list":
        schema = ref(component(served) + "List")
    elif verb in ("delete", "deletecollection"):
        schema = meta("Status")
    else:
        schema = _schema(served, subresource)
    answer = _content(_FORMATS, schema)
    refused = {"401": {"description": "Unauthorized"}}
    codes = {code: answer | {"description": description} for code, description in _CODES.get(verb, _OK).items()}
    return codes | refused
