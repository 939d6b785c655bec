"""What kcp does to writes of its own kinds, and which of them it refuses."""

from kcpctl.apiserver.admission import Admission, AdmissionRequest
from kcpctl.apiserver.failures import forbidden, not_built
from kcpctl.apiserver.kcp.clusters import PATH, Clusters
from kcpctl.apiserver.kcp.kinds import API_EXPORTS, LOGICAL_CLUSTERS, SHARDS, SLICES, WORKSPACES

_NO_NAME = "[spec.export.name: Required value]"
_MANAGED = {
    (
        WORKSPACES,
        "create",
    ): "workspaces are not created through the API yet: use `python -m kcpctl workspace create`",
    (WORKSPACES, "delete"): "workspaces are not deleted yet: what is in them is kept",
    (
        LOGICAL_CLUSTERS,
        "create",
    ): "logical clusters come with workspaces: use `python -m kcpctl workspace create`",
    (LOGICAL_CLUSTERS, "delete"): "logical clusters are not deleted yet: what is in them is kept",
}


async def refuse_nameless_exports(request: AdmissionRequest) -> None:
    """Refuse slices that do not say of which export they are (403)."""
    if request.served is not SLICES or request.verb != "create":
        return
    spec = request.obj.get("spec")
    export = spec.get("export") if isinstance(spec, dict) else None
    # What is missing inside of a spec is the schema's to say; it does not ask for the spec itself.
    if spec is None or (isinstance(export, dict) and export.get("name") == ""):
        raise forbidden(SLICES, request.obj["metadata"].get("name", ""), _NO_NAME)


async def complete_shard_urls(request: AdmissionRequest) -> None:
    """Give a Shard the URLs that it does not name: they are its base URL."""
    if request.served is not SHARDS or request.verb == "delete" or request.context.subresource:
        return
    spec = request.obj.get("spec")
    if isinstance(spec, dict) and isinstance(spec.get("baseURL"), str):
        base = spec["baseURL"]
        request.obj["spec"] = spec | {
            field: spec.get(field) or base for field in ("externalURL", "virtualWorkspaceURL")
        }


async def refuse_managed(request: AdmissionRequest) -> None:
    """Refuse to make or delete what only the server itself makes so far (501)."""
    why = _MANAGED.get((request.served, request.verb))
    if why:
        raise not_built(why)


def annotate_paths(clusters: Clusters) -> Admission:
    """Return the rule that exports, and all objects which have the annotation, carry their cluster's canonical path."""

    async def rule(request: AdmissionRequest) -> None:
        if request.verb == "delete" or request.context.subresource:
            return
        metadata = request.obj["metadata"]
        found = (metadata.get("annotations") or {}).get(PATH)
        had = request.old is not None and PATH in (request.old["metadata"].get("annotations") or ())
        if found is None and not had and request.served is not API_EXPORTS:
            return
        path = clusters.path(request.context.cluster)
        if found and found != path:
            why = f'annotation "{PATH}" must match canonical path "{path}"'
            raise forbidden(request.served, metadata.get("name", ""), why)
        metadata["annotations"] = (metadata.get("annotations") or {}) | {PATH: path}

    return rule


def kcp_rules(clusters: Clusters) -> tuple[Admission, ...]:
    """Return all rules, in the order in which they apply."""
    return (refuse_managed, refuse_nameless_exports, complete_shard_urls, annotate_paths(clusters))
