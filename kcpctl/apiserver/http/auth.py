"""Who asks: client certificates, bearer tokens, nobody; and what each may do until RBAC is built."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

import msgspec

from informers.api.selectors import FieldSelector, SelectorError
from informers.api.status import StatusDetails
from kcpctl.apiserver.call import Query
from kcpctl.apiserver.exchange import ANONYMOUS, Incoming, User
from kcpctl.apiserver.failures import Failure, failure, not_built
from kcpctl.apiserver.routing import Target

AUTHENTICATED = "system:authenticated"
_IMPERSONATION = frozenset(("impersonate-user", "impersonate-group", "impersonate-uid"))
_OPEN_TO_ALL = frozenset(("version", "healthz", "livez", "readyz"))
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class Authenticator(Protocol):
    """Finds out who asks."""

    def __call__(self, incoming: Incoming) -> User:
        """Return the user, `ANONYMOUS` where no credentials came; raises `Failure` (401) for wrong ones."""


class Authentication:
    """Trusts what the connection proves, then bearer tokens.

    Tokens are looked up by their SHA-256, so that the time it takes tells nothing about how much of one was right.
    """

    def __init__(self, tokens: Mapping[str, User] | None = None, *, anonymous: bool = True) -> None:
        """Take the known tokens; without `anonymous`, who brings no credentials is refused."""
        self._users = {_digest(token): _authenticated(user) for token, user in (tokens or {}).items()}
        self._anonymous = anonymous

    def __call__(self, incoming: Incoming) -> User:
        """Return who asks; raises `Failure` (401)."""
        if incoming.peer is not None:
            return _authenticated(incoming.peer)
        scheme, _, token = incoming.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and token.strip():  # all other schemes are as good as nothing
            user = self._users.get(_digest(token.strip()))
            if user is None:
                raise unauthorized()
            return user
        if not self._anonymous:
            raise unauthorized()
        return ANONYMOUS


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


@lru_cache(256)
def _authenticated(user: User) -> User:
    """Put the user into the group of all authenticated ones, as every authenticator of kube-apiserver does."""
    if AUTHENTICATED in user.groups:
        return user
    return msgspec.structs.replace(user, groups=(*user.groups, AUTHENTICATED))


@lru_cache(256)
def user_of_subject(subject: tuple[tuple[tuple[str, str], ...], ...]) -> User | None:
    """Return whom a client certificate's subject names: CN is the user, every O a group; None without a CN.

    The form is that of `ssl.SSLSocket.getpeercert()["subject"]`.
    """
    pairs = [pair for part in subject for pair in part]
    name = next((value for field, value in pairs if field == "commonName"), "")
    return User(name, groups=tuple(v for field, v in pairs if field == "organizationName")) if name else None


def unauthorized() -> Failure:
    """401: who are you?"""
    return failure(401, "Unauthorized", "Unauthorized")


def refuse_impersonation(incoming: Incoming) -> None:
    """Refuse requests in another's name (501): to answer them in the client's own would give the other its rights."""
    if not _IMPERSONATION.isdisjoint(incoming.headers):
        raise not_built("impersonation is not built yet; leave --as, --as-group and --as-uid out")


def authorize(user: User, target: Target, query: Query) -> None:
    """Let `system:masters` do everything and everybody read the health and version paths; raises `Failure` (403).

    Rules that grant more come with RBAC.
    """
    if user.is_master:
        return
    if target.verb == "get" and target.segments and target.segments[0] in _OPEN_TO_ALL:
        return
    raise _forbidden(user, target, query)


def _forbidden(user: User, target: Target, query: Query) -> Failure:
    who = user.name.translate(_ESCAPES)
    if not target.is_resource:
        message = f'forbidden: User "{who}" cannot {target.verb} path "{target.path}"'
        return failure(403, "Forbidden", message, StatusDetails())
    name = target.name or _selected_name(target, query)
    qualified = f"{target.resource}.{target.group}" if target.group else target.resource
    resource = f"{target.resource}/{target.subresource}" if target.subresource else target.resource
    where = f'in the namespace "{target.namespace}"' if target.namespace else "at the cluster scope"
    message = (
        f"{qualified} {_quoted(name)}is forbidden:"
        f' User "{who}" cannot {target.verb} resource "{resource}" in API group "{target.group}" {where}'
    )
    return failure(403, "Forbidden", message, StatusDetails(name=name, group=target.group, kind=target.resource))


def _quoted(name: str) -> str:
    return f'"{name}" ' if name else ""


def _selected_name(target: Target, query: Query) -> str:
    """Return the name that a list is narrowed to: such a list is a request for that object."""
    if target.verb not in ("list", "watch"):
        return ""
    try:
        requirements = FieldSelector.parse(query.text("fieldSelector")).requirements
    except SelectorError:
        return ""
    names: Any = [r.value for r in requirements if r.path == "metadata.name" and not r.negated]
    return names[0] if names else ""
