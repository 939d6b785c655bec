"""Credentials from an OpenID Connect issuer: an id token, renewed by a refresh token.

What the issuer gives stays in memory. The user's kubeconfig is never written: two processes that both did would fight
over it, and an issuer that exchanges refresh tokens at each use then wants a new login for the next process.
"""

import base64
import binascii
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec

from informers.api.errors import ApiError, ConfigurationError, ConnectError, DecodeError
from informers.client.answers import fetch, whole
from informers.client.credentials import NO_HEADERS, Anonymous, bearer
from informers.client.renewing import SYSTEM_CLOCK, Renewal, Renewing, before
from informers.client.tls import SYSTEM_TLS, SYSTEM_TRUST, Tls, TlsContexts, Trust
from informers.client.transport import Request
from informers.clock import Clock

T = TypeVar("T")

_REFUSED = (400, 401, 403)
"""What an issuer answers that does not take the refresh token, or the client (RFC 6749 §5.2)."""
_LATER = (408, 429)


class Issuer(msgspec.Struct, frozen=True):
    """An issuer, and who we are to it."""

    url: str
    client_id: str
    client_secret: str = ""
    trust: Trust = SYSTEM_TRUST


class _Discovery(msgspec.Struct):
    token_endpoint: str
    token_endpoint_auth_methods_supported: list[str] = []


class _Tokens(msgspec.Struct):
    id_token: str = ""
    refresh_token: str = ""


class _Claims(msgspec.Struct):
    exp: float | None = None


class Oidc:
    """Whoever an id token says; renewed shortly before it expires, or when the server refuses it."""

    def __init__(
        self,
        issuer: Issuer,
        tls: Tls = SYSTEM_TLS,
        *,
        id_token: str = "",
        refresh_token: str = "",
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """Take the issuer, the TLS settings of the server, and the tokens of the last login."""
        self._issuer = issuer
        self._tls = tls
        self._unused = id_token
        self._refresh_token = refresh_token
        self._clock = clock
        self._headers = Renewing(self._renew, clock)

    @property
    def expires_at(self) -> datetime | None:
        """When the id token says that it expires."""
        return self._headers.expires_at

    async def headers(self) -> Mapping[str, str]:
        """Return the Authorization header; may wait for the issuer, and raises `ConnectError` when it is away."""
        return await self._headers.get()

    async def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS context."""
        return await self._tls.context()

    def invalidate(self) -> None:
        """Ask the issuer for another token at the next use."""
        self._headers.invalidate()
        self._tls.invalidate()

    async def aclose(self) -> None:
        """End a call to the issuer."""
        await self._headers.aclose()
        await self._tls.aclose()

    async def _renew(self) -> Renewal[Mapping[str, str]]:
        """Use the token of the last login while it is good, and the issuer's from then on."""
        token, self._unused = self._unused, ""
        if not token or self._has_expired(token):
            token = await self._refreshed()
        expires_at = expiry(token)
        if expires_at is None:
            return Renewal(bearer(token))
        return Renewal(bearer(token), max(1.0, before(expires_at, self._clock.now())), expires_at)

    def _has_expired(self, token: str) -> bool:
        expires_at = expiry(token)
        return expires_at is not None and expires_at <= self._clock.now()

    async def _refreshed(self) -> str:
        if not self._refresh_token:
            raise ConfigurationError(
                f"expected an id token of {self._issuer.url} that the server takes, or a refresh token to get one, "
                "found neither; log in again"
            )
        tokens = await _exchange(self._issuer, self._refresh_token)
        self._refresh_token = tokens.refresh_token or self._refresh_token
        return tokens.id_token


def expiry(token: str) -> datetime | None:
    """Return when a JWT says that it expires; None where it does not say. Nothing is verified: the server does that.

    Raises `ConfigurationError` on what is no JWT.
    """
    parts = token.strip().split(".")
    try:
        if len(parts) != 3:
            raise ValueError(f"{len(parts)} parts")
        payload = base64.b64decode(parts[1] + "=" * (-len(parts[1]) % 4), altchars=b"-_", validate=True)
        exp = msgspec.json.decode(payload, type=_Claims).exp
        return None if exp is None else datetime.fromtimestamp(exp, UTC)
    except (ValueError, OverflowError, OSError, binascii.Error, msgspec.DecodeError) as error:
        raise ConfigurationError(f"expected an id token in three parts (JWT), found something else: {error}") from error


async def _exchange(issuer: Issuer, refresh_token: str) -> _Tokens:
    """Ask the issuer for an id token, at the endpoint that its discovery document names."""
    discovery = await _call(issuer, issuer.url.rstrip("/") + "/.well-known/openid-configuration", _Discovery)
    form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    methods = discovery.token_endpoint_auth_methods_supported or ["client_secret_basic"]
    if issuer.client_secret and "client_secret_basic" in methods:
        pair = urlencode({issuer.client_id: issuer.client_secret}).replace("=", ":", 1)
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form |= {"client_id": issuer.client_id}
        form |= {"client_secret": issuer.client_secret} if issuer.client_secret else {}
    tokens = await _call(issuer, discovery.token_endpoint, _Tokens, headers, urlencode(form).encode())
    if not tokens.id_token:
        raise ConfigurationError(f"expected an id token of {issuer.url}, found an answer without one")
    return tokens


async def _call(
    issuer: Issuer, url: str, model: type[T], headers: Mapping[str, str] = NO_HEADERS, body: bytes = b""
) -> T:
    from informers.client.http import HttpTransport  # brings aiohttp, 25 MB that most credentials do without

    parts = urlsplit(url)
    transport = HttpTransport(f"{parts.scheme}://{parts.netloc}", credentials=Anonymous(TlsContexts(issuer.trust)))
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    request = Request("POST" if body else "GET", target, {"Accept": "application/json", **headers}, body)
    try:
        return msgspec.json.decode(await fetch(transport, request, whole), type=model)
    except ApiError as error:
        code = error.status.code
        if code >= 500 or code in _LATER:
            raise ConnectError(f"expected {issuer.url} to answer, found HTTP {code}: {error}") from error
        if code in _REFUSED:
            raise ConfigurationError(
                f"expected {issuer.url} to give an id token, found it refuse: {error}; log in again"
            ) from error
        raise ConfigurationError(f"expected OpenID Connect at {url}, found HTTP {code}: {error}") from error
    except (DecodeError, msgspec.DecodeError) as error:
        raise ConfigurationError(f"expected OpenID Connect at {url}, found something else: {error}") from error
    finally:
        await transport.aclose()
