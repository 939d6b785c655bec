"""What the objects of kcp's kinds must keep besides their schemas; kcp says these in CEL."""

from collections.abc import Iterator
from typing import Any

from kcpctl.apiserver.crds.custom import Rule
from kcpctl.apiserver.served import JSON, FieldError

_ABSENT = object()


def unchanged(path: str, message: str) -> Rule:
    """Return the rule that a field stays as it is while it is there."""

    def check(obj: JSON, old: JSON | None) -> Iterator[FieldError]:
        one, other = _at(obj, path), _at(old, path)
        if one is not _ABSENT and other is not _ABSENT and one != other:
            yield _broken(path, message)

    return check


def fixed(path: str, message: str) -> Rule:
    """Return the rule that a field stays as it is for ever once it is there: taking it away is a change too.

    kcp's CEL rule overlooks that, so that two updates change there what one may not.
    """

    def check(obj: JSON, old: JSON | None) -> Iterator[FieldError]:
        before = _at(old, path)
        if before is not _ABSENT and _at(obj, path) != before:
            yield _broken(path, message)

    return check


def kept(path: str, message: str) -> Rule:
    """Return the rule that a field which is there is not taken away; its parent is what is wrong then."""

    def check(obj: JSON, old: JSON | None) -> Iterator[FieldError]:
        if _at(old, path) is not _ABSENT and _at(obj, path) is _ABSENT:
            yield _broken(path.rpartition(".")[0], message)

    return check


def same_part(parent: str, name: str, message: str) -> Rule:
    """Return the rule that a part of a field is there or not, and what it is, as long as the field exists."""

    def check(obj: JSON, old: JSON | None) -> Iterator[FieldError]:
        one, other = _at(obj, parent), _at(old, parent)
        both_there = one is not _ABSENT and other is not _ABSENT
        if both_there and one.get(name, _ABSENT) != other.get(name, _ABSENT):
            yield _broken(parent, message)

    return check


def claims(obj: JSON, old: JSON | None) -> Iterator[FieldError]:
    """Check that each permission claim of an APIExport says what it is about, once."""
    del old
    for at, claim in enumerate(obj.get("spec", {}).get("permissionClaims") or ()):
        where = f"spec.permissionClaims[{at}]"
        selected = claim.get("resourceSelector") or []
        if bool(claim.get("all")) is bool(selected):
            yield _broken(where, 'either "all" or "resourceSelector" must be set')
        for place, selector in enumerate(selected):
            if "name" not in selector and "namespace" not in selector:
                yield _broken(f"{where}.resourceSelector[{place}]", "at least one field must be set")


def identity_stays(obj: JSON, old: JSON | None) -> Iterator[FieldError]:
    """Check that the identity hash of an APIExport does not change once it is known."""
    before = (old or {}).get("status", {}).get("identityHash", "")
    if before and obj.get("status", {}).get("identityHash", "") != before:
        yield _broken("status.identityHash", "identityHash must not be changed")


def _at(obj: JSON | None, path: str) -> Any:
    found: Any = obj
    for name in path.split("."):
        found = found.get(name, _ABSENT) if isinstance(found, dict) else _ABSENT
    return found


def _broken(field: str, message: str) -> FieldError:
    return FieldError(field, "FieldValueInvalid", f"Invalid value: {message}")
