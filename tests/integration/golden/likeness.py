"""What counts when two answers, or two objects, are compared: all that does not differ by nature."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tests.integration.objects import JSON
from tests.kcpctl.apiserver.sameness import differences

CLUSTER = "kcp.io/cluster"
NEWER = "apis.kcp.io/v1alpha2"
OLDER = "apis.kcp.io/v1alpha1"
_BY_NATURE = frozenset(
    ("uid", "resourceVersion", "creationTimestamp", "lastTransitionTime", "continue", "managedFields", "description")
)
_MASKED = {
    "cache.kcp.io/original-resource-version": "<original>",
    "cache.kcp.io/original-resource-UID": "<original>",
    "identityHash": "<hash>",
}
_LONGEST = 160
_SERVICES = "/services/apiexport/"


def unlike(theirs: Any, ours: Any) -> list[str]:
    """Return where two comparable values differ, each as a path and what was expected and found."""
    return [line.removeprefix(".body.") for line in differences({"body": theirs}, {"body": ours})]


def comparable(value: Any, places: Mapping[str, str]) -> Any:
    """Return what can be compared of a recorded or an own value; `places` says what logical clusters stand for."""
    text = json.dumps(_seen(value))
    for cluster, name in places.items():
        text = text.replace(cluster, f"<{name}>")
    return json.loads(text)


def in_older_form(value: Any) -> Any:
    """Return a request or an answer about APIExports as it is in the form that ours serve."""
    if isinstance(value, list):
        return [in_older_form(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {name: in_older_form(inner) for name, inner in value.items()}
    if found.get("apiVersion") == NEWER and "export" in str(found.get("kind", "")).lower():
        found["apiVersion"] = OLDER
        spec = found.get("spec", {})
        if "resources" in spec:
            schemas = [resource["schema"] for resource in spec["resources"]]
            found["spec"] = {n: v for n, v in spec.items() if n != "resources"} | {"latestResourceSchemas": schemas}
    return found


def wish(obj: JSON) -> Any:
    """Return what users say about an object."""
    spec = {name: value for name, value in obj["spec"].items() if value != ""}
    return obj["metadata"].get("labels"), spec


def in_short(answer: JSON) -> str:
    """Return an answer in a few words."""
    body = answer.get("body")
    said = body.get("message") if isinstance(body, dict) else body
    text = " ".join(f"{answer['status']} {said or ''}".split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def differing(one: Any, other: Any, path: str = "") -> list[str]:
    """Return the paths of the fields in which two objects differ, those that nobody compares apart."""
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return [] if one == other else [path.removeprefix(".")]
    names = sorted((one.keys() | other.keys()) - {"managedFields"})
    return [line for name in names for line in differing(one.get(name), other.get(name), f"{path}.{name}")]


def _seen(value: Any) -> Any:
    if isinstance(value, list):
        return [_seen(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _field(name, inner) for name, inner in value.items() if name not in _BY_NATURE}


def _field(name: str, value: Any) -> Any:
    if name in _MASKED:
        return _MASKED[name]
    if name == "conditions" and isinstance(value, list):
        return {condition["type"]: _condition(condition) for condition in value}
    if name in ("endpoints", "virtualWorkspaces") and isinstance(value, list):
        return published(endpoint["url"] for endpoint in value)
    return _seen(value)


def _condition(condition: JSON) -> str:
    parts = (condition.get("status"), condition.get("reason"), condition.get("message"))
    return ": ".join(part for part in parts if part)


def published(urls: Iterable[str]) -> str:
    """Return published URLs in one line: the shards that each export is at."""
    shards: dict[str, list[str]] = {}
    for url in sorted(urls):
        shard, mark, export = url.partition(_SERVICES)
        host = shard.removeprefix("https://").removesuffix(".example.com:6443")
        shards.setdefault(export if mark else url, []).append(host)
    return "; ".join(f"{' '.join(hosts)} ({export})" for export, hosts in sorted(shards.items()))
