"""The part of an object's metadata that the server owns."""

from random import Random
from uuid import uuid4

import msgspec

from kcpctl.apiserver.admission import Rules
from kcpctl.apiserver.failures import bad_request, internal, untyped
from kcpctl.apiserver.gotext import quote
from kcpctl.apiserver.served import JSON

SHARD = "kcp.io/shard"
"""Annotation that tells a cache server that an object keeps the identity that it had elsewhere."""

_text = msgspec.json.Encoder(order="sorted").encode

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_RANDOM_LETTERS = 5
_LONGEST_BASE = 63 - _RANDOM_LETTERS

_OWN = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_LASTING = ("creationTimestamp", "deletionTimestamp")

_REPEATED_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries{}; API server dedups owner references in 1.20+, and may "
    "reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}"
)


def begin(metadata: JSON, rules: Rules, now: str) -> None:
    """Give a new object its identity, in place: what the client says about it does not count.

    On a cache server the client's word counts if it says where the object comes from. Raises `Failure` (500) if it then
    says too little.
    """
    metadata.pop("selfLink", None)
    if rules.client_owns_identity and SHARD in (metadata.get("annotations") or {}):
        if not metadata.get("uid") and not metadata.get("creationTimestamp"):
            raise internal("system metadata was not initialized")
        return
    metadata.pop("managedFields", None)
    for field in _OWN:
        metadata.pop(field, None)
    metadata["uid"] = str(uuid4())
    metadata["creationTimestamp"] = now


def go_on(metadata: JSON, old: JSON, rules: Rules) -> None:
    """Put what the server owns back into a changed object, in place."""
    metadata.pop("selfLink", None)
    if not rules.client_owns_identity:
        metadata.pop("managedFields", None)
    metadata.setdefault("uid", old.get("uid", ""))
    for field in _LASTING:
        if old.get(field):
            metadata[field] = old[field]
    if old.get("deletionGracePeriodSeconds") is not None:
        metadata.setdefault("deletionGracePeriodSeconds", old["deletionGracePeriodSeconds"])


def keep_generation(metadata: JSON, old: JSON, rules: Rules) -> None:
    """Put the generation back, in place; strategies bump it afterwards. A cache server takes the client's."""
    if rules.client_owns_generation and metadata.get("generation"):
        return
    if old.get("generation"):
        metadata["generation"] = old["generation"]
    else:
        metadata.pop("generation", None)


def generated_name(prefix: str, rng: Random) -> str:
    """Return a name that begins so."""
    return prefix[:_LONGEST_BASE] + "".join(rng.choice(_ALPHABET) for _ in range(_RANDOM_LETTERS))


def settle_namespace(metadata: JSON, namespace: str) -> None:
    """Give the object the request's namespace, in place; raises `Failure` (400) if it names another one."""
    said = metadata.get("namespace", "")
    if namespace and said and said != namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if namespace:
        metadata["namespace"] = namespace
    else:
        metadata.pop("namespace", None)


def check_name(metadata: JSON, name: str) -> None:
    """Refuse an object that does not have the name in the path (400)."""
    said = metadata.get("name", "")
    if not said:
        raise bad_request(f"the name of the object ({name} based on URL) was undeterminable: name must be provided")
    if said != name:
        raise bad_request(f"the name of the object ({said}) does not match the name on the URL ({name})")


def revision_of(metadata: JSON) -> int:
    """Return the resourceVersion that the object carries, 0 for none; raises `Failure` (500) if it is no number."""
    text = metadata.get("resourceVersion", "")
    if not text or (text.isascii() and text.isdigit() and len(text) < 20):
        return int(text or 0)
    why = "value out of range" if text.isascii() and text.isdigit() else "invalid syntax"
    raise untyped(f"strconv.ParseUint: parsing {quote(text)}: {why}")


def merge_owners(metadata: JSON, *, late: bool = False) -> list[str]:
    """Drop repeated owner references, in place; return the warnings that they earn."""
    owners = metadata.get("ownerReferences")
    if not owners or len(owners) < 2:
        return []
    kept: dict[bytes, JSON] = {}
    repeated = []
    for owner in owners:
        if kept.setdefault(_text(owner), owner) is not owner:
            repeated.append(owner["uid"])
    if not repeated:
        return []
    metadata["ownerReferences"] = list(kept.values())
    when = " after mutating admission happens" if late else ""
    return [_REPEATED_OWNERS.format(when, ", ".join(repeated))]
