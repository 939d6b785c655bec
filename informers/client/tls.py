"""TLS contexts: whom to trust and which certificate to show, rebuilt when the files behind them change."""

import asyncio
import os
import ssl
import tempfile
from dataclasses import dataclass, field
from typing import Protocol

from informers.api.errors import ConfigurationError
from informers.client.renewing import SYSTEM_CLOCK, Renewal, Renewing
from informers.clock import Clock

RECHECK = 60.0
"""Seconds after which certificate files are read again."""


@dataclass(frozen=True)
class Pem:
    """PEM text by value or by file; data wins over the file, as in a kubeconfig."""

    data: bytes = field(default=b"", repr=False)
    path: str = ""

    def __bool__(self) -> bool:
        return bool(self.data or self.path)

    def read(self) -> bytes:
        """Return the text; raises `ConfigurationError` when the file cannot be read."""
        if self.data or not self.path:
            return self.data
        try:
            with open(self.path, "rb") as file:
                return file.read()
        except OSError as error:
            raise ConfigurationError(
                f"expected a PEM file at {self.path}, found: {error.strerror}; correct the path or the file"
            ) from error


NO_PEM = Pem()


@dataclass(frozen=True)
class Pair:
    """A client certificate with its key, as PEM text."""

    certificate: bytes
    key: bytes = field(repr=False)


@dataclass(frozen=True)
class Trust:
    """How to know the server: by these authorities, by the system's where there are none, or not at all."""

    authorities: Pem = NO_PEM
    insecure: bool = False


SYSTEM_TRUST = Trust()


class Tls(Protocol):
    """Where credentials get their TLS context."""

    async def context(self, pair: Pair | None = None) -> ssl.SSLContext | None:
        """Return the context, showing the pair's certificate where one is given; None: as the transport thinks best."""

    def invalidate(self) -> None:
        """Read files again at the next use."""

    async def aclose(self) -> None:
        """End the reading of files."""


class SystemTls:
    """Plain HTTP, or https that the system's authorities vouch for; shows no certificate."""

    async def context(self, pair: Pair | None = None) -> ssl.SSLContext | None:
        """Return None."""
        if pair is not None:
            raise ConfigurationError("expected TLS settings for a server that asks for certificates, found none")
        return None

    def invalidate(self) -> None:
        """Have nothing to forget."""

    async def aclose(self) -> None:
        """Have nothing to end."""


SYSTEM_TLS = SystemTls()


@dataclass(frozen=True)
class _Material:
    """What a context is made of; equal material makes an equal context."""

    authorities: bytes
    pair: Pair | None


class TlsContexts:
    """Keeps one server's TLS context; building happens in a thread, since it can take 200 ms."""

    def __init__(
        self,
        trust: Trust = SYSTEM_TRUST,
        certificate: Pem = NO_PEM,
        key: Pem = NO_PEM,
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """Take what to trust and, unless callers bring a pair, the client certificate and its key."""
        self._trust = trust
        self._certificate = certificate
        self._key = key
        self._pair: Pair | None = None
        self._material: _Material | None = None
        self._context: ssl.SSLContext | None = None
        self._renewing = Renewing(self._renew, clock)

    async def context(self, pair: Pair | None = None) -> ssl.SSLContext:
        """Return the context, the same one while nothing changed; may wait for a thread.

        `pair` goes before the configured certificate. Raises `ConfigurationError` when files or PEM text are of no use;
        files that change are taken over once they fit together.
        """
        if pair != self._pair:
            self._pair = pair
            self._renewing.invalidate()
        return await self._renewing.get()

    def invalidate(self) -> None:
        """Read the files again at the next use."""
        self._renewing.invalidate()

    async def aclose(self) -> None:
        """End the reading of files."""
        await self._renewing.aclose()

    async def _renew(self) -> Renewal[ssl.SSLContext]:
        material, context = await asyncio.to_thread(self._built, self._pair, self._material, self._context)
        self._material, self._context = material, context
        return Renewal(context, RECHECK)

    def _built(
        self, pair: Pair | None, old: _Material | None, context: ssl.SSLContext | None
    ) -> tuple[_Material, ssl.SSLContext]:
        """Run in a thread: read the files, and build a context unless the old one is made of the same."""
        if pair is None and self._certificate:
            pair = Pair(self._certificate.read(), self._key.read())
        material = _Material(self._trust.authorities.read(), pair)
        if context is not None and material == old:
            return material, context
        return material, build(material.authorities, pair, insecure=self._trust.insecure)


def build(authorities: bytes, pair: Pair | None, *, insecure: bool = False) -> ssl.SSLContext:
    """Return a client context; blocks. Raises `ConfigurationError` on PEM text of no use."""
    try:
        context = ssl.create_default_context(cadata=authorities.decode("ascii") if authorities else None)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigurationError(
            f"expected certificate authorities in PEM, found {_shown(authorities)}: {_reason(error)}"
        ) from error
    # Python 3.13 made strict checks the default; cluster authorities without the key identifiers they
    # demand are everywhere.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if pair is not None:
        _show(context, pair)
    return context


def _show(context: ssl.SSLContext, pair: Pair) -> None:
    """Load the pair through a file that only we may read and that is gone at once: OpenSSL's API takes no bytes."""
    number, path = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(pair.certificate + b"\n" + pair.key)
        context.load_cert_chain(path, password=_no_passphrase)
    except ssl.SSLError as error:
        raise ConfigurationError(
            f"expected a client certificate and its key in PEM, found {_shown(pair.certificate)}: {_reason(error)}"
        ) from error
    finally:
        os.unlink(path)


def _no_passphrase() -> str:
    raise ConfigurationError("expected a client key without a passphrase, found an encrypted one; decrypt it first")


def _shown(pem: bytes) -> str:
    first = pem.strip().partition(b"\n")[0][:40].decode("ascii", "replace")
    return repr(first) if first.startswith("-----BEGIN ") else f"{len(pem)} bytes that are not PEM"


def _reason(error: Exception) -> str:
    return getattr(error, "reason", None) or str(error)
