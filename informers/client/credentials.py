"""Who we are to a server: headers and a TLS context, fresh at every request."""

import base64
import ssl
from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from informers.api.errors import ConfigurationError
from informers.client.tls import SYSTEM_TLS, SYSTEM_TRUST, Pem, Tls, TlsContexts, Trust

NO_HEADERS: Mapping[str, str] = {}


class Credentials(Protocol):
    """What a transport shows to its server.

    Invariant: while nothing changed, `headers` and `ssl_context` return equal values without waiting, so that a caller
    sees a change by comparing.
    """

    @property
    def expires_at(self) -> datetime | None:
        """When what is known now ends; None where that is never, or not known."""

    async def headers(self) -> Mapping[str, str]:
        """Return the headers to send; may wait for a file, a process or an issuer.

        Raises `ConfigurationError` when they cannot be had, and a `TransportError` when their issuer is away.
        """
        ...

    async def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS context; None lets the transport use the system's."""

    def invalidate(self) -> None:
        """Take note that the server refused them: get new ones at the next use, where there can be any."""

    async def aclose(self) -> None:
        """End what runs to get them; whoever waits for that meets a `ConnectError`."""


class Anonymous:
    """Nobody, as far as headers say."""

    expires_at: datetime | None = None

    def __init__(self, tls: Tls = SYSTEM_TLS) -> None:
        """Take the TLS settings."""
        self._tls = tls

    async def headers(self) -> Mapping[str, str]:
        """Return none."""
        return NO_HEADERS

    async def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS context."""
        return await self._tls.context()

    def invalidate(self) -> None:
        """Read TLS files again at the next use."""
        self._tls.invalidate()

    async def aclose(self) -> None:
        """End the reading of TLS files."""
        await self._tls.aclose()


class ClientCertificate:
    """Whoever a client certificate says."""

    expires_at: datetime | None = None

    def __init__(self, certificate: Pem, key: Pem, *, trust: Trust = SYSTEM_TRUST) -> None:
        """Take the certificate and its key, and how to know the server."""
        self._tls = TlsContexts(trust, certificate, key)

    async def headers(self) -> Mapping[str, str]:
        """Return none."""
        return NO_HEADERS

    async def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS context."""
        return await self._tls.context()

    def invalidate(self) -> None:
        """Read the files again at the next use."""
        self._tls.invalidate()

    async def aclose(self) -> None:
        """End the reading of TLS files."""
        await self._tls.aclose()


class BearerToken:
    """Whoever a fixed token says."""

    expires_at: datetime | None = None

    def __init__(self, token: str, tls: Tls = SYSTEM_TLS) -> None:
        """Take the token, and the TLS settings; white space around a token is no part of it."""
        self._headers = bearer(token)
        self._tls = tls

    async def headers(self) -> Mapping[str, str]:
        """Return the Authorization header."""
        return self._headers

    async def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS context."""
        return await self._tls.context()

    def invalidate(self) -> None:
        """Read TLS files again at the next use."""
        self._tls.invalidate()

    async def aclose(self) -> None:
        """End the reading of TLS files."""
        await self._tls.aclose()


class BasicPassword:
    """Whoever a name and a password say; only proxies before API servers still take them."""

    expires_at: datetime | None = None

    def __init__(self, username: str, password: str, tls: Tls = SYSTEM_TLS) -> None:
        """Take both as they are, and the TLS settings."""
        coded = base64.b64encode(f"{username}:{password}".encode()).decode()
        self._headers = {"Authorization": f"Basic {coded}"}
        self._tls = tls

    async def headers(self) -> Mapping[str, str]:
        """Return the Authorization header."""
        return self._headers

    async def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS context."""
        return await self._tls.context()

    def invalidate(self) -> None:
        """Read TLS files again at the next use."""
        self._tls.invalidate()

    async def aclose(self) -> None:
        """End the reading of TLS files."""
        await self._tls.aclose()


def bearer(token: str) -> dict[str, str]:
    """Return the header that carries the token; raises `ConfigurationError` on what no header can carry."""
    stripped = token.strip()
    if not (stripped.isascii() and stripped.isprintable()):
        raise ConfigurationError(f"expected a token of printable ASCII, found {len(stripped)} characters with others")
    return {"Authorization": f"Bearer {stripped}"}
