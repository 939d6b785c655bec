"""Continue tokens: where a list goes on, in kube-apiserver's own form."""

import base64
import binascii
import re

import msgspec

from kcpctl.apiserver.failures import Failure, bad_request

LATEST = -1
"""The revision in a token that goes on with whatever is there now."""

_VERSION = "meta.k8s.io/v1"
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")


class _Token(msgspec.Struct):
    v: str = ""
    rv: int = 0
    start: str = ""


_decode_token = msgspec.json.Decoder(_Token).decode


def encode(start: str, prefix: str, revision: int) -> str:
    """Return the token for a list of the keys under `prefix` that goes on at key `start` as of a revision."""
    token = msgspec.json.encode(_Token(_VERSION, revision, "/" + start.removeprefix(prefix)))
    return base64.urlsafe_b64encode(token).rstrip(b"=").decode()


def decode(text: str, prefix: str) -> tuple[str, int]:
    """Return (start key, revision) of a token; raises `Failure` (400)."""
    token = _parse(text)
    if token.v != _VERSION:
        raise _invalid(f": server does not recognize this encoded version {token.v}")
    if token.rv == 0:
        raise _invalid(f": incorrect encoded start resourceVersion (version {_VERSION})")
    if not token.start:
        raise _invalid(f": encoded start key empty (version {_VERSION})")
    start = token.start.removeprefix("/")
    if any(piece in ("", ".", "..") for piece in start.split("/")):
        raise _invalid(f": {token.start}")  # nobody gets out of the collection by dots
    return prefix + start, token.rv


def _parse(text: str) -> _Token:
    illegal = _ILLEGAL.search(text)
    if illegal or len(text) % 4 == 1:
        raise _invalid(f": illegal base64 data at input byte {illegal.start() if illegal else len(text) - 1}")
    try:
        return _decode_token(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except binascii.Error as error:
        raise _invalid(f": {error}") from error
    except msgspec.DecodeError as error:
        raise _invalid(f": {error}") from error


def _invalid(why: str) -> Failure:
    return bad_request(f"invalid continue token: continue key is not valid{why}")
