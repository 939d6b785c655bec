"""The options of a deletion, and what they mean for an object's finalizers."""

import msgspec

from kcpctl.apiserver.call import Call
from kcpctl.apiserver.failures import Failure, bad_request, conflict, failure, invalid_options
from kcpctl.apiserver.field_errors import invalid, unsupported
from kcpctl.apiserver.protobuf import envelope
from kcpctl.apiserver.protobuf.wire import WireError
from kcpctl.apiserver.served import JSON, Served
from kcpctl.apiserver.shapes.meta import DELETE_OPTIONS
from kcpctl.apiserver.shapes.reader import ShapeError, read
from kcpctl.apiserver.world import World
from kcpctl.apiserver.writing import yamltext
from kcpctl.apiserver.writing.decoding import Text, Unreadable, check_size, effort, kind_of, media_type, opened
from kcpctl.apiserver.writing.metadata import FOREGROUND, ORPHAN
from kcpctl.apiserver.writing.options import dry_run_errors

_POLICIES = ("Foreground", "Background", "Orphan")
_SCHEME = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"


class DeleteOptions(msgspec.Struct, frozen=True):
    """What a client wants of a deletion."""

    dry_run: bool = False
    policy: str = ""
    """Foreground, Background, Orphan, or `""` for what the object's finalizers say."""
    says_not_orphan: bool = False
    """Whether the old form `orphanDependents: false` was used, which has an answer code of its own."""
    uid: str | None = None
    revision: str | None = None


async def delete_options(world: World, call: Call) -> DeleteOptions:
    """Read the options from the body, or from the query if there is none; waits for a thread if the body is big.

    Raises `Failure`.
    """
    check_size(call)
    found = await world.aside.do(effort(call), lambda: _from_body(call)) if call.body else _from_query(call)
    policy, orphan = found.get("propagationPolicy"), found.get("orphanDependents")
    errors = []
    if policy is not None and orphan is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(invalid("propagationPolicy", policy, why))
    if policy is not None and policy not in _POLICIES:
        errors.append(unsupported("propagationPolicy", policy, (*_POLICIES, "nil")))
    errors += dry_run_errors(found.get("dryRun") or ())
    if errors:
        raise invalid_options("DeleteOptions", errors)
    if orphan is not None:
        policy = "Orphan" if orphan else "Background"
    preconditions = found.get("preconditions") or {}
    return DeleteOptions(
        bool(found.get("dryRun")),
        policy or "",
        orphan is False,
        preconditions.get("uid"),
        preconditions.get("resourceVersion"),
    )


def check_preconditions(served: Served, options: DeleteOptions, metadata: JSON) -> None:
    """Refuse to delete another object, or another state of it, than the client means (409)."""
    for wanted, field, named, hint in (
        (options.uid, "uid", "UID", "deleted and then recreated"),
        (options.revision, "resourceVersion", "ResourceVersion", "modified"),
    ):
        found = metadata.get(field, "")
        if wanted is not None and wanted != found:
            raise _unmet(served, metadata["name"], wanted, found, named, hint)


def remaining(options: DeleteOptions, metadata: JSON) -> list[str]:
    """Return the finalizers that hold the object once the policy has been applied."""
    finalizers: list[str] = metadata.get("finalizers") or []
    if not options.policy:
        return finalizers
    return [finalizer for finalizer in finalizers if finalizer not in (ORPHAN, FOREGROUND)]


def _unmet(served: Served, name: str, wanted: str, found: str, field: str, hint: str) -> Failure:
    if served.deletion is not None:
        why = f"Precondition failed: {field} in precondition: {wanted}, {field} in object meta: {found}"
        return conflict(served, name, why)
    why = f"the {field} in the precondition ({wanted}) does not match the {field} in record ({found}). "
    return conflict(
        msgspec.structs.replace(served, plural=served.kind), name, f"{why}The object might have been {hint}"
    )


def _from_body(call: Call) -> JSON:
    try:
        source = opened(call.body, media_type(call))
        api_version, kind = kind_of(source)
        if kind not in ("", "DeleteOptions"):
            raise Unreadable(f'no kind "{kind}" is registered for version "{api_version}" in scheme "{_SCHEME}"')
        if isinstance(source, Text):
            return read(DELETE_OPTIONS, source.value or {})[0]
        return envelope.content(source, DELETE_OPTIONS)
    except (Unreadable, ShapeError, WireError, yamltext.YamlError) as error:
        raise bad_request(str(error)) from None


def _from_query(call: Call) -> JSON:
    query = call.query
    query.integer("gracePeriodSeconds")  # nothing served here is deleted gracefully, but nonsense is refused
    return {
        "propagationPolicy": query.text("propagationPolicy") if "propagationPolicy" in query else None,
        "orphanDependents": query.choice("orphanDependents"),
        "dryRun": list(query.all("dryRun")),
    }


def no_garbage_collector(served: Served, name: str, dependents: int) -> Failure:
    """501: dependents would have to go first, and nobody makes them."""
    return failure(
        501,
        "NotImplemented",
        f'{served.qualified} "{name}" is the owner of {dependents} other object(s), and deleting them first needs the '
        "garbage collector, which is not built yet: delete them yourself, or use propagationPolicy Background",
    )
