"""What keeps a namespace from going away, as its conditions tell it."""

import msgspec

from kcpctl.apiserver.served import JSON


class Remains(msgspec.Struct, frozen=True):
    """What is left in a namespace after everything in it was deleted."""

    resources: dict[str, int]
    """Objects by `plural.group`."""
    finalizers: dict[str, int]
    """Objects that a finalizer holds."""

    @property
    def is_nothing(self) -> bool:
        """Whether the namespace is empty."""
        return not self.resources


_GOOD = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


def set_conditions(namespace: JSON, remains: Remains, *, now: str) -> bool:
    """Tell what remains, in place, and say whether that is news."""
    bad = {}
    if remains.resources:
        listed = _listed(remains.resources, " has ")
        bad["NamespaceContentRemaining"] = ("SomeResourcesRemain", f"Some resources are remaining: {listed}")
    if remains.finalizers:
        message = f"Some content in the namespace has finalizers remaining: {_listed(remains.finalizers, ' in ')}"
        bad["NamespaceFinalizersRemaining"] = ("SomeFinalizersRemain", message)
    conditions = namespace["status"].setdefault("conditions", [])
    changes = [_set(conditions, kind, kind in bad, *bad.get(kind, good), now=now) for kind, good in _GOOD.items()]
    return any(changes)


def _listed(counts: dict[str, int], word: str) -> str:
    return ", ".join(sorted(f"{what}{word}{count} resource instances" for what, count in counts.items()))


def _set(conditions: list[JSON], kind: str, is_bad: bool, reason: str, message: str, *, now: str) -> bool:
    status = "True" if is_bad else "False"
    old = next((found for found in conditions if found["type"] == kind), None)
    changed_at = now if old is None or old["status"] != status else old["lastTransitionTime"]
    new = {"type": kind, "status": status, "lastTransitionTime": changed_at, "reason": reason, "message": message}
    if old is None:
        conditions.append(new)
        return True
    if old == new:
        return False
    old.update(new)
    return True
