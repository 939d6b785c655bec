"""Groups of the Kubernetes community: their CRDs need a note that says who approved them."""

from enum import Enum

from kcpctl.apiserver.field_errors import invalid, required
from kcpctl.apiserver.served import JSON, FieldError

ANNOTATION = "api-approved.kubernetes.io"
_SEE = "see https://github.com/kubernetes/enhancements/pull/1111"


class Approval(Enum):
    """What the note says; the values are reasons of the condition."""

    MISSING = "MissingAnnotation"
    INVALID = "InvalidAnnotation"
    APPROVED = "ApprovedAnnotation"
    BYPASSED = "UnapprovedAnnotation"


def is_protected(group: str) -> bool:
    """Say whether the group belongs to the Kubernetes community."""
    return f".{group}".endswith((".k8s.io", ".kubernetes.io"))


def approval(crd: JSON) -> tuple[Approval, str]:
    """Return what the definition's note says, and a sentence about it."""
    note = (crd["metadata"].get("annotations") or {}).get(ANNOTATION, "")
    if not note:
        return Approval.MISSING, f'protected groups must have approval annotation "{ANNOTATION}", {_SEE}'
    if note.startswith("unapproved"):
        return Approval.BYPASSED, f'not approved: "{note}"'
    if note.startswith(("https://", "http://")):
        return Approval.APPROVED, f"approved in {note}"
    return Approval.INVALID, (
        f'protected groups must have approval annotation "{ANNOTATION}" with either a URL or a reason starting with'
        f' "unapproved", {_SEE}'
    )


def approval_errors(crd: JSON, old: JSON | None) -> list[FieldError]:
    """Return what is wrong with the note; one that did not change is let through."""
    if not is_protected(crd["spec"]["group"]):
        return []
    state, sentence = approval(crd)
    if old is not None and approval(old)[0] is state:
        return []
    field = f"metadata.annotations[{ANNOTATION}]"
    if state is Approval.MISSING:
        return [required(field, sentence)]
    if state is Approval.INVALID:
        return [invalid(field, crd["metadata"]["annotations"][ANNOTATION], sentence)]
    return []


def approval_condition(crd: JSON) -> tuple[str, str, str] | None:
    """Return (status, reason, message) of KubernetesAPIApprovalPolicyConformant; None for other groups."""
    if not is_protected(crd["spec"]["group"]):
        return None
    state, sentence = approval(crd)
    return "True" if state is Approval.APPROVED else "False", state.value, sentence
