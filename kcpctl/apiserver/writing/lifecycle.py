"""Namespaces and what is in them: nothing is created in one that is missing or going away."""

from informers.api.status import Cause
from kcpctl.apiserver import stored
from kcpctl.apiserver.failures import forbidden, not_found
from kcpctl.apiserver.keys import object_key
from kcpctl.apiserver.writing.subject import Subject

PROTECTED = frozenset(("default", "kube-system", "kube-public"))
"""Namespaces that cannot be deleted."""


async def check_namespace(subject: Subject, name: str) -> None:
    """Refuse to create an object in a namespace that is not there (404) or going away (403); waits for the storage."""
    namespace = subject.call.namespace
    if not namespace or not subject.rules.namespace_lifecycle:
        return
    namespaces = subject.world.catalog.find(subject.scope.cluster, "", "v1", "namespaces")
    if namespaces is None:
        return
    record = await subject.world.storage.get(object_key(namespaces, subject.scope, "", namespace))
    if record is None:
        raise not_found(namespaces, namespace)
    if b'"Terminating"' in record.value and stored.decode(record.value)["status"].get("phase") == "Terminating":
        cause = Cause("NamespaceTerminating", f"namespace {namespace} is being terminated", "metadata.namespace")
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        raise forbidden(subject.served, name, why, [cause])


def check_protected(subject: Subject, name: str) -> None:
    """Refuse to delete a namespace that every cluster must have (403)."""
    served = subject.served
    if (served.group, served.plural) == ("", "namespaces") and name in PROTECTED and subject.rules.namespace_lifecycle:
        raise forbidden(served, name, "this namespace may not be deleted")
