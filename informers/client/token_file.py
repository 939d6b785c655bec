"""Credentials from a file that somebody else keeps fresh."""

import asyncio
import ssl
from collections.abc import Mapping
from datetime import datetime

from informers.api.errors import ConfigurationError
from informers.client.credentials import bearer
from informers.client.renewing import SYSTEM_CLOCK, Renewal, Renewing
from informers.client.tls import SYSTEM_TLS, Tls
from informers.clock import Clock

REREAD = 60.0
"""Seconds after which the file is read again; Kubernetes replaces a mounted token when a fifth of its life is left."""


class TokenFile:
    """Whoever the token in a file says; the last one that could be read goes on until the server refuses it."""

    expires_at: datetime | None = None

    def __init__(self, path: str, tls: Tls = SYSTEM_TLS, *, otherwise: str = "", clock: Clock = SYSTEM_CLOCK) -> None:
        """Take the file, the TLS settings, and the token to use while the file cannot be read ("" for none)."""
        self._path = path
        self._tls = tls
        self._otherwise = otherwise
        self._headers = Renewing(self._renew, clock)

    async def headers(self) -> Mapping[str, str]:
        """Return the Authorization header."""
        return await self._headers.get()

    async def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS context."""
        return await self._tls.context()

    def invalidate(self) -> None:
        """Read the files again at the next use."""
        self._headers.invalidate()
        self._tls.invalidate()

    async def aclose(self) -> None:
        """End the reading of files."""
        await self._headers.aclose()
        await self._tls.aclose()

    async def _renew(self) -> Renewal[Mapping[str, str]]:
        return Renewal(bearer(await asyncio.to_thread(self._read)), REREAD)

    def _read(self) -> str:
        """Run in a thread: return the token."""
        try:
            with open(self._path, encoding="utf-8") as file:
                found = file.read().strip()
        except (OSError, UnicodeDecodeError) as error:
            if self._otherwise:
                return self._otherwise
            reason = getattr(error, "strerror", None) or "bytes that are not text"
            raise ConfigurationError(f"expected a token in {self._path}, found: {reason}") from error
        if not found and not self._otherwise:
            raise ConfigurationError(f"expected a token in {self._path}, found an empty file")
        return found or self._otherwise
